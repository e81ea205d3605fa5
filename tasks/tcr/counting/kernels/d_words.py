"""Words of the D genes: for each word its genes, its frequency, and its ends in palindromes.

Alleles share most of their words, and a reference has few of all words. So each word of a
reference is looked up once for all genes, instead of a search gene by gene.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.tasks.tcr.model.nucleotides import Codes

SHORT = 4  # longest segment, in symbols, that is counted by its word; few random matches are longer
LONG = SHORT + 1  # symbols of the words at the end of longer segments
WORDS = 4**LONG
SHORT_WORDS = 4**SHORT
GROUP = 64  # genes per integer of a bit mask
OF_LENGTH = np.cumsum([0, 0, *(4**t for t in range(1, SHORT))])  # offset of the words of t symbols
SHORTER = int(OF_LENGTH[-1]) + SHORT_WORDS
LETTER = np.full(16, -1)
LETTER[[1, 2, 4, 8]] = range(4)


class DWords(NamedTuple):
    """Lookup tables of all D genes: which genes contain a word, how often, and where it ends.

    A word is a number with two bits per symbol; the last symbol has the lowest bits. The tables are
    empty if a gene has a wildcard or is too long.

    Attributes
    ----------
    long_holders : (groups * WORDS) uint64: bit g is set if gene g of a group of GROUP genes, with
        both palindromes, contains the word of LONG symbols
    short_holders : (groups * SHORTER) uint64: the same for words of 1..SHORT symbols and genes with
        the right palindrome only
    counts : (SHORT_WORDS * genes * SHORT) uint16: occurrences of the last 1..SHORT symbols of a
        word in a gene without palindromes
    both_counts : the same for the gene with both palindromes
    ends : (SHORT_WORDS * genes) uint16: four bits for each of the last 1..SHORT symbols of a word:
        the symbols of the right palindrome at which they end, wherever they begin
    """

    long_holders: npt.NDArray[np.uint64]
    short_holders: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.uint16]
    both_counts: npt.NDArray[np.uint16]
    ends: npt.NDArray[np.uint16]


def make_words(genes: list[Codes], right: list[Codes], both: list[Codes], longest: int) -> DWords:
    """Return the word tables of D genes.

    Parameters
    ----------
    genes : codes of each gene
    right : the genes with their right palindrome
    both : the genes with both palindromes
    longest : length that a gene with both palindromes may have, in symbols
    """
    plain = all((LETTER[codes] >= 0).all() for codes in genes)
    if not genes or not plain or max(map(len, both)) > longest:
        none = np.zeros(0, np.uint64), np.zeros(0, np.uint16)
        return DWords(none[0], none[0], none[1], none[1], none[1])
    counts, both_counts = (
        np.stack([_counts(some, t)[_last(t)] for t in range(1, SHORT + 1)], axis=-1)
        for some in (genes, both)
    )
    in_right = [_holders(_counts(right, t) > 0) for t in range(1, SHORT + 1)]
    return DWords(
        _holders(_counts(both, LONG) > 0).ravel(),
        np.concatenate(in_right, axis=1).ravel(),
        counts.astype(np.uint16).ravel(),
        both_counts.astype(np.uint16).ravel(),
        _ends(genes, right).ravel(),
    )


def _ends(genes: list[Codes], right: list[Codes]) -> npt.NDArray[np.uint16]:
    """Return `DWords.ends`, (SHORT_WORDS, genes): where words end in the right palindrome."""
    sizes, each = np.array([len(gene) for gene in genes]), np.arange(len(genes))
    found = np.zeros((SHORT_WORDS, len(genes)), np.uint16)
    for t in range(1, SHORT + 1):
        words, own = _words(right, t), np.zeros((4**t, len(genes)), np.uint16)
        for symbol in range(len(right[0]) - len(genes[0])):
            start = sizes + symbol + 1 - t
            has = start >= 0
            own[words[has, start[has]], each[has]] |= np.uint16(1 << (4 * (t - 1) + symbol))
        found |= own[_last(t)]
    return found


def _last(t: int) -> npt.NDArray[np.int64]:
    """Return the last t symbols of each word of SHORT symbols, (SHORT_WORDS,), as words."""
    last: npt.NDArray[np.int64] = np.arange(SHORT_WORDS) & (4**t - 1)
    return last


def _words(genes: list[Codes], t: int) -> npt.NDArray[np.int64]:
    """Return the word of t symbols at each gene position, (genes, positions); -1 after the end."""
    size = max(max(map(len, genes)), t)
    letters = np.full((len(genes), size), -1)
    for row, codes in zip(letters, genes, strict=True):
        row[: len(codes)] = LETTER[codes]
    windows = np.lib.stride_tricks.sliding_window_view(letters, t, axis=1)
    words: npt.NDArray[np.int64] = windows @ 4 ** np.arange(t - 1, -1, -1)
    kept: npt.NDArray[np.int64] = np.where((windows >= 0).all(axis=-1), words, -1)
    return kept


def _counts(genes: list[Codes], t: int) -> npt.NDArray[np.int64]:
    """Return the occurrences of each word in each gene, (4**t, genes)."""
    words = _words(genes, t)
    gene, place = np.nonzero(words >= 0)
    at = words[gene, place] * len(genes) + gene
    return np.bincount(at, minlength=4**t * len(genes)).reshape(-1, len(genes))


def _holders(holds: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """Pack a boolean array (words, genes) into bit masks of the genes, (groups, words)."""
    n_words, n = holds.shape
    groups = -(-n // GROUP)
    padded = np.zeros((n_words, groups * GROUP), np.bool_)
    padded[:, :n] = holds
    packed = np.packbits(padded, axis=1, bitorder="little").view("<u8")
    return np.ascontiguousarray(packed.T).astype(np.uint64)
