"""Segments of D genes in a reference: by bit registers if D fits a word, else by diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.tcr.counting.kernels.d_words import SHORT
from gangsaw.tasks.tcr.counting.kernels.stages.match import (
    EVERYWHERE,
    find_pieces,
    pack_segment,
    update_longest,
)
from gangsaw.tasks.tcr.counting.kernels.tables import WORD


@jit(inline=True, part=True, norefs=True)
def extended_d(gene: int, tables: Any, max_p: int) -> Any:
    """Return a D gene with its right palindrome as the arguments `d` and `codes` of find_d."""
    germline = tables.d_germline[gene]
    inside = EVERYWHERE >> np.uint64(max(0, WORD - germline))
    codes = (tables.d_codes, tables.d_starts[gene] + max_p, tables.d_starts[gene + 1])
    return (tables.d, gene, inside, germline, True), codes


@jit(inline=True, part=True, norefs=True)
def find_d(symbols: Any, length: int, d: Any, codes: Any, window: Any, scratch: Any) -> Any:
    """Find the positions where R[a:b], a < b, is a segment of a D gene.

    `codes` is (codes of all genes, start of the gene, its end). For the other arguments, the lists
    in `scratch` and the result see find_pieces.
    """
    if codes[2] - codes[1] > WORD:
        lists = (scratch.matches, scratch.longer, scratch.crossing)
        work = (scratch.diagonals, scratch.lengths)
        germline = d[3] if d[4] else codes[2] - codes[1]
        return find_long_pieces(symbols, length, codes, germline, window, lists, work)
    words = (scratch.matches, scratch.longer, scratch.crossing, scratch.runs)
    return find_pieces(symbols, length, d, window, words)


@jit(part=True, norefs=True)
def find_long_pieces(
    symbols: Any, length: int, codes: Any, germline: int, window: Any, lists: Any, work: Any
) -> Any:
    """Find segments like find_pieces, for genes longer than a word, diagonal by diagonal.

    diagonals[e] is, at b, the number of matching symbols in R before b and in the gene before e. So
    the segment of t symbols that ends at e occurs if this number is at least t. Ends after
    `germline` symbols are those of palindromes.
    """
    of_genes, begin, end = codes
    size = end - begin
    diagonals, lengths = work
    n, crossing, longest = 0, 0, (0, 0, 0)
    diagonals[: size + 1] = 0
    for b in range(1, length + 1):
        greatest = 0
        lengths[: length + 2] = 0
        for e in range(size, 0, -1):
            run = diagonals[e - 1] + 1 if of_genes[begin + e - 1] & symbols[b - 1] else 0
            diagonals[e] = run
            greatest = max(greatest, run)
            if e <= germline:
                lengths[run] += 1
            elif b >= window[1]:
                for a in range(b - 1, b - 1 - run, -1):
                    if a <= window[0]:
                        lists[2][crossing] = pack_segment(a, b, e - germline)
                        crossing += 1
        n = _list_by_length(b, greatest, lengths, window, lists, n)
        longest = update_longest(greatest, b, longest)
    return n, crossing, longest[0], longest[1], longest[2]


@jit(inline=True, part=True, norefs=True)
def _list_by_length(b: int, greatest: int, lengths: Any, window: Any, lists: Any, n: int) -> int:
    """Store the numbers of segments of each length that end at b.

    Return n, increased by the segments of more than SHORT symbols. `lengths` has the number of
    diagonals by length of their match at b.
    """
    for t in range(greatest - 1, 0, -1):
        lengths[t] += lengths[t + 1]  # a segment contains its shorter suffixes
    matches, longer, _ = lists
    if b >= window[1] and b <= window[0] + SHORT:
        for t in range(1, SHORT + 1):
            matches[b * SHORT + t - 1] = lengths[t]
    for t in range(SHORT + 1, greatest + 1):
        if b >= window[1] and b - t <= window[0]:
            longer[n] = pack_segment(b - t, b, lengths[t])
            n += 1
    return n
