"""Counts of bases by context: up to 11 bases, indexed directly, and 16 bases, hashed."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int32s, UInt32s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.dna.dense.model.contexts import load_each, other_base, store_each
from gangsaw.codecs.dna.dense.model.logs import log2
from gangsaw.codecs.dna.dense.model.shape import Shape
from gangsaw.codecs.dna.dense.model.state import CLASSES, DIRECT, HASHED, DenseState, ModelTables

DIRECT_X, HASHED_X = 4 * DIRECT, 4 * HASHED
DIRECT_CLASS, HASHED_CLASS = CLASSES * DIRECT, CLASSES * HASHED  # their first weights
DIRECT_LOGS = np.array([log2(2 * count + 1) for count in range(16)], np.int32)


def hashed_class(counts: int) -> int:
    """Return the mixing class of four 2-bit counts: their sum if only one base was counted.

    Else it is a distance from the counts of a single base, from 8 on.
    """
    fields = [counts >> 2 * base & 3 for base in range(4)]
    total, most = sum(fields), max(fields)
    return total if total == most else 8 + min(7, 2 * (total - most) + (most > 2))


def hashed_logs(counts: int) -> int:
    """Return the logarithms of four 2-bit counts for the mixer, 16 bits each."""
    return sum(log2(16 * (counts >> 2 * base & 3) + 1) << 16 * base for base in range(4))


DIRECT_CLASSES = np.array(
    [*range(8), *[8] * 4, *[9] * 4, *[10] * 8, *[11] * 40], np.uint8
)  # by the sum of the counts
HASHED_CLASSES = np.array([hashed_class(counts) for counts in range(256)], np.uint8)
HASHED_LOGS = np.array([hashed_logs(counts) for counts in range(256)], np.uint64)


@jit(restrict=True, part=True)
def predict_direct(found: UInt32s, x: Int32s, place: UInt32s, n: int) -> None:
    """Fill logarithms and mixing class of n lanes from direct counts.

    found : (lanes,) uint32, four counts of 4 bits
    """
    nibble = np.uint32(15)
    for lane in range(n):
        word = found[lane]
        a, c = word & nibble, word >> np.uint32(4) & nibble
        g, t = word >> np.uint32(8) & nibble, word >> np.uint32(12)
        x[DIRECT_X, lane] = DIRECT_LOGS[a]
        x[DIRECT_X + 1, lane] = DIRECT_LOGS[c]
        x[DIRECT_X + 2, lane] = DIRECT_LOGS[g]
        x[DIRECT_X + 3, lane] = DIRECT_LOGS[t]
        place[DIRECT, lane] = np.uint32(DIRECT_CLASS) + DIRECT_CLASSES[a + c + g + t]


@jit(restrict=True, part=True)
def predict_hashed(
    found: UInt32s, key: UInt32s, shift: int, x: Int32s, place: UInt32s, n: int
) -> None:
    """Fill logarithms and mixing class of n lanes from hashed counts, 0 for those of another key.

    found : (lanes,) uint32, four counts of 2 bits, and 8 check bits of their key above
    shift : bits of the key below its check bits
    """
    octet, field = np.uint32(255), np.uint64(0xFFFF)
    for lane in range(n):
        word = found[lane]
        is_own = word >> np.uint32(8) == key[lane] >> np.uint32(shift) & octet
        counts = word & octet if is_own else np.uint32(0)
        logs = HASHED_LOGS[counts]
        x[HASHED_X, lane] = logs & field
        x[HASHED_X + 1, lane] = logs >> np.uint64(16) & field
        x[HASHED_X + 2, lane] = logs >> np.uint64(32) & field
        x[HASHED_X + 3, lane] = logs >> np.uint64(48)
        place[HASHED, lane] = np.uint32(HASHED_CLASS) + HASHED_CLASSES[counts]


@jit(restrict=True, part=True)
def count_direct(found: UInt32s, base: Bytes, new: UInt32s, n: int) -> None:
    """Count a base in the direct counts of each lane; a count of 15 first halves all four.

    found : (lanes,) uint32, four counts of 4 bits
    new : (lanes,) uint32, filled with the new counts
    """
    nibble = np.uint32(15)
    for lane in range(n):
        shift, word = np.uint32(4) * np.uint32(base[lane]), found[lane]
        is_full = word >> shift & nibble == nibble
        word = word >> np.uint32(1) & np.uint32(0x7777) if is_full else word
        new[lane] = word + (np.uint32(1) << shift)


@jit(restrict=True, part=True)
def count_hashed(
    found: UInt32s, key: UInt32s, shift: int, base: Bytes, new: UInt32s, n: int
) -> None:
    """Count a base in the hashed counts of each lane, up to 3; other counts are at most 2 then.

    Counts of another key with a sum above 2 are halved and stay; else this context takes the slot.

    found : (lanes,) uint32, four counts of 2 bits, and 8 check bits of their key above
    new : (lanes,) uint32, filled with the new counts
    """
    octet, pair, halves = np.uint32(255), np.uint32(3), np.uint32(0x55)
    for lane in range(n):
        word, check = found[lane], key[lane] >> np.uint32(shift) & octet
        counts = word & octet
        total = (counts & pair) + (counts >> np.uint32(2) & pair)
        total += (counts >> np.uint32(4) & pair) + (counts >> np.uint32(6))
        is_own = word >> np.uint32(8) == check
        halved = word & np.uint32(0xFF00) | counts >> np.uint32(1) & halves
        counts = counts if is_own else np.uint32(0)
        at = np.uint32(2) * np.uint32(base[lane])
        more = min(counts >> at & pair, np.uint32(2)) + np.uint32(1)
        rest = counts & ~(pair << at)
        rest &= ~(rest >> np.uint32(1) & halves)
        stays = (not is_own) and total > np.uint32(2)
        new[lane] = halved if stays else check << np.uint32(8) | rest | more << at


@jit(part=True, norefs=True)
def predict_counts(shape: Shape, tables: ModelTables, lanes: DenseState, n: int) -> None:
    """Look up direct and hashed counts of n lanes; fill their logarithms and mixing classes."""
    load_each(tables.slots, lanes.of_hashed, lanes.hashed, n)
    load_each(tables.direct, lanes.of_direct, lanes.direct, n)
    predict_direct(lanes.direct, lanes.x, lanes.place, n)
    shift = 24 - shape.slot_bits
    predict_hashed(lanes.hashed, lanes.key, shift, lanes.x, lanes.place, n)


@jit(part=True, norefs=True)
def learn_counts(shape: Shape, tables: ModelTables, lanes: DenseState, n: int) -> None:
    """Count the coded base of n lanes in direct and hashed counts, before contexts are updated."""
    count_hashed(lanes.hashed, lanes.key, 24 - shape.slot_bits, lanes.base, lanes.new, n)
    store_each(tables.slots, lanes.of_hashed, lanes.new, n)
    count_direct(lanes.direct, lanes.base, lanes.new, n)
    store_each(tables.direct, lanes.of_direct, lanes.new, n)


@jit(part=True, norefs=True)
def learn_complement_direct(shape: Shape, tables: ModelTables, lanes: DenseState, n: int) -> None:
    """Count the next base on the reverse complement strand in the direct counts of n lanes."""
    load_each(tables.direct, lanes.to_direct, lanes.direct, n)
    other_base(lanes.last, shape.order, lanes.other, n)
    count_direct(lanes.direct, lanes.other, lanes.new, n)
    store_each(tables.direct, lanes.to_direct, lanes.new, n)


@jit(part=True, norefs=True)
def learn_complement_hashed(shape: Shape, tables: ModelTables, lanes: DenseState, n: int) -> None:
    """Count the next base on the reverse complement strand in the hashed counts of n lanes."""
    load_each(tables.slots, lanes.to_hashed, lanes.hashed, n)
    other_base(lanes.before, 0, lanes.other, n)
    shift = 24 - shape.slot_bits
    count_hashed(lanes.hashed, lanes.complement_key, shift, lanes.other, lanes.new, n)
    store_each(tables.slots, lanes.to_hashed, lanes.new, n)
