"""Tables of the kernels: gene parts with their palindromes, bit masks of D, multiplicities."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.nucleotides.codes import turned_sets
from gangsaw.tasks.tcr.kernels.batch import Batch, Sequences
from gangsaw.tasks.tcr.kernels.d_words import DWords, make_words
from gangsaw.tasks.tcr.model import MAX_P, Model
from gangsaw.tasks.tcr.model.nucleotides import Codes, ragged

END_CLASSES = MAX_P + 1  # a gene end has 0, or 1..4 symbols of its palindrome
D_CLASSES = END_CLASSES**2  # those of the J-side end, times those of the V-side end
WORD = 64  # symbols of a D gene with its palindromes whose masks are one word
WORD_D = WORD - 2 * MAX_P  # of longer D genes only the first symbols are there as masks
MANY = 8  # D genes that are looked up by words; to make those takes longer than to search in fewer
PI_LANES = 8  # pi = 0..4, and what makes a vector of them


class Tables(NamedTuple):
    """Read-only arrays of a batch and a model.

    Attributes
    ----------
    v, v_starts : V parts with their palindrome, back to back
    j, j_starts : J parts with their palindrome, reversed: matching runs forward in both
    v_germline, j_germline, d_germline : int64, lengths without palindromes
    d : (D genes * 16) uint64; bit k of d[16 * gene + code] says whether symbol k of the D gene with
        its right palindrome can be `code` (DP-2)
    d_both : the same of the D gene with both palindromes (DP-1)
    d_codes, d_starts : D genes with both palindromes, back to back
    weights : (pairs of V and J classes * per_pair * PI_LANES) uint32: multiplicities by pi, of
        which row 0..24 of a pair is for a class of D, row 25 for no D, row 26 + d for an empty D
    end_weights : (END_CLASSES * PI_LANES) uint32: multiplicities of one end
    d_weights : ((D_CLASSES + D genes) * PI_LANES) uint32: those of the classes of D, of an empty D
    empty_d : (D genes * nu * pi) uint64: ways to erode each D completely, in the order of counts
    first_equal : (D genes) int64: the first gene with the same sequence; its counts are theirs
    words : of the D genes
    """

    v: Codes
    v_starts: npt.NDArray[np.int64]
    v_germline: npt.NDArray[np.int64]
    j: Codes
    j_starts: npt.NDArray[np.int64]
    j_germline: npt.NDArray[np.int64]
    d: npt.NDArray[np.uint64]
    d_both: npt.NDArray[np.uint64]
    d_codes: Codes
    d_starts: npt.NDArray[np.int64]
    d_germline: npt.NDArray[np.int64]
    weights: npt.NDArray[np.uint32]
    end_weights: npt.NDArray[np.uint32]
    d_weights: npt.NDArray[np.uint32]
    empty_d: npt.NDArray[np.uint64]
    first_equal: npt.NDArray[np.int64]
    words: DWords


def make_tables(batch: Batch, model: Model) -> Tables:
    """Return the tables for these germline parts and this model."""
    p = model.max_p
    genes = parts_of(batch.d)
    sizes, texts = [len(gene) for gene in genes], [gene.tobytes() for gene in genes]
    right = [with_right(gene, p) for gene in genes]
    both = [with_left(extended, p, gene) for extended, gene in zip(right, genes, strict=True)]
    v = ragged([with_right(part, p) for part in parts_of(batch.v)])
    j = ragged([with_left(part, p)[::-1] for part in parts_of(batch.j)])
    kept = slice(None) if len(genes) >= MANY else slice(0)
    weights, end_weights, d_weights = _weights(model, sizes)
    return Tables(
        *v,
        np.diff(batch.v.starts),
        *j,
        np.diff(batch.j.starts),
        _masks(right),
        _masks(both),
        *ragged(both),
        np.diff(batch.d.starts),
        weights,
        end_weights,
        d_weights,
        np.repeat(empty_d_weights(model, sizes)[:, None, : p + 1], model.max_n + 1, 1).ravel(),
        np.array([texts.index(own) for own in texts], np.int64),
        make_words(genes[kept], right[kept], both[kept], WORD),
    )


def with_right(part: Codes, p: int) -> Codes:
    """Return a part followed by p symbols of the palindrome of its right end."""
    return np.concatenate([part, turned_sets(part)[:p]])


def with_left(part: Codes, p: int, end: Codes | None = None) -> Codes:
    """Return a part after p symbols of the palindrome of its left end (that of `end`, if given)."""
    other = turned_sets(part if end is None else end)
    return np.concatenate([other[max(0, len(other) - p) :], part])


def _masks(genes: list[Codes]) -> npt.NDArray[np.uint64]:
    """(genes * 16) uint64: at which symbols of a gene, of its first WORD, each code is possible."""
    masks = np.zeros((len(genes), 16), np.uint64)
    codes = np.arange(16, dtype=np.uint8)[:, None]
    for mask, gene in zip(masks, genes, strict=True):
        first = gene[:WORD]
        bits = np.uint64(1) << np.arange(len(first), dtype=np.uint64)
        mask[:] = np.where(codes & first, bits, np.uint64(0)).sum(axis=1, dtype=np.uint64)
    return masks.ravel()


def end_ways(model: Model) -> npt.NDArray[np.uint64]:
    """(END_CLASSES, PI_LANES): ways to an end with p symbols of palindrome; 0 beyond the sweep."""
    ways = np.zeros((END_CLASSES, PI_LANES), np.uint64)
    for p in range(END_CLASSES):
        for pi in range(model.max_p + 1):
            ways[p, pi] = model.ways(p, pi)
    return ways


def empty_d_weights(model: Model, d_lengths: list[int]) -> npt.NDArray[np.uint64]:
    """(D genes, PI_LANES): ways to erode each D completely."""
    ways = np.zeros((len(d_lengths), PI_LANES), np.uint64)
    for gene, length in enumerate(d_lengths):
        for pi in range(model.max_p + 1):
            ways[gene, pi] = model.empty_d_ways(length, pi)
    return ways


def _weights(model: Model, d_lengths: list[int]) -> tuple[npt.NDArray[np.uint32], ...]:
    """Return weights, end_weights and d_weights of Tables."""
    ends = end_ways(model)
    of_d = (ends[:, None] * ends).reshape(D_CLASSES, PI_LANES)
    empty = empty_d_weights(model, d_lengths)
    middle = np.concatenate([of_d, np.ones((1, PI_LANES), np.uint64), empty])
    pairs = (ends[:, None] * ends).reshape(-1, 1, PI_LANES)
    # at most 9^4, or 9^2 times 20,835 ways to empty a D of 255 symbols: 32 bits
    tables = (pairs * middle, ends, np.concatenate([of_d, empty]))
    return tuple(table.astype(np.uint32).ravel() for table in tables)


def parts_of(sequences: Sequences) -> list[Codes]:
    """Return each sequence as a view."""
    bounds = sequences.starts.tolist()
    return [sequences.codes[a:b] for a, b in pairwise(bounds)]
