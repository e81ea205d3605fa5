"""Letters of qualities and the numbers that stand for them (SPEC.md, Qualities)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.lines import NEWLINE, Text

LETTERS = 256


def letters_of(text: Text) -> Text:
    """Return the letters that occur in lines, ascending: letter k is value k."""
    is_there = np.zeros(LETTERS, np.bool_)
    mark_bytes(text, is_there)
    is_there[NEWLINE] = False
    return np.flatnonzero(is_there).astype(np.uint8)


def values_of(letters: Text) -> Text:
    """Return (256,) uint8, the value of each letter; 0 for the others."""
    values = np.zeros(LETTERS, np.uint8)
    values[letters] = np.arange(letters.size)
    return values


def stored_letters(letters: Text) -> Text:
    """Return the bytes of a list of letters."""
    return np.concatenate((np.array([letters.size], np.uint8), letters))


def read_letters(data: Text) -> tuple[Text, Text]:
    """Return the letters that bytes begin with, and what follows; CorruptChunk if they are none."""
    n = int(data[0]) if data.size else 0
    letters = data[1 : 1 + n]
    is_sorted = bool((letters[1:] > letters[:-1]).all())
    if data.size < 1 + n or not is_sorted or NEWLINE in letters:
        raise CorruptChunk("its list of letters is wrong")
    return letters, data[1 + n :]


@jit
def mark_bytes(text: Any, is_there: Any) -> None:
    """Mark each byte that occurs."""
    for byte in text:
        is_there[byte] = True
