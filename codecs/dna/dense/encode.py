"""Encoding pass over a dense block."""

from __future__ import annotations

from gangsaw.codecs.core.arrays import Bytes, UInt32s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.dna.dense.model.shape import Shape
from gangsaw.codecs.dna.dense.model.state import DenseState, Matches, ModelTables
from gangsaw.codecs.dna.dense.rans import note_bases
from gangsaw.codecs.dna.dense.step import begin_lanes, lanes_at, learn_bases, predict_bases


@jit(restrict=True, part=True)
def give_bases(codes: Bytes, stride: int, now: int, base: Bytes, n: int) -> None:
    """Fill the base of each of n lanes at step `now` from `codes`.

    stride : distance between the first bases of lanes
    """
    for lane in range(n):
        base[lane] = codes[lane * stride + now]


@jit(norefs=True)
def model_block(
    codes: Bytes,
    shape: Shape,
    tables: ModelTables,
    lanes: DenseState,
    matches: Matches,
    slots: UInt32s,
) -> None:
    """Model all bases of a block, and record each base's frequency and first slot for rANS.

    codes : (lanes * stride,) uint8, base codes 0 to 3; slots : (lanes * stride,) uint32, filled,
        see `note_bases`
    """
    begin_lanes(shape, lanes)
    for now in range(shape.steps):
        n = lanes_at(shape, now)
        predict_bases(codes, shape, tables, lanes, matches, now, n)
        give_bases(codes, shape.stride, now, lanes.base, n)
        note_bases(lanes.frequency, lanes.base, slots, shape.stride, now, n)
        learn_bases(shape, tables, lanes, matches, now, n)
