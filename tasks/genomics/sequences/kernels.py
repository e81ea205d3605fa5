"""Kernels that count bytes, and pack bases into two-bit words. Compiled."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64s, UInt64s
from gangsaw.codecs.core.nucleotides.codes import LETTER_OF_CODE
from gangsaw.codecs.core.nucleotides.kernels import codes_of_eight, eight_of, pack_codes
from gangsaw.codecs.core.numba.bits import swapped
from gangsaw.codecs.core.numba.jit import jit

LETTERS, TABLES = 256, 4  # tables of counts: adjacent equal bytes are counted in different ones


@jit
def count_bytes(text: Bytes, begins: Int64s, ends: Int64s, counts: Int64s) -> None:
    """Count the byte values of lines, into several tables `counts` (TABLES, LETTERS) int64.

    The tables are to be summed: with one, equal bytes in a row would wait for each other.
    """
    for i in range(len(begins)):
        for at in range(begins[i], ends[i]):
            counts[at % TABLES, text[at]] += 1


@jit
def pack_bases(data: Bytes, begins: Int64s, words_of: Int64s, words: UInt64s) -> None:
    """Pack bases into words (w,) uint64, two bits each, first ones lowest; others become 0.

    Parameters
    ----------
    data : (m,) uint8
    begins : (n + 1,) int64, offsets of lines, and m
    words_of : (n + 1,) int64, first word of each line, and w
    """
    for i in range(len(begins) - 1):
        for k in range(words_of[i], words_of[i + 1]):
            first = begins[i] + 32 * (k - words_of[i])
            words[k] = pack_32_bases(data, first, min(32, begins[i + 1] - first))


@jit(inline=True, part=True)
def pack_32_bases(data: Bytes, begin: int, n: int) -> np.uint64:
    """Return the 2-bit codes of n <= 32 bases as a word, the first base lowest."""
    word = np.uint64(0)
    for at in range(0, n, 8):
        count = min(8, n - at)
        codes, marks = codes_of_eight(swapped(eight_of(data, begin + at, count)))
        packed = pack_codes(codes & ~(marks | marks << np.uint64(1)))
        packed &= (np.uint64(1) << np.uint64(2 * count)) - np.uint64(1)
        word |= packed << np.uint64(2 * at)
    return word


@jit
def unpack_bases(words: UInt64s, words_of: Int64s, begins: Int64s, data: Bytes) -> None:
    """Undo `pack_bases`; other bases become A."""
    for i in range(len(begins) - 1):
        for at in range(begins[i], begins[i + 1]):
            place = at - begins[i]
            word = words[words_of[i] + place // 32]
            data[at] = LETTER_OF_CODE[np.int64(word >> np.uint64(2 * (place % 32)) & np.uint64(3))]
