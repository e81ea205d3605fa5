"""Reads with two bits per base, and one bit that marks residues other than A, C, G, T and U.

Reads are packed before the copy to a device: 3 bits instead of 8.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.nucleotides.kernels import (
    as_dna,
    codes_of_eight,
    eight_of,
    pack_codes,
    pack_marks,
)
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.genomics.reads.order.bins.chain import Numbers

WORD = 32  # bases per word
U = np.uint64


class PackedReads(NamedTuple):
    """Reads packed to two bits per base, each aligned to a 64-bit word.

    Attributes
    ----------
    letters : (n_words + 1,) uint64, A 0, C 1, G 2, T or U 3, the first base of a word in the
        highest bits
    others : (n_words + 1,) uint32, a bit for each residue that is none of these, the first one
        lowest
    firsts : (n + 1,) int64, first word of each read
    lengths : (n,) int64
    """

    letters: npt.NDArray[np.uint64]
    others: npt.NDArray[np.uint32]
    firsts: Numbers
    lengths: Numbers


def packed_reads(text: Text, begins: Numbers, ends: Numbers) -> PackedReads:
    """Pack the reads text[begins[i]:ends[i]] to two bits per base."""
    lengths = ends - begins
    firsts = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(-(-lengths // WORD), out=firsts[1:])
    n_words = int(firsts[-1]) + 1  # a kernel reads two words at once
    found = PackedReads(np.zeros(n_words, U), np.zeros(n_words, np.uint32), firsts, lengths)
    pack_lines(text, begins, found)
    return found


@jit
def pack_lines(text: Bytes, begins: Int64s, reads: PackedReads) -> None:
    """Write the packed words of reads, which are zero before."""
    for i in range(begins.size):
        word = reads.firsts[i]
        for at in range(0, reads.lengths[i], WORD):
            n = min(WORD, reads.lengths[i] - at)
            reads.letters[word], reads.others[word] = pack_marked_word(text, begins[i] + at, n)
            word += 1


@jit(inline=True, part=True)
def pack_marked_word(text: Bytes, begin: int, n: int) -> tuple[np.uint64, np.uint32]:
    """Return packed bases, and marks of other residues, of text[begin : begin + n], n <= WORD."""
    letters, others = U(0), U(0)
    for k in range(0, n, 8):
        count = min(8, n - k)
        codes, marks = codes_of_eight(as_dna(eight_of(text, begin + k, count)))
        packed = pack_codes(codes) & ~U(0) << U(16 - 2 * count)
        letters |= packed << U(48 - 2 * k)
        others |= (pack_marks(marks) & (U(1) << U(count)) - U(1)) << U(k)
    return letters, np.uint32(others)
