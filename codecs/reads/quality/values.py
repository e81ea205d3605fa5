"""Quality bytes of a block, and the numbers that represent them (SPEC.md, Qualities)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bools, Bytes
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import load, select, static, store
from gangsaw.codecs.reads.lines import NEWLINE, Text

BYTE_VALUES = 256
MOST_GAPS = 8
LANES = static(64)
U = np.uint64


def find_alphabet(text: Text) -> Text:
    """Return the quality bytes that occur in lines, ascending: byte k is value k."""
    is_there = np.zeros(BYTE_VALUES, np.bool_)
    mark_present_bytes(text, is_there)
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


def values_of(alphabet: Text) -> Values:
    """Return the values of ascending quality bytes."""
    of = np.zeros(BYTE_VALUES, np.uint8)
    of[alphabet] = np.arange(alphabet.size)
    above = alphabet.astype(np.int64) - int(alphabet[:1].sum())
    widths = np.diff(above) - 1
    gaps = np.column_stack((above[:-1], widths))[widths > 0]
    is_plain = len(gaps) <= MOST_GAPS and bool((above < BYTE_VALUES // 2).all())
    return Values(of, int(alphabet[:1].sum()), gaps, is_plain)


@jit(inline=True, part=True, norefs=True)
def fill_values(text: Bytes, begin: int, end: int, values: Values, out: Bytes) -> None:
    """Write the values of text[begin:end] to `out`; those of other bytes are undefined."""
    n = (end - begin) // len(LANES) * len(LANES) if values.is_plain else 0
    for i in range(0, n, len(LANES)):
        above = load(text, begin + i, LANES) - values.first
        value = above
        for gap in range(len(values.gaps)):
            behind = above > values.gaps[gap, GAP_BEFORE]
            value = select(behind, value - values.gaps[gap, GAP_BELOW], value)
        store(out, i, value)
    for i in range(U(n), U(end - begin)):
        out[i] = values.of[text[U(begin) + i]]


def store_alphabet(alphabet: Text) -> Text:
    """Return the stored form of a list of quality bytes."""
    return np.concatenate((np.array([alphabet.size], np.uint8), alphabet))


def read_alphabet(data: Text) -> tuple[Text, Text]:
    """Return the list of quality bytes at the start of data, and the rest; raise CorruptChunk."""
    n = int(data[0]) if data.size else 0
    alphabet = data[1 : 1 + n]
    is_sorted = bool((alphabet[1:] > alphabet[:-1]).all())
    if data.size < 1 + n or not is_sorted or NEWLINE in alphabet:
        raise CorruptChunk("its list of quality values is wrong")
    return alphabet, data[1 + n :]


@jit
def mark_present_bytes(text: Bytes, is_there: Bools) -> None:
    """Mark each byte that occurs in a text, in `is_there`, (256,)."""
    for byte in text:
        is_there[byte] = True
