"""Decoding pass over a dense block."""

from __future__ import annotations

from gangsaw.codecs.core.arrays import Bytes, Int64s, UInt16s, UInt32s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.dna.dense.model.shape import Shape
from gangsaw.codecs.dna.dense.model.state import DenseState, Matches, ModelTables
from gangsaw.codecs.dna.dense.rans import are_whole, begin_states, pull_bases
from gangsaw.codecs.dna.dense.step import begin_lanes, lanes_at, learn_bases, predict_bases


@jit(restrict=True)
def store_bases(base: Bytes, stride: int, now: int, codes: Bytes, n: int) -> None:
    """Store the decoded base of each of n lanes for step `now` in `codes`.

    stride : distance between the first bases of lanes
    """
    for lane in range(n):
        codes[lane * stride + now] = base[lane]


@jit(norefs=True)
def decode_block(
    words: UInt16s,
    lanes_of: tuple[UInt32s, Int64s, Int64s],
    shape: Shape,
    tables: ModelTables,
    lanes: DenseState,
    matches: Matches,
    codes: Bytes,
) -> bool:
    """Decode the bases of all lanes of a block; return True if the lanes end as encoders end them.

    Parameters
    ----------
    words : (n,) uint16, rANS words of all lanes
    lanes_of : three (lanes,) arrays: rANS states, uint32, filled; start of each lane, int64, which
        is advanced; its end, int64, at least two words later
    codes : (lanes * stride,) uint8, filled with base codes 0 to 3
    """
    state, at, ends = lanes_of
    begin_states(words, state, at, shape.lanes)
    begin_lanes(shape, lanes)
    for now in range(shape.steps):
        n = lanes_at(shape, now)
        predict_bases(codes, shape, tables, lanes, matches, now, n)
        pull_bases(lanes, words, state, at, ends, n)
        store_bases(lanes.base, shape.stride, now, codes, n)
        learn_bases(shape, tables, lanes, matches, now, n)
    return are_whole(state, at, ends, shape.lanes)
