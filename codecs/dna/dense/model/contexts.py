"""Contexts of the preceding bases: table indices for both strands."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, NumpyArray, UInt16s, UInt32s
from gangsaw.codecs.core.numba.bits import prefetch_second
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.dna.dense.model.shape import ENTRY, Shape
from gangsaw.codecs.dna.dense.model.state import DenseState, ModelTables

HASH = 0x9E3779B1  # odd, so that the map from 16 bases to keys is invertible
QUARTERS = 4  # a core can wait for two dozen cache lines at once while it computes
BACK = 16  # bases of a lane before it learns from the reverse complement


@jit(restrict=True, part=True)
def append_base(last: UInt32s, complement: UInt32s, before: UInt32s, base: Bytes, n: int) -> None:
    """Append a base to each of n contexts (last 16 bases), and to their reverse complements."""
    for lane in range(n):
        new = np.uint32(base[lane])
        before[lane] = last[lane] >> np.uint32(30)
        last[lane] = (last[lane] << np.uint32(2)) | new
        complement[lane] = (complement[lane] >> np.uint32(2)) | (np.uint32(3) - new) << np.uint32(
            30
        )


@jit(restrict=True, part=True)
def hash_bases(bases: UInt32s, key: UInt32s, n: int) -> None:
    """Hash the 16 bases of each context to 32 bits: multiply by HASH modulo 2^32."""
    for lane in range(n):
        key[lane] = bases[lane] * np.uint32(HASH)


@jit(restrict=True, part=True)
def high_bits(words: UInt32s, bits: int, out: UInt32s, n: int) -> None:
    """Fill `out` with the highest bits of 32-bit words."""
    shift = np.uint32(32 - bits)
    for lane in range(n):
        out[lane] = words[lane] >> shift


@jit(restrict=True)
def low_bits(words: UInt32s, bits: int, out: UInt32s, n: int) -> None:
    """Fill `out` with the lowest bits of 32-bit words."""
    mask = np.uint32((1 << bits) - 1)
    for lane in range(n):
        out[lane] = words[lane] & mask


@jit(restrict=True, part=True)
def find_records(key: UInt32s, shape: Shape, slot: UInt32s, entry: UInt32s, n: int) -> None:
    """Fill table indices of hashed contexts: slot of hashed counts, entry of the match table."""
    shift, inside = np.uint32(32 - shape.slot_bits), np.uint32(shape.slot_bits - shape.entry_bits)
    n_slots = 1 << shape.slot_bits - shape.entry_bits
    mask, size = np.uint32(n_slots - 1), np.uint32(ENTRY + max(ENTRY, n_slots))  # `Shape.record`
    for lane in range(n):
        found = key[lane] >> shift
        begin = np.uint32((found >> inside) * size)
        slot[lane] = begin + np.uint32(ENTRY) + (found & mask)
        entry[lane] = begin >> np.uint32(1)


@jit(restrict=True, part=True)
def load_each(table: NumpyArray, index: UInt32s, out: UInt32s, n: int) -> None:
    """Load the table entry of each of n lanes, and nothing else, so that cache misses overlap."""
    for lane in range(n):
        out[lane] = table[index[lane]]


@jit(restrict=True, part=True)
def store_each(table: UInt16s, index: UInt32s, values: UInt32s, n: int) -> None:
    """Store a table entry for each of n lanes in order: for equal indices, the higher lane wins."""
    for lane in range(n):
        table[index[lane]] = values[lane]


@jit(restrict=True, part=True)
def fetch_each(table: UInt16s, index: UInt32s, part: int, n: int) -> None:
    """Prefetch the table entries of a quarter of n lanes.

    part : number of the quarter, 0 to 3
    """
    for lane in range(part * n // QUARTERS, (part + 1) * n // QUARTERS):
        prefetch_second(table, np.int64(index[lane]))


@jit(part=True, norefs=True)
def find_indices(shape: Shape, lanes: DenseState, n: int) -> None:
    """Fill the table indices of the contexts of n lanes, on both strands."""
    hash_bases(lanes.last, lanes.key, n)
    hash_bases(lanes.complement, lanes.complement_key, n)
    low_bits(lanes.last, 2 * shape.order, lanes.of_direct, n)
    high_bits(lanes.complement, 2 * shape.order, lanes.to_direct, n)
    find_records(lanes.key, shape, lanes.of_hashed, lanes.of_entry, n)
    find_records(lanes.complement_key, shape, lanes.to_hashed, lanes.to_entry, n)


@jit(part=True, norefs=True)
def fetch_complement(tables: ModelTables, lanes: DenseState, part: int, n: int) -> None:
    """Prefetch the counts that a quarter of n lanes updates for the reverse complement.

    part : number of the quarter, 0 to 3
    """
    fetch_each(tables.slots, lanes.to_hashed, part, n)
    fetch_each(tables.direct, lanes.to_direct, part, n)


@jit(part=True, norefs=True)
def fetch_next(tables: ModelTables, lanes: DenseState, part: int, n: int) -> None:
    """Prefetch the counts that a quarter of n lanes reads in the next step.

    part : number of the quarter, 0 to 3
    """
    fetch_each(tables.slots, lanes.of_hashed, part, n)
    fetch_each(tables.direct, lanes.of_direct, part, n)


@jit(restrict=True, part=True)
def other_base(last: UInt32s, back: int, out: Bytes, n: int) -> None:
    """Fill the base that follows the reverse complement context of each lane.

    It is the complement of the base `back` positions before the last one.
    """
    shift = np.uint32(2 * back)
    for lane in range(n):
        out[lane] = np.uint32(3) - (last[lane] >> shift & np.uint32(3))
