"""Columns of the consensus: share of reads that differ, and their base (SPEC.md, Columns)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s, UInt32s
from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import load_le64
from gangsaw.codecs.reads.sequence.bases import SPARE
from gangsaw.codecs.reads.sequence.layout.placed import Layout

SHARES = (12, 40, 100, 250)  # lower limits of classes 1 to 4: differing reads per 1000
LEAST = 4  # least number of reads with the second base
# ratio to the average column that a variant must exceed: sequencing errors are no variants
ABOVE = (3, 2)
CLASS, SECOND = 2, 5  # first bits of both in a column's byte; the consensus base is below
PLAIN = 1 << CLASS  # bytes of columns of class 0 are smaller
ONES, THREES = np.uint64(0x0101010101010101), np.uint64(0x0303030303030303)
ONE, TWO, THREE, FOUR = (np.uint64(n) for n in (1, 2, 3, 4))


class ConsensusColumns(NamedTuple):
    """Consensus of a block of reads with the classes of its columns, for an encoder.

    Attributes
    ----------
    forward : (size + SPARE,) uint8: base, class << CLASS, second base << SECOND
    backward : (size + SPARE,) uint8, the reverse complement in the same form
    size : number of columns
    """

    forward: npt.NDArray[np.uint8]
    backward: npt.NDArray[np.uint8]
    size: int


def build_columns(columns: npt.NDArray[np.uint8]) -> ConsensusColumns:
    """Return consensus columns, (size,) uint8, on both strands."""
    forward, backward = np.zeros((2, columns.size + SPARE), np.uint8)
    forward[: columns.size] = columns
    is_plain = columns < PLAIN
    backward[: columns.size] = (columns ^ 3 ^ np.where(is_plain, 0, 3 << SECOND))[::-1]
    return ConsensusColumns(forward, backward, columns.size)


def classified(codes: Bytes, begins: Int64s, pieces: Layout) -> ConsensusColumns:
    """Return a layout's consensus columns, each with the class of how often reads differ there.

    codes : base codes of the text
    begins : (m,) int64, offset of each piece in `codes`
    """
    plain = build_columns(pieces.consensus)
    covered, others = np.zeros(plain.size + 1, np.int64), np.zeros((plain.size, 4), np.uint32)
    count_columns(codes, begins, pieces, plain, covered, others)
    columns = pieces.consensus.copy()
    classify(covered, others, columns)
    return build_columns(columns)


@jit(norefs=True)
def classify(covered: Int64s, others: UInt32s, columns: Bytes) -> None:
    """Add class and second base to the bases of columns; see `count_columns`."""
    usual, reads = np.int64(others.sum()), np.int64(covered.sum())
    for place in range(columns.size):
        different, second = np.int64(0), 0
        for code in range(4):
            different += others[place, code]
            if others[place, code] > others[place, second]:
                second = code
        number = 0
        for share in SHARES:
            number += 1000 * different >= share * covered[place]
        is_rare = ABOVE[1] * different * reads < ABOVE[0] * usual * covered[place]
        if others[place, second] >= LEAST and number and not is_rare:
            columns[place] |= number << CLASS | second << SECOND


@jit(norefs=True)
def count_columns(
    codes: Bytes,
    begins: Int64s,
    pieces: Layout,
    columns: ConsensusColumns,
    covered: Int64s,
    others: UInt32s,
) -> None:
    """Count the reads that cover each column of the consensus, and those that differ from it.

    Parameters
    ----------
    codes : base codes of the text, with SPARE more
    begins : (m,) int64, offset of each piece in `codes`
    pieces : a layout
    columns : consensus without classes
    covered : (size + 1,) zeros, filled with the reads of each column
    others : (size, 4) zeros, filled with the number of differing reads, by their base on strand 0
    """
    for k in range(begins.size):
        if pieces.is_mapped[k]:
            n, place = pieces.end[k] - pieces.begin[k], pieces.position[k]
            covered[place] += 1
            covered[place + n] -= 1
            _count_piece(codes, begins[k], n, place, pieces.strand[k], columns, others)
    for place in range(1, covered.size):
        covered[place] += covered[place - 1]


@jit(inline=True, part=True, norefs=True)
def _count_piece(
    codes: Bytes,
    begin: int,
    n: int,
    place: int,
    strand: int,
    columns: ConsensusColumns,
    others: UInt32s,
) -> None:
    row = columns.forward if strand == 0 else columns.backward
    first = place if strand == 0 else columns.size - place - n
    for i in range(0, n, 8):
        marks = differing(load_le64(codes, begin + i), load_le64(row, first + i))
        marks = within(marks, n - i)
        while marks:
            k = i + (trailing_zeros(marks) >> 3)
            code = np.int64(codes[begin + k])
            if strand == 0:
                others[place + k, code] += 1
            else:
                others[place + n - 1 - k, 3 - code] += 1
            marks &= marks - ONE


@jit(inline=True, part=True, norefs=True)
def differing(codes: np.uint64, columns: np.uint64) -> np.uint64:
    """Return marks in bit 0 of each byte: 1 for a base that differs from the consensus."""
    either = codes ^ columns
    return (either | either >> ONE) & ~(codes >> TWO) & ONES


@jit(inline=True, part=True, norefs=True)
def variable(columns: np.uint64) -> np.uint64:
    """Return marks in bit 0 of each byte: 1 for a column of a class > 0."""
    return (columns >> TWO | columns >> THREE | columns >> FOUR) & ONES


@jit(inline=True, part=True, norefs=True)
def within(marks: np.uint64, n: int) -> np.uint64:
    """Return the marks of the first n of 8 bytes."""
    return marks & ((ONE << np.uint64(8 * n)) - ONE) if n < 8 else marks
