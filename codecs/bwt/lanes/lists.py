"""Heads of lanes as bytes: lane lengths and initial lists. SPEC.md, "Heads".

A symbol of a list is coded as its position among the remaining symbols of the list before, as the
lists of neighbouring lanes are similar.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.bwt.lanes.coder import (
    AT,
    DecisionCoder,
    begin_decoder,
    coder_at,
    finish_encoder,
    get_decision,
    put_decision,
)
from gangsaw.codecs.bwt.lanes.cut import RunLanes, lane_count
from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.bits import leading_zeros
from gangsaw.codecs.core.numba.jit import jit

BOUND_BYTES = 3  # bytes of a lane's length: n <= 2^23
SYMBOLS = 256
# decisions of a number up to 256: its bit length in unary, then the bits below the first in a tree
SIZE_WIDTHS, WIDTHS = 9, 8  # most bits of a size, of a position
UNARY = 16
NUMBER = UNARY + (1 << SIZE_WIDTHS)  # decisions of a kind of number
# kinds: sizes; positions in the first lane; in later lanes; each by the width before
FIRST, LATER = 1, 1 + SIZE_WIDTHS
NODES = (1 + 2 * SIZE_WIDTHS) * NUMBER


class Heads(NamedTuple):
    """Parsed heads of a block: bounds and symbol lists of its lanes.

    Attributes
    ----------
    bounds : (n_lanes + 1,) int64, the first byte of each lane
    lists : (n_lanes, 256) uint8, symbols of each lane by first occurrence; then the unused ones
    sizes : (n_lanes,) int64, number of symbols of each lane: 0 in an empty one
    end : number of bytes of the heads
    """

    bounds: Int64s
    lists: Bytes
    sizes: Int64s
    end: int


def encode_heads(lanes: RunLanes | Heads) -> Bytes:
    """Return the stored form of the lanes' lengths and symbol lists."""
    n_lanes = lanes.sizes.size
    lengths = np.diff(lanes.bounds)[: n_lanes - 1]
    packed = lengths.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :BOUND_BYTES].ravel()
    out = np.zeros(packed.size + n_lanes * (SYMBOLS + 1) * 4 + 16, np.uint8)
    out[: packed.size] = packed
    end = write_symbol_lists(coder_at(out, packed.size, NODES), lanes.lists, lanes.sizes)
    return out[: int(end)]


def decode_heads(data: Bytes, n: int) -> Heads:
    """Parse the heads at the start of (k,) uint8 for a string of n >= 1 bytes.

    Raises
    ------
    CorruptChunk : lengths or lists are not those of a string of n bytes
    """
    n_lanes = lane_count(n)
    packed = BOUND_BYTES * (n_lanes - 1)
    if data.size < packed:
        raise CorruptChunk("its lanes are cut off")
    bounds = _bounds(data[:packed].reshape(-1, BOUND_BYTES), n)
    lists, sizes = np.zeros((n_lanes, SYMBOLS), np.uint8), np.zeros(n_lanes, np.int64)
    end = int(read_symbol_lists(coder_at(data, packed, NODES), lists, sizes))
    if end > data.size:
        raise CorruptChunk("its lists of symbols are cut off")
    lengths = np.diff(bounds)
    if end < 0 or (sizes > lengths).any() or ((sizes == 0) != (lengths == 0)).any():
        raise CorruptChunk("its lists of symbols are wrong")
    return Heads(bounds, lists, sizes, end)


def _bounds(packed: Bytes, n: int) -> Int64s:
    """Return the bounds of lanes from their stored lengths; the last lane takes the rest of n."""
    lengths = packed.astype(np.int64) @ (1 << 8 * np.arange(BOUND_BYTES))
    bounds = np.concatenate(([0], np.cumsum(lengths), [n]))
    if bounds[-2] > n:
        raise CorruptChunk("its lanes are longer than the block")
    return bounds


@jit
def write_symbol_lists(coder: DecisionCoder, lists: Bytes, sizes: Int64s) -> int:
    """Write the symbol lists of lanes with an arithmetic coder; return the end offset."""
    left = np.arange(SYMBOLS).astype(np.uint8)
    for lane in range(sizes.size):
        _put_number(coder, 0, sizes[lane], SIZE_WIDTHS)
        width = 0
        for i in range(sizes[lane]):
            place = i
            while left[place] != lists[lane, i]:
                place += 1
            width = _put_number(coder, _kind(lane, width), place - i, WIDTHS)
            _to_place(left, place, i)
    return finish_encoder(coder)


@jit
def read_symbol_lists(coder: DecisionCoder, lists: Bytes, sizes: Int64s) -> int:
    """Read the symbol lists of lanes; return the end offset, -1 if they are invalid."""
    left = np.arange(SYMBOLS).astype(np.uint8)
    begin_decoder(coder)
    for lane in range(sizes.size):
        size, width = _get_number(coder, 0, SIZE_WIDTHS)
        if size > SYMBOLS:
            return -1
        sizes[lane], width = size, 0
        for i in range(size):
            place, width = _get_number(coder, _kind(lane, width), WIDTHS)
            if place + i >= SYMBOLS:
                return -1
            _to_place(left, place + i, i)
        lists[lane] = left
    return int(coder.state[AT])


@jit(part=True)
def _kind(lane: int, width: int) -> int:
    return (FIRST if lane == 0 else LATER) + width


@jit(part=True)
def _to_place(left: Bytes, place: int, i: int) -> None:
    """Move the symbol at position `place` of a list forward to position i."""
    symbol = left[place]
    for k in range(place, i, -1):
        left[k] = left[k - 1]
    left[i] = symbol


@jit(part=True)
def _put_number(coder: DecisionCoder, kind: int, value: int, widths: int) -> Any:
    """Write a number below 2^widths as decisions of node group `kind`; return its bit length."""
    first = kind * NUMBER
    width: Any = 64 - np.int64(leading_zeros(np.uint64(value)))
    for i in range(min(width + 1, widths)):
        put_decision(coder, first + i, 1 if i < width else 0)
    tree, node = first + UNARY + (1 << max(0, width - 1)), 1
    for i in range(width - 2, -1, -1):
        bit = value >> i & 1
        put_decision(coder, tree + node, bit)
        node = 2 * node + bit
    return width


@jit(part=True)
def _get_number(coder: DecisionCoder, kind: int, widths: int) -> Any:
    """Read a number of `_put_number`; return it and its bit length."""
    first, width, node = kind * NUMBER, 0, 1
    while width < widths and get_decision(coder, first + width):
        width += 1
    tree = first + UNARY + (1 << max(0, width - 1))
    for _ in range(width - 1):
        node = 2 * node + get_decision(coder, tree + node)
    return (node if width else 0), width
