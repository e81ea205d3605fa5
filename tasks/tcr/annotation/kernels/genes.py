"""Gene assignment of a read: by k-mers, then by base on the diagonal that most of them share."""

from __future__ import annotations

from typing import Any

from gangsaw.codecs.core.numba.jit import jit

K = 10
MASK = 4**K - 1
NOT_A_BASE = 4
MATCH, MISMATCH = 10, 30  # scores at a gene's end, which deletions may shorten
CHANCE = 30  # score that three bases behind a deletion have by chance
NEAR = 3 * K  # k-mers fewer than those of the best gene: three errors at bases where genes differ
FEWEST_VOTES = 6
NONE = -1


@jit
def count_known(bases: Any, n: int, starts: Any) -> int:
    """Return the number of k-mers of a read that occur in any gene.

    Parameters
    ----------
    bases : codes of the read
    n : number of bases
    starts : (4**K + 1,) int64
        Offsets of the k-mer index.
    """
    word = run = known = 0
    for at in range(n):
        run = 0 if bases[at] == NOT_A_BASE else run + 1
        word = ((word << 2) | (bases[at] & 3)) & MASK
        if run >= K:
            known += starts[word + 1] > starts[word]
    return known


@jit
def vote(
    bases: Any, n: int, index: Any, votes: Any, touched: Any, best: Any, diagonals: Any
) -> None:
    """Count the k-mers that a read shares with each gene on each diagonal; write each gene's best.

    Parameters
    ----------
    bases : (n,) uint8
        Codes of the read's bases.
    n : number of bases
    index : offsets (4**K + 1,), genes and positions (m,) of k-mers, and capacity before a gene
    votes : (genes, diagonals) uint16
        All 0, before the call and after it.
    touched : (m,) int64
        Capacity for indices of `votes`.
    best, diagonals : (genes,) int64
        Output: most votes of a diagonal, and this diagonal, gene position minus read position.
    """
    starts, genes, places, room = index
    best[:] = 0
    n_touched = word = run = 0
    width = votes.shape[1]
    flat = votes.reshape(-1)
    for at in range(n):
        run = 0 if bases[at] == NOT_A_BASE else run + 1
        word = ((word << 2) | (bases[at] & 3)) & MASK
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
def score_frame(bases: Any, qualities: Any, n: int, gene: Any, span: Any, shift: int) -> Any:
    """Score a range of a gene that recombination does not shorten.

    Parameters
    ----------
    bases, qualities : codes and Phred values of the read
    n : bases of the read
    gene : codes of the gene
    span : first position of the range in the gene, and the end of the range
    shift : gene position minus read position

    Returns
    -------
    score, number of compared bases, number of mismatches
    """
    score = wrong = 0
    first, last = max(span[0], shift), min(span[1], n + shift)
    for at in range(first, last):
        read = at - shift
        if bases[read] == gene[at]:
            score += MATCH
        else:
            score -= qualities[read]
            wrong += 1
    return score, max(0, last - first), wrong


@jit
def score_end(bases: Any, n: int, gene: Any, first: int, last: int, step: int, shift: int) -> int:
    """Return the best score of a gene's end: the end of V, or the start of J.

    Recombination may have shortened it, so the score is the maximum over all lengths.

    Parameters
    ----------
    bases : codes of the read
    n : number of bases
    gene : codes of the gene
    first, last : gene positions from the conserved codon to one after the gene's end
    step : 1 for V, -1 for J
    shift : gene position minus read position
    """
    score = best = 0
    at = first
    while at != last:
        read = at - shift
        if read < 0 or read >= n:
            break
        score += MATCH if bases[read] == gene[at] else -MISMATCH
        best = max(best, score)
        at += step
    return max(0, best - CHANCE)


@jit
def choose_genes(read: Any, genes: Any, which: Any, best: Any, diagonals: Any, ties: Any) -> Any:
    """Select the genes of a region that fit a read best.

    Parameters
    ----------
    read : its codes, Phred values, and length
    genes : concatenated codes, offsets (genes + 1,), offsets of the conserved codons (genes,)
    which : first gene of the region, end of the region, and 1 for V, 0 for J
    best, diagonals : output of `vote`
    ties : (most,) int16
        Output: numbers of the best genes, padded with `NONE`.

    Returns
    -------
    votes of the best gene, its diagonal, compared bases of its frame, mismatches
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
