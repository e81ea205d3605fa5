"""Tables of frequencies: built from counts, stored and read (codecs/reads/SPEC.md, Tables)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s, UInt16s, UInt32s
from gangsaw.codecs.core.entropy import bit_fields
from gangsaw.codecs.core.entropy.gamma import SPARE, gamma_fields, get_bits, get_gamma
from gangsaw.codecs.core.entropy.rans_tables import FREQUENCY, OFFSET, TOTAL, fill_symbol
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.jit import jit

SYMBOLS = 256
ABSENT = 1 << 60  # bit that marks a decoder's offset after a symbol of an absent table
PLACE = (1 << 32) - 1  # mask of the bits of `first` that are an index of `slots`


class RansTables(NamedTuple):
    """Look-up tables of a rANS decoder, without space for absent tables.

    Attributes
    ----------
    slots : (n * 4096,) uint32 of each slot: symbol, from bit 8 on its frequency - 1, from bit 20 on
        the slot's number among those of the symbol; the first 4096 are those of an absent table
    first : (n_tables,) int64, index of each table's first slot, or ABSENT for an absent table
    """

    slots: npt.NDArray[np.uint32]
    first: npt.NDArray[np.int64]


def normalised(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.uint16]:
    """Return (n_tables, 256) frequencies of counts: each row sums to 4096, or to 0 if unused.

    They are rounded, at least 1; the largest one takes the rounding error.
    """
    totals = counts.sum(axis=1, keepdims=True)
    used = np.maximum(totals, 1)
    scaled = np.where(counts, np.maximum(1, (2 * counts * TOTAL + used) // (2 * used)), 0)
    left = np.where(totals[:, 0], TOTAL - scaled.sum(axis=1), 0)
    while (rows := np.flatnonzero(left)).size:
        largest = scaled[rows].argmax(axis=1)
        # limited, so that it stays comparable to the others
        step = np.maximum(left[rows], -(scaled[rows, largest] // 2))
        scaled[rows, largest] += step
        left[rows] -= step
    return scaled.astype(np.uint16)


def stored_tables(frequencies: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint8]:
    """Return the stored form of (n_tables, 256) frequencies, for `read_stored_tables`."""
    tables, symbols = np.nonzero(frequencies)
    n = np.bincount(tables, minlength=len(frequencies))
    is_last = np.diff(tables, append=-1) != 0
    gaps = np.diff(symbols, prepend=-1)
    is_first = np.diff(tables, prepend=-1) != 0
    gaps[is_first] = symbols[is_first] + 1
    values, widths = np.zeros((2, frequencies.shape[0] + tables.size, 2), np.int64)
    heads = np.arange(n.size) + np.cumsum(n) - n
    values[heads] = np.column_stack([n > 0, np.maximum(n, 1) - 1])
    widths[heads] = np.column_stack([np.ones_like(n), 8 * (n > 0)])
    own = np.arange(tables.size) + tables + 1
    values[own, 0], widths[own, 0] = gamma_fields(gaps)
    bits, lengths = gamma_fields(frequencies[tables, symbols].astype(np.int64))
    values[own, 1], widths[own, 1] = np.where(is_last, 0, bits), np.where(is_last, 0, lengths)
    return bit_fields.packed(values.ravel(), widths.ravel())


def read_stored_tables(
    data: npt.NDArray[np.uint8], n_tables: int
) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint8]]:
    """Read (n_tables, 256) frequencies; return them and the rest of the bytes.

    Parameters
    ----------
    data : (n,) uint8 that begins with the tables
    n_tables : number of tables, from the format, never from the bytes

    Raises
    ------
    CorruptChunk : the tables are invalid
    """
    frequencies = np.zeros((n_tables, SYMBOLS), np.uint16)
    padded = np.concatenate((data, np.zeros(SPARE, np.uint8)))
    size = int(read_sparse_tables(padded, data.size, frequencies))
    if size < 0:
        raise CorruptChunk("its tables of frequencies are wrong")
    return frequencies, data[size:]


def decoder_tables(frequencies: npt.NDArray[np.uint16]) -> RansTables:
    """Build the look-up tables of a decoder from (n_tables, 256) frequencies."""
    is_there = frequencies.any(axis=1)
    slots = np.zeros((1 + int(is_there.sum())) * TOTAL, np.uint32)
    slots[:TOTAL] = TOTAL - 1 << FREQUENCY | np.arange(TOTAL, dtype=np.uint32) << OFFSET
    first = np.where(is_there, np.cumsum(is_there) * TOTAL, ABSENT).astype(np.int64)
    fill_slots(frequencies, first, slots)
    return RansTables(slots, first)


@jit
def read_sparse_tables(data: Bytes, size: int, frequencies: UInt16s) -> int:
    """Fill zeroed frequencies from the stored form in data[:size]; return the bytes read, or -1.

    It is -1 if the tables are invalid.
    """
    at, stop = 0, 8 * size
    for t in range(len(frequencies)):
        if at >= stop:
            return -1
        is_there = get_bits(data, at, 1)
        at += 1
        if is_there:
            at = _read_table(data, at, stop, frequencies[t])
        if at > stop:
            return -1
    return (at + 7) // 8


@jit
def _read_table(data: Bytes, at: int, stop: int, row: UInt16s) -> int:
    """Read the frequencies of one table; return the next bit offset, above `stop` if invalid."""
    n, s, left = get_bits(data, at, 8) + 1, -1, TOTAL
    at += 8
    for i in range(n):
        if at > stop:
            return stop + 1
        gap, at = get_gamma(data, at, stop)
        frequency = left
        if i < n - 1 and at <= stop:
            frequency, at = get_gamma(data, at, stop)
        s += gap
        left -= frequency
        if at > stop or s >= row.size or left < 0 or frequency < 1:
            return stop + 1
        row[s] = frequency
    return at if left == 0 else stop + 1


@jit
def fill_slots(frequencies: UInt16s, first: Int64s, slots: UInt32s) -> None:
    """Fill the decoder's slots of all tables that are present, from frequencies and first slots."""
    for t in range(len(frequencies)):
        if first[t] >= ABSENT:
            continue
        place = first[t]
        for s in range(frequencies.shape[1]):
            place = fill_symbol(slots, place, s, np.int64(frequencies[t, s]))
