"""The genes of a read: by k-mers, then letter by letter on the diagonal that most of them share."""

from __future__ import annotations

from typing import Any

from gangsaw.codecs.core.numba.jit import jit

K = 10
MASK = 4**K - 1
NOT_A_BASE = 4
MATCH, MISMATCH = 10, 30  # of a gene's end, which may be eroded
CHANCE = 30  # score that three letters behind an eroded end have by chance
NEAR = 3 * K  # k-mers fewer than the best gene has: three errors at letters where genes differ
FEWEST_VOTES = 6
NONE = -1


@jit
def count_known(letters: Any, n: int, starts: Any) -> int:
    """Return how many k-mers of a read are of some gene."""
    word = run = known = 0
    for at in range(n):
        run = 0 if letters[at] == NOT_A_BASE else run + 1
        word = ((word << 2) | (letters[at] & 3)) & MASK
        if run >= K:
            known += starts[word + 1] > starts[word]
    return known


@jit
def vote(
    letters: Any, n: int, index: Any, votes: Any, touched: Any, best: Any, diagonals: Any
) -> None:
    """Count k-mers that a read shares with each gene on each diagonal; keep each gene's best.

    Parameters
    ----------
    letters : (n,) uint8 codes of a read
    index : starts (4**K + 1,), genes and places (m,) of k-mers, and room before a gene's begin
    votes : (genes, diagonals) uint16 of 0, which it is again at the end
    touched : (m,) int64 room for places of `votes`
    best, diagonals : (genes,) int64: most votes of a diagonal, and the gene's place minus the
        read's on it
    """
    starts, genes, places, room = index
    best[:] = 0
    n_touched = word = run = 0
    width = votes.shape[1]
    flat = votes.reshape(-1)
    for at in range(n):
        run = 0 if letters[at] == NOT_A_BASE else run + 1
        word = ((word << 2) | (letters[at] & 3)) & MASK
        if run < K:
            continue
        for i in range(starts[word], starts[word + 1]):
            gene, diagonal = genes[i], places[i] - (at - K + 1) + room
            if diagonal < 0 or diagonal >= width:
                continue
            cell = gene * width + diagonal
            if flat[cell] == 0 and n_touched < len(touched):
                touched[n_touched] = cell
                n_touched += 1
            if n_touched == len(touched):
                continue
            flat[cell] += 1
            if flat[cell] > best[gene]:
                best[gene], diagonals[gene] = flat[cell], diagonal - room
    for i in range(n_touched):
        flat[touched[i]] = 0


@jit
def score_frame(letters: Any, qualities: Any, n: int, gene: Any, span: Any, shift: int) -> Any:
    """Compare a part of a gene that no recombination cuts.

    Parameters
    ----------
    span : first letter of the gene's part, and the one behind it
    shift : the gene's place minus the read's

    Returns
    -------
    score, letters compared, letters that differ
    """
    score = wrong = 0
    first, last = max(span[0], shift), min(span[1], n + shift)
    for at in range(first, last):
        read = at - shift
        if letters[read] == gene[at]:
            score += MATCH
        else:
            score -= qualities[read]
            wrong += 1
    return score, max(0, last - first), wrong


@jit
def score_end(letters: Any, n: int, gene: Any, first: int, last: int, step: int, shift: int) -> int:
    """Return the best score of a gene's end from its codon on, as far as it was not eroded."""
    score = best = 0
    at = first
    while at != last:
        read = at - shift
        if read < 0 or read >= n:
            break
        score += MATCH if letters[read] == gene[at] else -MISMATCH
        best = max(best, score)
        at += step
    return max(0, best - CHANCE)


@jit
def choose(read: Any, genes: Any, which: Any, best: Any, diagonals: Any, ties: Any) -> Any:
    """Choose among genes of a region those that fit a read best.

    Parameters
    ----------
    read : its codes, Phred values, and length
    genes : codes of all, offsets (genes + 1,), codons (genes,): where the conserved one begins
    which : first gene of the region, the one behind its last, and 1 for V, 0 for J
    best, diagonals : of `vote`
    ties : (most,) int16 numbers of genes, NONE behind them; filled

    Returns
    -------
    votes of the best gene, its diagonal, letters compared of its frame, letters that differ
    """
    letters, qualities, n = read
    codes, offsets, codons = genes
    first, last, is_v = which
    top = 0
    for gene in range(first, last):
        top = max(top, best[gene])
    ties[:] = NONE
    n_ties = highest = shift = compared = wrong = 0
    if top < FEWEST_VOTES:
        return 0, 0, 0, 0
    for gene in range(first, last):
        if best[gene] < max(FEWEST_VOTES, top - NEAR):
            continue
        own, codon, size = codes[offsets[gene] : offsets[gene + 1]], codons[gene], 0
        size = len(own)
        span = (0, codon + 3) if is_v else (codon, size)
        score, seen, differ = score_frame(letters, qualities, n, own, span, diagonals[gene])
        if is_v:
            score += score_end(letters, n, own, codon + 3, size, 1, diagonals[gene])
        else:
            score += score_end(letters, n, own, codon - 1, -1, -1, diagonals[gene])
        if n_ties == 0 or score > highest:
            ties[:] = NONE
            n_ties, highest, shift, compared, wrong = 0, score, diagonals[gene], seen, differ
        if score == highest and n_ties < len(ties):
            ties[n_ties] = gene
            n_ties += 1
    return top, shift, compared, wrong
