"""Quality bytes of a block, and the numbers that represent them (SPEC.md, Qualities)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bools, Bytes
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.jit import jit, jit_norefs_inline
from gangsaw.codecs.core.numba.vectors.integers import load, select, static, store
from gangsaw.codecs.reads.lines import NEWLINE, Text

LETTERS = 256
MOST_GAPS = 8
OCTETS = static(64)
U = np.uint64


def letters_of(text: Text) -> Text:
    """Return the bytes that occur in lines, ascending: byte k is value k."""
    is_there = np.zeros(LETTERS, np.bool_)
    mark_bytes(text, is_there)
    is_there[NEWLINE] = False
    return np.flatnonzero(is_there).astype(np.uint8)


GAP_BEFORE, GAP_BELOW = range(2)  # columns of `Values.gaps`


class Values(NamedTuple):
    """Map from quality bytes to values, for kernels.

    Attributes
    ----------
    of : (256,) uint8, the value of each quality byte; 0 for other bytes
    first : byte of value 0
    gaps : (n, 2) int64: for bytes more than gaps[i, 0] above the first one, the value is gaps[i, 1]
        less, for each i; only valid if `is_plain`
    is_plain : True if there are few gaps: kernels use these instead of `of`
    """

    of: Text
    first: int
    gaps: npt.NDArray[np.int64]
    is_plain: bool


def values_of(letters: Text) -> Values:
    """Return the values of ascending quality bytes."""
    of = np.zeros(LETTERS, np.uint8)
    of[letters] = np.arange(letters.size)
    above = letters.astype(np.int64) - int(letters[:1].sum())
    widths = np.diff(above) - 1
    gaps = np.column_stack((above[:-1], widths))[widths > 0]
    is_plain = len(gaps) <= MOST_GAPS and bool((above < LETTERS // 2).all())
    return Values(of, int(letters[:1].sum()), gaps, is_plain)


@jit_norefs_inline
def fill_values(text: Bytes, begin: int, end: int, values: Values, out: Bytes) -> None:
    """Write the values of text[begin:end] to `out`; those of other bytes are undefined."""
    n = (end - begin) // len(OCTETS) * len(OCTETS) if values.is_plain else 0
    for i in range(0, n, len(OCTETS)):
        above = load(text, begin + i, OCTETS) - values.first
        value = above
        for gap in range(len(values.gaps)):
            behind = above > values.gaps[gap, GAP_BEFORE]
            value = select(behind, value - values.gaps[gap, GAP_BELOW], value)
        store(out, i, value)
    for i in range(U(n), U(end - begin)):
        out[i] = values.of[text[U(begin) + i]]


def stored_letters(letters: Text) -> Text:
    """Return the stored form of a list of quality bytes."""
    return np.concatenate((np.array([letters.size], np.uint8), letters))


def read_letters(data: Text) -> tuple[Text, Text]:
    """Return the list of quality bytes at the start of data, and the rest; raise CorruptChunk."""
    n = int(data[0]) if data.size else 0
    letters = data[1 : 1 + n]
    is_sorted = bool((letters[1:] > letters[:-1]).all())
    if data.size < 1 + n or not is_sorted or NEWLINE in letters:
        raise CorruptChunk("its list of letters is wrong")
    return letters, data[1 + n :]


@jit
def mark_bytes(text: Bytes, is_there: Bools) -> None:
    """Mark each byte that occurs."""
    for byte in text:
        is_there[byte] = True
