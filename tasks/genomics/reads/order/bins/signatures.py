"""Signatures of reads: the canonical p-mer with the lowest hash, of a read or of each half.

Reads of one region share most p-mers on both strands, and so usually their signatures (M. Roberts
et al., 2004: minimizers; ORCOM's bins, S. Grabowski et al., 2015).

The bases of many reads are concatenated, and p-mers of all positions are computed at once. Words of
two bases are made from words of one, and so on, each by one vector operation. A rolling p-mer would
depend on the previous one at each base.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s, UInt16s, UInt32s
from gangsaw.codecs.core.nucleotides.kernels import encode_nucleotides
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.sequence.bases import read_only
from gangsaw.tasks.compressed_text.text import Text

LENGTH = 12  # bases of a p-mer: with 14 sets of short reads took more bytes, with 10 bacteria
HALVED = 60  # least number of bases of a read with a signature for each half
BIN_BITS = 20
NO_BIN = 1 << BIN_BITS  # bin of a read without any allowed p-mer
LEFT, RIGHT = range(2)  # columns of the bins: halves of a read
HASH = np.uint32(0x9E3779B1)
MIX = np.uint64(0x9E3779B97F4A7C15)
NONE = np.uint32(0xFFFFFFFF)  # hash that stands for no p-mer
AT_ONCE = 2048  # bases per batch: their arrays stay in the first-level cache
BEYOND = 32  # padding after the batch, which is read and ignored
LINE, FIRST, LAST = 0, 1, 2  # columns of a stretch: twice its line + half, first and last p-mer


class Pmers(NamedTuple):
    """Work arrays of p-mers (12-mers) of a batch of bases, indexed by position.

    Attributes
    ----------
    codes : (n,) uint8, 0..3 for A C G T, U as T, 4 for others
    fours, back_fours : (n,) uint8, words of four bases from each position; and their reverse
        complements
    odd, odds : (n,) uint8, nonzero if a p-mer with the three bases at this position is not allowed;
        and the same for all bases of the p-mer
    eights, back_eights : (n,) uint16, words of eight bases; and their reverse complements
    hashes : (n,) uint32, hashes of p-mers
    stretches : (m, 3) int64, ranges of the batch within one half of a read: LINE (2 * read + half),
        FIRST and LAST p-mer
    """

    codes: Text
    fours: Text
    back_fours: Text
    odd: Text
    odds: Text
    eights: npt.NDArray[np.uint16]
    back_eights: npt.NDArray[np.uint16]
    hashes: npt.NDArray[np.uint32]
    stretches: npt.NDArray[np.int64]


def sign_lines(
    text: Text, begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the bins of both halves of reads, (n, 2) int64, by their p-mers with the lowest hash.

    Short reads have one bin, twice.
    """
    pmers = empty_pmers()
    least = np.full((len(begins), 2), NONE)
    sign_halves(
        read_only(text), np.ascontiguousarray(begins), np.ascontiguousarray(ends), pmers, least
    )
    bins = np.empty((len(begins), 2), np.int64)
    find_bins(least, bins)
    return bins


