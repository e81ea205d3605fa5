"""Annotation kernel of reads: consensus, direction, V gene, J gene, and the junction between."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.nucleotides.kernels import paired_code
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.tcr.annotation.kernels.genes import NOT_A_BASE, choose_genes, count_known, vote
from gangsaw.tasks.tcr.annotation.kernels.mates import NO_OVERLAP, consensus

PHRED = 33
TOO_LONG = -2  # instead of the length of a consensus
# status of a read; `REASONS` has the messages
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
MIN_FRAME_BASES = 12  # bases of V's frame, and of J's, in a read
SURE = 20  # Phred value of bases that count as evidence of an allele
FNV, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # FNV-1a hash


@jit
def turn(bases: Any, qualities: Any, n: int) -> None:
    """Replace the bases of a read by their reverse complement, and reverse its qualities."""
    for at in range((n + 1) // 2):
        other = n - 1 - at
        a, b = bases[at], bases[other]
        bases[at], bases[other] = paired_code(b), paired_code(a)
        qualities[at], qualities[other] = qualities[other], qualities[at]


@jit
def copy_read(
    text: Any, phred: Any, first: int, q_first: int, codes: Any, out: Any, of_out: Any
) -> int:
    """Copy a read as codes and Phred values; return its length, that of `out`.

    Parameters
    ----------
    text, phred : bytes of the bases and quality characters of all reads
    first, q_first : offsets of the read in them
    codes : (256,) uint8
        Code of each byte.
    out, of_out : output: codes and Phred values
    """
    n = len(out)
    for at in range(n):
        out[at] = codes[text[first + at]]
        of_out[at] = max(0, phred[q_first + at] - PHRED)
    return n


@jit
def join_mates(mates: Any, i: int, codes: Any, buffers: Any) -> int:
    """Write the consensus of two mates, or the only read, to `buffers`; return its length.

    Parameters
    ----------
    mates : for each mate its text, starts, ends, qualities, and their starts; empty arrays as
        the second mate of single reads
    i : number of the read
    codes : (256,) uint8
        Code of each byte.
    buffers : codes and Phred values of the consensus, of the first mate, of the second
    """
    first, second = mates
    out, of_out, a, of_a, b, of_b = buffers
    n = first[2][i] - first[1][i]
    if n + (0 if len(second[1]) == 0 else second[2][i] - second[1][i]) > len(out):
        return TOO_LONG
    if len(second[1]) == 0:
        return copy_read(first[0], first[3], first[1][i], first[4][i], codes, out[:n], of_out[:n])
    m = second[2][i] - second[1][i]
    copy_read(first[0], first[3], first[1][i], first[4][i], codes, a[:n], of_a[:n])
    copy_read(second[0], second[3], second[1][i], second[4][i], codes, b[:m], of_b[:m])
    turn(b, of_b, m)
    return consensus(a[:n], of_a[:n], b[:m], of_b[:m], out, of_out)


@jit
def annotate_reads(
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
    """Annotate reads: write their status, genes, consensus and junction to `found`.

    Parameters
    ----------
    mates : see `join_mates`
    codes : (256,) uint8
        Code of each byte.
    index, genes : see `vote` and `choose_genes`
    regions : ends of the V genes and of the J genes, (n_v, n_v + n_j)
    longest : capacity for a consensus, in bases
    tolerated : share of frame bases that may differ
    found : output: status (n,); ties of V and J (n, most); for each read (n,) the offset of its
        consensus in `letters` and `qualities`, its length, start and end of its junction, diagonals
    seen : (bases of all genes, 4) int64 and uint64
        Reads with A, C, G or T at each position, and one bit per hashed junction; added to.
    """
    status, v_ties, j_ties, begins, lengths, firsts, lasts, shifts, letters, qualities = found
    buffers = np.empty((6, longest), np.uint8)
    n_genes = len(genes[1]) - 1
    width, index = longest + index[3], (index[0], index[1], index[2], longest)
    votes = np.zeros((n_genes, width), np.uint16)
    best, diagonals = np.zeros(n_genes, np.int64), np.zeros(n_genes, np.int64)
    touched = np.empty(1 << 17, np.int64)
    at = 0
    for i in range(len(status)):
        n = join_mates(
            mates,
            i,
            codes,
            (buffers[0], buffers[1], buffers[2], buffers[3], buffers[4], buffers[5]),
        )
        begins[i], lengths[i] = at, 0
        if n < 0:
            status[i] = APART if n == NO_OVERLAP else LONG
            continue
        own, of_own = buffers[0], buffers[1]
        forward = count_known(own, n, index[0])
        turn(own, of_own, n)
        if count_known(own, n, index[0]) <= forward:
            turn(own, of_own, n)
        vote(own, n, index, votes, touched, best, diagonals)
        read, of_j = (own, of_own, n), (regions[0], regions[1], False)
        v = choose_genes(read, genes, (0, regions[0], True), best, diagonals, v_ties[i])
        j = choose_genes(read, genes, of_j, best, diagonals, j_ties[i])
        shifts[i, 0], shifts[i, 1] = v[1], j[1]
        letters[at : at + n], qualities[at : at + n] = own[:n], of_own[:n]
        lengths[i] = n
        status[i] = NO_V if v[2] < MIN_FRAME_BASES else NO_J if j[2] < MIN_FRAME_BASES else FINE
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
def hashed_bit(bases: Any) -> Any:
    """Return a uint64 with one bit set; a hash of the bases selects it."""
    found = FNV
    for letter in bases:
        found = (found ^ np.uint64(letter)) * PRIME
    return np.uint64(1) << (found >> np.uint64(58))


@jit
def notice(
    bases: Any, qualities: Any, n: int, genes: Any, span: Any, shift: int, bit: Any, seen: Any
) -> None:
    """Count the bases of a read at each position of a gene.

    Parameters
    ----------
    bases, qualities : codes and Phred values of the read
    n : bases of the read
    genes : see `choose_genes`
    span : number of the gene, first position that counts, and end of these positions
    shift : gene position minus read position
    bit : bit of the hashed junction
    seen : see `annotate_reads`
    """
    gene, first, last = span
    begin, counts, bits = genes[1][gene], seen[0], seen[1]
    for at in range(max(first, shift), min(last, genes[1][gene + 1] - begin, n + shift)):
        letter = bases[at - shift]
        if letter < NOT_A_BASE and qualities[at - shift] >= SURE:
            counts[begin + at, letter] += 1
            bits[begin + at, letter] |= bit


@jit
def junction_status(bases: Any, n: int, first: int, last: int) -> int:
    """Return NO_CDR3, CUT_OFF, WILD (has an N) or FINE for the junction bases[first:last].

    Parameters
    ----------
    bases : codes of the read
    n : number of bases
    first, last : start of the first conserved codon, end of the last one
    """
    if last - first <= 2 * CODON:
        return NO_CDR3
    if first < 0 or last > n:
        return CUT_OFF
    for at in range(first, last):
        if bases[at] == NOT_A_BASE:
            return WILD
    return FINE
