"""Probabilities of the next base after 3 and after 6 bases: four of 16 bits in a word.

An update of all four is one addition of words. None of them leaves 0 to 65535, since each lane
takes at most 2^-8 of the remainder, and there are at most 64 lanes. Therefore the order of lanes
has no effect.
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int32s, UInt32s, UInt64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.dna.dense.model.contexts import other_base
from gangsaw.codecs.dna.dense.model.logs import LOGS
from gangsaw.codecs.dna.dense.model.state import DenseState, ModelTables

RATE3, RATE6 = 9, 8  # a step learns 2^-rate of the distance
FIELD = 0xFFFF
ONES = 0x0001000100010001
LOW3, LOW6 = 63, 4095
HIGH3, HIGH6 = 26, 20  # bits below the context of the reverse complement


@jit(restrict=True, part=True)
def predict_row(
    table: UInt64s, last: UInt32s, mask: int, row: UInt64s, x: Int32s, first: int, n: int
) -> None:
    """Look up the probabilities ("row") after each lane's last bases; fill them and logarithms.

    mask : bits of the last bases that index the table
    first : first row of `x` for the four logarithms
    """
    low = np.uint32(mask)
    for lane in range(n):
        found = table[last[lane] & low]
        row[lane] = found
        for base in range(4):
            x[first + base, lane] = LOGS[found >> np.uint64(16 * base + 4) & np.uint64(4095)]


@jit(restrict=True, part=True)
def find_row(table: UInt64s, complement: UInt32s, shift: int, row: UInt64s, n: int) -> None:
    """Look up the probabilities for the reverse complement context of n lanes."""
    for lane in range(n):
        row[lane] = table[complement[lane] >> np.uint32(shift)]


@jit(restrict=True, part=True)
def row_rise(row: UInt64s, base: Bytes, rate: int, rise: UInt64s, n: int) -> None:
    """Fill the update of four probabilities for a base: up for the base, down for the others."""
    shift, field = np.uint64(rate), np.uint64(FIELD)
    kept = (field >> shift) * np.uint64(ONES)
    for lane in range(n):
        found, at = row[lane], np.uint64(16) * np.uint64(base[lane])
        p = found >> at & field
        up = ((field - p) >> shift) + (p >> shift)
        rise[lane] = (up << at) - (found >> shift & kept)


@jit(restrict=True, part=True)
def add_behind(table: UInt64s, last: UInt32s, mask: int, rise: UInt64s, n: int) -> None:
    """Add updates to the probabilities for the bases before the last one, which was coded."""
    low = np.uint32(mask)
    for lane in range(n):
        table[last[lane] >> np.uint32(2) & low] += rise[lane]


@jit(restrict=True, part=True)
def add_complement(table: UInt64s, complement: UInt32s, shift: int, rise: UInt64s, n: int) -> None:
    """Add updates to the probabilities for the reverse complement context of n lanes."""
    for lane in range(n):
        table[complement[lane] >> np.uint32(shift)] += rise[lane]


@jit(part=True, norefs=True)
def predict_rows(tables: ModelTables, lanes: DenseState, n: int) -> None:
    """Look up the probabilities after 3 and after 6 bases of n lanes; fill their logarithms."""
    predict_row(tables.rows3, lanes.last, LOW3, lanes.row3, lanes.x, 0, n)
    predict_row(tables.rows6, lanes.last, LOW6, lanes.row6, lanes.x, 4, n)


@jit(part=True, norefs=True)
def learn_rows(tables: ModelTables, lanes: DenseState, n: int) -> None:
    """Update the probabilities after 3 and after 6 bases with the coded base, by then the last."""
    row_rise(lanes.row3, lanes.base, RATE3, lanes.rise, n)
    add_behind(tables.rows3, lanes.last, LOW3, lanes.rise, n)
    row_rise(lanes.row6, lanes.base, RATE6, lanes.rise, n)
    add_behind(tables.rows6, lanes.last, LOW6, lanes.rise, n)


@jit(part=True, norefs=True)
def learn_complement_row3(tables: ModelTables, lanes: DenseState, n: int) -> None:
    """Update the probabilities after 3 bases with the next base on the reverse complement."""
    find_row(tables.rows3, lanes.complement, HIGH3, lanes.row3, n)
    other_base(lanes.last, 3, lanes.other, n)
    row_rise(lanes.row3, lanes.other, RATE3, lanes.rise, n)
    add_complement(tables.rows3, lanes.complement, HIGH3, lanes.rise, n)


@jit(part=True, norefs=True)
def learn_complement_row6(tables: ModelTables, lanes: DenseState, n: int) -> None:
    """Update the probabilities after 6 bases with the next base on the reverse complement."""
    find_row(tables.rows6, lanes.complement, HIGH6, lanes.row6, n)
    other_base(lanes.last, 6, lanes.other, n)
    row_rise(lanes.row6, lanes.other, RATE6, lanes.rise, n)
    add_complement(tables.rows6, lanes.complement, HIGH6, lanes.rise, n)