def empty_pmers() -> Pmers:
    """Return empty work arrays for AT_ONCE bases."""
    n = AT_ONCE + BEYOND
    codes, fours, back_fours, odd, odds = (np.zeros(n, np.uint8) for _ in range(5))
    eights, back_eights = (np.zeros(n, np.uint16) for _ in range(2))
    hashes, stretches = np.zeros(n, np.uint32), np.zeros((AT_ONCE // LENGTH, 3), np.int64)
    return Pmers(codes, fours, back_fours, odd, odds, eights, back_eights, hashes, stretches)


@jit
def sign_halves(text: Bytes, begins: Int64s, ends: Int64s, pmers: Pmers, least: UInt32s) -> None:
    """Lower the hashes `least` (n, 2) to the minimum over the p-mers of each half of a read.

    Short reads have only a first half.
    """
    bases, stretches = 0, 0
    for i in range(begins.size):
        at, end = begins[i], ends[i]
        middle = end if end - at < HALVED else (at + end) // 2
        for half in range(2):
            stop = end if half else middle
            while stop - at >= LENGTH:
                n = min(stop - at, AT_ONCE - bases)
                if n < LENGTH:
                    sign_stretches(pmers, bases, stretches, least)
                    bases, stretches = 0, 0
                    continue
                encode_nucleotides(text[at : at + n], pmers.codes[bases:])
                own = pmers.stretches[stretches]
                own[LINE], own[FIRST], own[LAST] = 2 * i + half, bases, bases + n - LENGTH
                bases, stretches = bases + n, stretches + 1
                if n == stop - at:
                    break
                at += n - LENGTH + 1
            at = stop
    sign_stretches(pmers, bases, stretches, least)


@jit(part=True)
def sign_stretches(pmers: Pmers, bases: int, stretches: int, least: UInt32s) -> None:
    """Lower the hashes of reads' halves to the minimum over the p-mers in the batch.

    `bases` and `stretches` are the numbers of items in the work arrays.
    """
    s = pmers
    join_four_bases(s.codes, s.fours, s.back_fours, s.odd, bases)
    pair_fours(s.fours, s.back_fours, s.eights, s.back_eights, bases)
    join_odd(s.odd, s.odds, bases)
    hash_pmers(s, bases)
    lower_halves(s.hashes, s.stretches, stretches, least)


@jit(restrict=True, part=True)
def join_four_bases(codes: Bytes, fours: Bytes, back_fours: Bytes, odd: Bytes, n: int) -> None:
    """Write words of four bases from each position, and of their reverse complement.

    Three bases are odd if all are equal, or one is not a base.
    """
    for i in range(n):
        a, b, c, d = codes[i], codes[i + 1], codes[i + 2], codes[i + 3]
        fours[i] = a << 6 | b << 4 | c << 2 | d
        back_fours[i] = (a | b << 2 | c << 4 | d << 6) ^ 255
        odd[i] = (a | b | c) >> 2 | (a == b) & (b == c)


@jit(restrict=True)
def pair_fours(
    fours: Bytes, back_fours: Bytes, eights: UInt16s, back_eights: UInt16s, n: int
) -> None:
    """Write words of eight bases from each position, and of their reverse complement."""
    for i in range(n):
        eights[i] = np.uint16(fours[i]) << 8 | np.uint16(fours[i + 4])
        back_eights[i] = np.uint16(back_fours[i]) | np.uint16(back_fours[i + 4]) << 8


@jit(restrict=True, part=True)
def join_odd(odd: Bytes, odds: Bytes, n: int) -> None:
    """Set odds[i] if any three bases in the p-mer at i are odd, as in `join_four_bases`.

    `odd` is changed.
    """
    for i in range(n):
        odd[i] = odd[i] | odd[i + 1] | odd[i + 2] | odd[i + 3]
    for i in range(n):
        odds[i] = odd[i] | odd[i + 4] | odd[i + 6]


@jit(restrict=True, part=True)
def hash_pmers(pmers: Pmers, n: int) -> None:
    """Write the lower hash of both strands of each p-mer; NONE if its bases are odd."""
    s = pmers
    for i in range(n):
        forward = np.uint32(s.eights[i]) << np.uint32(8) | np.uint32(s.fours[i + 8])
        back = np.uint32(s.back_eights[i]) | np.uint32(s.back_fours[i + 8]) << np.uint32(16)
        # cast: Numba multiplies 32-bit integers as 64-bit ones
        hashed = min(np.uint32(forward * HASH), np.uint32(back * HASH))
        s.hashes[i] = NONE if s.odds[i] else hashed


@jit(restrict=True)
def lower_halves(hashes: UInt32s, stretches: Int64s, n: int, least: UInt32s) -> None:
    """Lower the hash of each half of a read to the minimum over the hashes of its range."""
    for k in range(n):
        # unsigned indices avoid the check for negative ones
        first, line = np.uint64(stretches[k, FIRST]), stretches[k, LINE]
        lowest = least[line >> 1, line & 1]
        for i in range(stretches[k, LAST] - stretches[k, FIRST] + 1):
            lowest = min(lowest, hashes[first + np.uint64(i)])
        least[line >> 1, line & 1] = lowest


@jit
def find_bins(least: UInt32s, bins: Int64s) -> None:
    """Write the bin, a 20-bit hash, of each half's lowest p-mer hash (n, 2).

    These are minima, so their bits are mixed once more.
    """
    for i in range(len(least)):
        for half in range(2):
            own = least[i, half] if least[i, half] != NONE else least[i, 1 - half]
            mixed = np.int64(np.uint64(own) * MIX >> np.uint64(64 - BIN_BITS))
            bins[i, half] = NO_BIN if own == NONE else mixed
