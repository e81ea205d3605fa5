"""Bytes of the consensus: slices of symbols of four bases (SPEC.md, Consensus)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bools, Bytes, Int64s
from gangsaw.codecs.core.entropy.rans_lanes import (
    Tokens,
    begin_lane,
    encoded_lanes,
    get,
    is_whole,
    tokens_of,
)
from gangsaw.codecs.core.entropy.sparse_tables import ABSENT, RansTables
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.core.nucleotides.kernels import code_of, letter_of
from gangsaw.codecs.core.numba.bits import swapped
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import load_le64, store_le64
from gangsaw.codecs.reads.sequence.bases import FOURS, SPARE, read_only
from gangsaw.codecs.reads.sequence.columns import ONE, ONES
from gangsaw.codecs.reads.sequence.fours import get_fours, put_fours
from gangsaw.codecs.reads.sequence.syntax import CONSENSUS

SLICE = 1 << 14  # bases
TOGETHER = 4  # slices that are decoded interleaved, base by base
RUN = 16  # slices per task of a thread: fewer end before the next task is assigned
HALF = np.uint64(32)
A_TO_T, C_TO_G = np.uint64(0x1515151515151515), np.uint64(0x15 ^ 0x04)


class Consensus(NamedTuple):
    """Consensus that a decoder copies from.

    Attributes
    ----------
    forward, backward : (size + SPARE,) uint8, bases of both strands
    size : number of columns
    """

    forward: npt.NDArray[np.uint8]
    backward: npt.NDArray[np.uint8]
    size: int


def consensus_tokens(codes: npt.NDArray[np.uint8]) -> tuple[Tokens, npt.NDArray[np.int64]]:
    """Return the coder tokens of (size,) base codes, and the end of each slice's tokens.

    The ends are (n_slices,) int64.
    """
    n_slices = -(-codes.size // SLICE)
    tokens, ends = tokens_of(codes.size // 4 + n_slices), np.zeros(n_slices, np.int64)
    n = int(write_slices(codes, tokens, ends))
    return Tokens(tokens.tables[:n], tokens.symbols[:n]), ends


def stored_consensus(
    tokens: Tokens, ends: npt.NDArray[np.int64], frequencies: npt.NDArray[np.uint16]
) -> npt.NDArray[np.uint8]:
    """Return lane 1, the coded consensus: the sizes of slices in bytes, then the slices."""
    slices, sizes = encoded_lanes(tokens, ends, frequencies)
    return np.concatenate((sizes.astype("<u2").view(np.uint8), slices))


def read_consensus(data: npt.NDArray[np.uint8], size: int, tables: RansTables) -> Consensus:
    """Return the consensus of lane 1; raise CorruptChunk if it has not `size` bases."""
    begins, ends = slice_bounds(data, size)
    data, n_slices = read_only(data), ends.size
    # everything before the padding is written
    forward, backward = np.empty((2, size + SPARE), np.uint8)
    forward[size:] = backward[size:] = 0
    out = Consensus(forward, backward, size)
    is_right = np.zeros(n_slices, np.bool_)

    def decode(run: int) -> None:
        first = RUN * run
        read_slices(data, begins, ends, tables, out, first, min(first + RUN, n_slices), is_right)

    run_blocks(decode, -(-n_slices // RUN))
    if not is_right.all():
        raise CorruptChunk("its consensus is broken")
    return out


def slice_bounds(data: npt.NDArray[np.uint8], size: int) -> tuple[Int64s, Int64s]:
    """Return start and end of each slice in lane 1; raise CorruptChunk unless they fill it."""
    n_slices = -(-size // SLICE)
    if data.size < 2 * n_slices:
        raise CorruptChunk("its consensus has fewer slices than it says")
    sizes = data[: 2 * n_slices].copy().view("<u2").astype(np.int64)
    ends = 2 * n_slices + np.cumsum(sizes)
    if 2 * n_slices + sizes.sum() != data.size:
        raise CorruptChunk("the slices of its consensus are not as long as they say")
    return ends - sizes, ends


@jit
def write_slices(codes: Bytes, tokens: Tokens, ends: Int64s) -> int:
    """Write the coder tokens of all slices of the consensus; return their number."""
    n = 0
    for i in range(ends.size):
        end = min((i + 1) * SLICE, codes.size)
        n = put_fours(tokens, n, CONSENSUS, codes, i * SLICE, end)
        ends[i] = n
    return n


@jit(norefs=True)
def read_slices(
    data: Bytes,
    begins: Int64s,
    ends: Int64s,
    tables: RansTables,
    out: Consensus,
    first: int,
    last: int,
    is_right: Bools,
) -> None:
    """Decode slices first to last - 1 on both strands; set `is_right` for each valid one."""
    i = first
    while i + TOGETHER <= last and (i + TOGETHER) * SLICE <= out.size:
        read_together(data, begins, ends, tables, out, i, is_right)
        i += TOGETHER
    while i < last:
        begin, end, stop = i * SLICE, min((i + 1) * SLICE, out.size), ends[i]
        x, at = begin_lane(data, begins[i], stop)
        if at <= stop:
            x, at = get_fours(
                tables, CONSENSUS, x, at, data, stop, out.forward, begin, end - begin, end
            )
            is_right[i] = is_whole(x, at, stop)
        i += 1
    write_complement(out, first * SLICE, min(last * SLICE, out.size))


@jit(inline=True, part=True, norefs=True)
def read_together(
    data: Bytes,
    begins: Int64s,
    ends: Int64s,
    tables: RansTables,
    out: Consensus,
    i: int,
    is_right: Bools,
) -> None:
    """Decode TOGETHER whole slices from i on, interleaved: one alone would wait at each symbol."""
    x0, at0 = begin_lane(data, begins[i], ends[i])
    x1, at1 = begin_lane(data, begins[i + 1], ends[i + 1])
    x2, at2 = begin_lane(data, begins[i + 2], ends[i + 2])
    x3, at3 = begin_lane(data, begins[i + 3], ends[i + 3])
    if max(at0, at1, at2, at3) >= ABSENT:
        return
    b0, b1, b2, b3 = 0, 0, 0, 0  # the previous bases
    for k in range(i * SLICE, i * SLICE + SLICE, 8):
        b0, x0, at0 = get_eight(tables, b0, x0, at0, data, ends[i], out, k)
        b1, x1, at1 = get_eight(tables, b1, x1, at1, data, ends[i + 1], out, k + SLICE)
        b2, x2, at2 = get_eight(tables, b2, x2, at2, data, ends[i + 2], out, k + 2 * SLICE)
        b3, x3, at3 = get_eight(tables, b3, x3, at3, data, ends[i + 3], out, k + 3 * SLICE)
    is_right[i] = is_whole(x0, at0, ends[i])
    is_right[i + 1] = is_whole(x1, at1, ends[i + 1])
    is_right[i + 2] = is_whole(x2, at2, ends[i + 2])
    is_right[i + 3] = is_whole(x3, at3, ends[i + 3])


@jit(inline=True, part=True, norefs=True)
def get_eight(
    tables: RansTables,
    before: int,
    x: int,
    at: int,
    data: Bytes,
    stop: int,
    out: Consensus,
    place: int,
) -> tuple[int, int, int]:
    """Decode eight bases; return the last one, and the lane's state and offset."""
    first, x, at = get(tables, CONSENSUS + before, x, at, data, stop)
    four, x, at = get(tables, CONSENSUS + (first & 3), x, at, data, stop)
    store_le64(out.forward, place, FOURS[first] | FOURS[four] << HALF)
    return four & 3, x, at


@jit(inline=True, part=True, norefs=True)
def write_complement(out: Consensus, begin: int, end: int) -> None:
    """Write the reverse complement of columns, eight at a time.

    The bytes of A and T differ in bits 0, 2 and 4. Those of C and G, which have bit 1, differ in
    bit 2.
    """
    whole = begin + (end - begin) // 8 * 8
    for k in range(begin, whole, 8):
        bases = load_le64(out.forward, k)
        other = bases ^ A_TO_T ^ (bases >> ONE & ONES) * C_TO_G
        store_le64(out.backward, out.size - 8 - k, swapped(other))
    for k in range(whole, end):
        out.backward[out.size - 1 - k] = letter_of(3 - code_of(np.int64(out.forward[k])))
