"""The decoder's pass over a block."""

from __future__ import annotations

from typing import Any

from gangsaw.codecs.core.numba.jit import jit_norefs, jit_restrict
from gangsaw.codecs.dna.dense.rans import are_whole, begin_states, take_bases
from gangsaw.codecs.dna.dense.step import begin_lanes, lanes_at, learn, predict


@jit_restrict
def put_bases(base: Any, stride: int, now: int, codes: Any, n: int) -> None:
    """Put the bases that came in n lanes to their places."""
    for lane in range(n):
        codes[lane * stride + now] = base[lane]


@jit_norefs
def decode_block(
    words: Any, lanes_of: Any, shape: Any, tables: Any, lanes: Any, matches: Any, codes: Any
) -> bool:
    """Fill the bases of a block; return whether its lanes end as an encoder ends them.

    Parameters
    ----------
    words : (n,) uint16
    lanes_of : three (lanes,) arrays: state, uint32, to be filled; where each lane begins, which is
        moved on, and where it ends, int64, at least two words
    codes : (lanes * stride,) uint8
    """
    state, at, ends = lanes_of
    begin_states(words, state, at, shape.lanes)
    begin_lanes(shape, lanes)
    for now in range(shape.steps):
        n = lanes_at(shape, now)
        predict(codes, shape, tables, lanes, matches, now, n)
        take_bases(lanes, words, state, at, ends, n)
        put_bases(lanes.base, shape.stride, now, codes, n)
        learn(shape, tables, lanes, matches, now, n)
    return are_whole(state, at, ends, shape.lanes)
