"""Letters counted, and put in words of two bits each. Compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit

LETTERS, TABLES = 256, 4  # of counts: a letter that comes again soon is counted elsewhere


@jit
def count_letters(text: Any, begins: Any, ends: Any, counts: Any) -> None:
    """Add the letters of lines to counts (TABLES, LETTERS) int64, whose sum over tables counts."""
    for i in range(len(begins)):
        for at in range(begins[i], ends[i]):
            counts[at % TABLES, text[at]] += 1


@jit
def pack_letters(data: Any, begins: Any, words_of: Any, codes: Any, words: Any) -> None:
    """Put letters into words (w,) uint64, two bits each, the first ones lowest.

    Parameters
    ----------
    data : (m,) uint8
    begins : (n + 1,) int64, where lines begin, and m
    words_of : (n + 1,) int64, first word of each line, and w
    codes : (256,) uint8, of each letter, of which the lowest two bits are taken
    """
    for i in range(len(begins) - 1):
        for k in range(words_of[i], words_of[i + 1]):
            first = begins[i] + 32 * (k - words_of[i])
            word = np.uint64(0)
            for at in range(min(first + 32, begins[i + 1]) - 1, first - 1, -1):
                word = word << np.uint64(2) | np.uint64(codes[data[at]] & 3)
            words[k] = word


@jit
def unpack_letters(words: Any, words_of: Any, begins: Any, letters: Any, data: Any) -> None:
    """Undo `pack_letters`; letters (4,) uint8 are those of the codes."""
    for i in range(len(begins) - 1):
        for at in range(begins[i], begins[i + 1]):
            place = at - begins[i]
            word = words[words_of[i] + place // 32]
            data[at] = letters[np.int64(word >> np.uint64(2 * (place % 32)) & np.uint64(3))]
