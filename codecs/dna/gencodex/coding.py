"""Runs of packed bytes: GenCodex (Satyanvesh, Kaliuday and Baruah, 2015). SPEC.md, Runs."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.bits import load_be64, store_be64
from gangsaw.codecs.core.numba.jit import jit

GROUP = 8  # data bytes per code byte
LONGEST = 255  # fragments of a run
NOT_SHORTER = -1
ONES = 0x0101010101010101


@jit
def put_runs(packed: Bytes, out: Bytes) -> int:
    """Encode packed bases as runs of equal bytes (GenCodex); return the size, or NOT_SHORTER.

    packed : (n,) uint8, four bases per byte; out : (n + GROUP,) uint8, filled with groups
    """
    at, used = 0, 0
    while at < packed.size:
        if used >= packed.size:
            return NOT_SHORTER
        if at + GROUP < packed.size and has_no_run(packed, at):
            out[used] = 0
            store_be64(out, used + 1, load_be64(packed, at))
            at, used = at + GROUP, used + 1 + GROUP
            continue
        code, slot, head = 0, 0, used
        used += 1
        while slot < GROUP and at < packed.size:
            value, length = packed[at], run_length(packed, at)
            out[used] = value
            used += 1
            if slot < GROUP - 1 and length > 1:
                code |= 1 << slot
                out[used] = length
                used += 1
                slot += 2
                at += length
            else:
                slot += 1
                at += 1
        out[head] = code
    return used if used < packed.size else NOT_SHORTER


@jit(inline=True, part=True)
def has_no_run(packed: Bytes, at: int) -> bool:
    """Return True if no run of equal bytes begins at any of the 7 bytes from a position on."""
    others = load_be64(packed, at) ^ load_be64(packed, at + 1) | np.uint64(0xFF)
    return bool((others - np.uint64(ONES)) & ~others & np.uint64(ONES << 7) == 0)


@jit(inline=True, part=True)
def run_length(packed: Bytes, at: int) -> int:
    """Return the length of the run of equal bytes at a position, up to LONGEST."""
    end, length = min(packed.size - at, LONGEST), 1
    eight = np.uint64(packed[at]) * np.uint64(ONES)
    while length + 8 <= end and load_be64(packed, at + length) == eight:
        length += 8
    while length < end and packed[at + length] == packed[at]:
        length += 1
    return length


@jit
def get_runs(data: Bytes, packed: Bytes) -> bool:
    """Decode groups of runs to packed bases; return True if they are valid and fill them exactly.

    data : (k,) uint8; packed : (n,) uint8, filled
    """
    at, place = 0, 0
    while at < data.size:
        code, slot = int(data[at]), 0
        at += 1
        if code == 0 and at + GROUP <= data.size and place + GROUP <= packed.size:
            store_be64(packed, place, load_be64(data, at))
            at, place = at + GROUP, place + GROUP
            continue
        while slot < GROUP and at < data.size:
            length = 1
            if code >> slot & 1:
                if slot == GROUP - 1 or at + 1 >= data.size or code >> (slot + 1) & 1:
                    return False
                length = int(data[at + 1])
                if length < 2:
                    return False
            if place + length > packed.size:
                return False
            packed[place : place + length] = data[at]
            place += length
            step = 2 if length > 1 else 1
            at += step
            slot += step
        if slot < GROUP and code >> slot:
            return False
    return bool(place == packed.size)


def encode_runs(packed: Bytes) -> Bytes | None:
    """Encode packed bases as runs of equal bytes; None if these are not shorter."""
    out = np.empty(packed.size + GROUP, np.uint8)
    used = put_runs(packed, out)
    return None if used == NOT_SHORTER else out[:used]


def decode_runs(data: Bytes, n: int) -> Bytes:
    """Decode runs to n bytes of packed bases; raise CorruptChunk if they do not give exactly n."""
    packed = np.empty(n, np.uint8)
    if not get_runs(data, packed):
        raise CorruptChunk("its runs do not fill it")
    return packed
