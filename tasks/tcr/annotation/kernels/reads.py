"""Reads, one after the other: consensus, direction, V, J, and the junction between."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.tcr.annotation.kernels.genes import NOT_A_BASE, choose, count_known, vote
from gangsaw.tasks.tcr.annotation.kernels.mates import NO_OVERLAP, consensus

PHRED = 33
TOO_LONG = -2  # of a consensus' length
# what became of a read; the names are those of `REASONS`
FINE, APART, NO_V, NO_J, ERRORS, NO_CDR3, CUT_OFF, WILD, LONG = range(9)
REASONS = (
    "",
    "mates do not overlap",
    "no V",
    "no J",
    "many errors outside the CDR3",
    "J before V",
    "ends within the CDR3",
    "CDR3 with letters that are no base",
    "too long",
)
CODON = 3
FEWEST_LETTERS = 12  # of the frames of V and J, each, that a read has
SURE = 20  # Phred value of letters that tell of an allele
FNV, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # a hash: FNV-1a


@jit
def turn(letters: Any, qualities: Any, n: int) -> None:
    """Reverse and complement a read in its place."""
    for at in range((n + 1) // 2):
        other = n - 1 - at
        a, b = letters[at], letters[other]
        letters[at] = 3 - b if b < NOT_A_BASE else b
        letters[other] = 3 - a if a < NOT_A_BASE else a
        qualities[at], qualities[other] = qualities[other], qualities[at]


@jit
def take(text: Any, phred: Any, first: int, q_first: int, codes: Any, out: Any, of_out: Any) -> int:
    """Copy a read as codes and Phred values."""
    n = len(out)
    for at in range(n):
        out[at] = codes[text[first + at]]
        of_out[at] = max(0, phred[q_first + at] - PHRED)
    return n


@jit
def joined(mates: Any, i: int, codes: Any, room: Any) -> int:
    """Write the consensus of mates, or the only one, to the begin of the room; return its length.

    Parameters
    ----------
    mates : of the first and of the second: text, begins, ends, qualities and their begins; a
        second without reads is none
    room : letters and qualities of the consensus, of the first mate, of the second
    """
    first, second = mates
    out, of_out, a, of_a, b, of_b = room
    n = first[2][i] - first[1][i]
    if n + (0 if len(second[1]) == 0 else second[2][i] - second[1][i]) > len(out):
        return TOO_LONG
    if len(second[1]) == 0:
        return take(first[0], first[3], first[1][i], first[4][i], codes, out[:n], of_out[:n])
    m = second[2][i] - second[1][i]
    take(first[0], first[3], first[1][i], first[4][i], codes, a[:n], of_a[:n])
    take(second[0], second[3], second[1][i], second[4][i], codes, b[:m], of_b[:m])
    turn(b, of_b, m)
    return consensus(a[:n], of_a[:n], b[:m], of_b[:m], out, of_out)


@jit
def annotate(
    mates: Any,
    codes: Any,
    index: Any,
    genes: Any,
    regions: Any,
    longest: int,
    tolerated: float,
    found: Any,
    seen: Any,
) -> None:
    """Annotate reads.

    Parameters
    ----------
    mates : of `joined`
    codes : (256,) codes of letters
    index, genes : of `vote` and `choose`
    regions : genes of V, then of J: (n_v, n_v + n_j)
    longest : letters of a consensus at most
    tolerated : share of letters of the frames that may differ
    found : status (n,); ties of V and J (n, most); where the consensus begins in `letters` and
        `qualities` (n,), its length, where its junction begins and ends, diagonals of V and J
    seen : (letters of all genes, 4) int64 reads that have A, C, G or T there, and uint64 hashes of
        their junctions, a bit each; added to
    """
    status, v_ties, j_ties, begins, lengths, firsts, lasts, shifts, letters, qualities = found
    room = np.empty((6, longest), np.uint8)
    n_genes = len(genes[1]) - 1
    width, index = longest + index[3], (index[0], index[1], index[2], longest)
    votes = np.zeros((n_genes, width), np.uint16)
    best, diagonals = np.zeros(n_genes, np.int64), np.zeros(n_genes, np.int64)
    touched = np.empty(1 << 17, np.int64)
    at = 0
    for i in range(len(status)):
        n = joined(mates, i, codes, (room[0], room[1], room[2], room[3], room[4], room[5]))
        begins[i], lengths[i] = at, 0
        if n < 0:
            status[i] = APART if n == NO_OVERLAP else LONG
            continue
        own, of_own = room[0], room[1]
        forward = count_known(own, n, index[0])
        turn(own, of_own, n)
        if count_known(own, n, index[0]) <= forward:
            turn(own, of_own, n)
        vote(own, n, index, votes, touched, best, diagonals)
        read, of_j = (own, of_own, n), (regions[0], regions[1], False)
        v = choose(read, genes, (0, regions[0], True), best, diagonals, v_ties[i])
        j = choose(read, genes, of_j, best, diagonals, j_ties[i])
        shifts[i, 0], shifts[i, 1] = v[1], j[1]
        letters[at : at + n], qualities[at : at + n] = own[:n], of_own[:n]
        lengths[i] = n
        status[i] = NO_V if v[2] < FEWEST_LETTERS else NO_J if j[2] < FEWEST_LETTERS else FINE
        if status[i] == FINE and v[3] + j[3] > tolerated * (v[2] + j[2]):
            status[i] = ERRORS
        if status[i] == FINE:
            firsts[i] = genes[2][v_ties[i, 0]] - v[1]
            lasts[i] = genes[2][j_ties[i, 0]] - j[1] + CODON
            status[i] = junction_status(own, n, firsts[i], lasts[i])
        if status[i] == FINE:
            bit = hashed_bit(own[firsts[i] : lasts[i]])
            codon = genes[2][v_ties[i, 0]]
            notice(own, of_own, n, genes, (v_ties[i, 0], 0, codon), v[1], bit, seen)
            codon = genes[2][j_ties[i, 0]] + CODON
            notice(own, of_own, n, genes, (j_ties[i, 0], codon, 1 << 30), j[1], bit, seen)
        at += n


@jit
def hashed_bit(letters: Any) -> Any:
    """Return a word with one bit, which letters choose."""
    found = FNV
    for letter in letters:
        found = (found ^ np.uint64(letter)) * PRIME
    return np.uint64(1) << (found >> np.uint64(58))


@jit
def notice(
    letters: Any, qualities: Any, n: int, genes: Any, span: Any, shift: int, bit: Any, seen: Any
) -> None:
    """Count the letters that a read has at a gene's.

    Parameters
    ----------
    span : the gene, its first letter that counts and the one behind the last
    """
    gene, first, last = span
    begin, counts, bits = genes[1][gene], seen[0], seen[1]
    for at in range(max(first, shift), min(last, genes[1][gene + 1] - begin, n + shift)):
        letter = letters[at - shift]
        if letter < NOT_A_BASE and qualities[at - shift] >= SURE:
            counts[begin + at, letter] += 1
            bits[begin + at, letter] |= bit


@jit
def junction_status(letters: Any, n: int, first: int, last: int) -> int:
    """Say what is wrong with a junction from its first letter to the one behind its last."""
    if last - first <= 2 * CODON:
        return NO_CDR3
    if first < 0 or last > n:
        return CUT_OFF
    for at in range(first, last):
        if letters[at] == NOT_A_BASE:
            return WILD
    return FINE
