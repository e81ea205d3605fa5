"""State of a dense block: model tables shared by all lanes, and the state of each lane."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.memory.aligned import zeroed_pages
from gangsaw.codecs.dna.dense.model.shape import MOST_LANES, Shape

U64: TypeAlias = npt.NDArray[np.uint64]
U32: TypeAlias = npt.NDArray[np.uint32]
I64: TypeAlias = npt.NDArray[np.int64]
I32: TypeAlias = npt.NDArray[np.int32]
U16: TypeAlias = npt.NDArray[np.uint16]
U8: TypeAlias = npt.NDArray[np.uint8]
MODELS, CLASSES = 5, 16  # rows of 3 and of 6 bases, direct counts, hashed counts, match
ROWS3, ROWS6, DIRECT, HASHED, MATCH = range(MODELS)
EVEN_ROW = 0x4000400040004000  # four times 1/4
FIRST_WEIGHT = 367002  # 0.35 of 2^20
HITS, FIRST_HITS = 544, 49152  # states of a match; 3/4 of 2^16
NOWHERE = -1  # address of a lane without a match


class ModelTables(NamedTuple):
    """Adaptive tables of the base model of one block.

    Attributes
    ----------
    rows3, rows6 : (64,) and (4096,) uint64, by the last 3 and 6 bases: four probabilities of 16
        bits, that of A lowest
    direct : (4^order,) uint16, by the last `order` bases: four counts of 4 bits
    slots : (record * 2^entry_bits,) uint16, records of an entry and of hashed counts: four of 2
        bits, and 8 check bits above. The highest bits of one key index both, so that the two lie in
        one cache line
    entries : the same memory as uint32: last position of 16 bases, and check bits above
    hits : (HITS,) int32, 16-bit probability that a match predicts right, by its state
    weights : (2 * MODELS * CLASSES,) int32, mixing weights in units of 2^-20; by the model's own
        class, then by the class of the hashed counts
    """

    rows3: U64
    rows6: U64
    direct: U16
    slots: U16
    entries: U32
    hits: I32
    weights: I32


class Matches(NamedTuple):
    """Current match of each lane: an earlier occurrence of its last bases, which predicts the next.

    Attributes
    ----------
    at : (lanes,) int64, index in `codes` of the predicting base, or NOWHERE without a match
    low : (lanes,) int64, index of the first base of the lane that contains it
    step : (lanes,) int64, 1 forwards, -1 on the reverse complement
    length : (lanes,) int64, number of equal bases, reduced after misses
    misses : (lanes,) int64, a bit for each of the last 16 bases, 1 for a wrong prediction, the
        latest lowest
    state, base : (lanes,) int64, index in `hits`, and predicted base
    change : (lanes,) int32, update of the probability in `hits`
    """

    at: I64
    low: I64
    step: I64
    length: I64
    misses: I64
    state: I64
    base: I64
    change: I32


class DenseState(NamedTuple):
    """Contexts, table look-ups and predictions of all lanes in one step.

    Attributes
    ----------
    last, complement : uint32, the last 16 bases, the latest lowest; their reverse complement
    before : uint32, the base before the 16 of `last`
    key, complement_key : uint32, hashes of `last` and `complement`
    of_direct, of_hashed, of_entry : uint32, table indices of `last`
    to_direct, to_hashed, to_entry : uint32, table indices of `complement`
    direct, hashed, entry, complement_entry, new : uint32, values read at these indices; next value
        to store
    row3, row6, rise : uint64, items read from `rows3` and `rows6`, and their update
    x : (4 * MODELS, lanes) int32, logarithms of the bases' odds, four of each model
    place : (2 * MODELS, lanes) uint32, indices of the weights in use
    weight : (MODELS, lanes) int32, weights in units of 2^-14; then their updates in 2^-20
    d, power, frequency : (4, lanes) int32, weighted logarithm, its power of two, and frequency of
        each base
    base, other : uint8, coded base; base learned for the reverse complement
    """

    last: U32
    complement: U32
    before: U32
    key: U32
    complement_key: U32
    of_direct: U32
    of_hashed: U32
    of_entry: U32
    to_direct: U32
    to_hashed: U32
    to_entry: U32
    direct: U32
    hashed: U32
    entry: U32
    complement_entry: U32
    new: U32
    row3: U64
    row6: U64
    rise: U64
    x: I32
    place: U32
    weight: I32
    d: I32
    power: I32
    frequency: I32
    base: U8
    other: U8


def new_tables(shape: Shape) -> ModelTables:
    """Return the initial tables of a block."""
    records = zeroed_pages(2 * shape.record << shape.entry_bits)
    return ModelTables(
        np.full(64, EVEN_ROW, np.uint64),
        np.full(4096, EVEN_ROW, np.uint64),
        zeroed_pages(2 << 2 * shape.order).view(np.uint16),
        records.view(np.uint16),
        records.view(np.uint32),
        np.full(HITS, FIRST_HITS, np.int32),
        np.repeat(np.array([FIRST_WEIGHT, 0], np.int32), MODELS * CLASSES),
    )


def new_matches() -> Matches:
    """Return `Matches` of lanes without a match."""
    at = np.full(MOST_LANES, NOWHERE, np.int64)
    low, step, length, misses, state, base = np.zeros((6, MOST_LANES), np.int64)
    change = np.zeros(MOST_LANES, np.int32)
    return Matches(at, low, step, length, misses, state, base, change)


def new_lanes() -> DenseState:
    """Return the state of lanes before their first base: the last 16 bases are A."""
    lanes = DenseState(
        last=np.zeros(MOST_LANES, np.uint32),
        complement=np.zeros(MOST_LANES, np.uint32),
        before=np.zeros(MOST_LANES, np.uint32),
        key=np.zeros(MOST_LANES, np.uint32),
        complement_key=np.zeros(MOST_LANES, np.uint32),
        of_direct=np.zeros(MOST_LANES, np.uint32),
        of_hashed=np.zeros(MOST_LANES, np.uint32),
        of_entry=np.zeros(MOST_LANES, np.uint32),
        to_direct=np.zeros(MOST_LANES, np.uint32),
        to_hashed=np.zeros(MOST_LANES, np.uint32),
        to_entry=np.zeros(MOST_LANES, np.uint32),
        direct=np.zeros(MOST_LANES, np.uint32),
        hashed=np.zeros(MOST_LANES, np.uint32),
        entry=np.zeros(MOST_LANES, np.uint32),
        complement_entry=np.zeros(MOST_LANES, np.uint32),
        new=np.zeros(MOST_LANES, np.uint32),
        row3=np.zeros(MOST_LANES, np.uint64),
        row6=np.zeros(MOST_LANES, np.uint64),
        rise=np.zeros(MOST_LANES, np.uint64),
        x=np.zeros((4 * MODELS, MOST_LANES), np.int32),
        place=np.zeros((2 * MODELS, MOST_LANES), np.uint32),
        weight=np.zeros((MODELS, MOST_LANES), np.int32),
        d=np.zeros((4, MOST_LANES), np.int32),
        power=np.zeros((4, MOST_LANES), np.int32),
        frequency=np.zeros((4, MOST_LANES), np.int32),
        base=np.zeros(MOST_LANES, np.uint8),
        other=np.zeros(MOST_LANES, np.uint8),
    )
    lanes.complement[:] = ~lanes.last
    return lanes
