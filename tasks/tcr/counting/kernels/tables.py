"""Kernel tables: gene parts with their palindromes, bit masks of D, multiplicities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.nucleotides.codes import reverse_complement_sets
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.tcr.counting.kernels.batch import Batch
from gangsaw.tasks.tcr.counting.kernels.d_words import DWords, make_words
from gangsaw.tasks.tcr.model import MAX_P, Model
from gangsaw.tasks.tcr.model.nucleotides import Codes

END_CLASSES = MAX_P + 1  # classes of a gene end: no palindrome symbol, or 1..4
D_CLASSES = END_CLASSES**2  # pairs of classes, of the J-side end and of the V-side end
WORD = 64  # longest D gene with its palindromes, in symbols, whose masks are one word
WORD_D = WORD - 2 * MAX_P  # masks of longer D genes have only the first symbols
MANY = 8  # fewest D genes looked up by words: for fewer, the tables cost more than a search
PI_LANES = 8  # pi = 0..4, padded to a vector


class Tables(NamedTuple):
    """Read-only kernel arrays of a batch and a model: gene codes, bit masks, multiplicities.

    Attributes
    ----------
    v, v_starts : V parts with their palindromes, concatenated
    j, j_starts : J parts with their palindromes, reversed, so that both are matched forward
    v_germline, j_germline, d_germline : int64, lengths without palindromes
    d : (D genes * 16) uint64; bit k of d[16 * gene + code] is set if symbol k of the D gene with
        its right palindrome can be `code` (DP-2)
    d_both : the same for the D gene with both palindromes (DP-1)
    d_codes, d_starts : D genes with both palindromes, concatenated
    weights : (pairs of V and J classes * per_pair * PI_LANES) uint32: multiplicities by pi; of the
        rows of a pair, 0..24 belong to classes of D, 25 to no D, 26 + d to an empty D
    end_weights : (END_CLASSES * PI_LANES) uint32: multiplicities of one end
    d_weights : ((D_CLASSES + D genes) * PI_LANES) uint32: multiplicities of the classes of D, and
        of an empty D
    empty_d : (D genes * nu * pi) uint64: ways to delete each D completely, in the order of counts
    first_equal : (D genes) int64: the first gene with the same sequence, whose counts are copied
    words : word tables of the D genes
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
    """Return the kernel tables for the germline parts of a batch and for a model."""
    p = model.max_p
    genes = list(batch.d)
    sizes, texts = [len(gene) for gene in genes], [gene.tobytes() for gene in genes]
    right = [with_right(gene, p) for gene in genes]
    both = [with_left(extended, p, gene) for extended, gene in zip(right, genes, strict=True)]
    v = RaggedArray.from_rows([with_right(part, p) for part in batch.v])
    j = RaggedArray.from_rows([with_left(part, p)[::-1] for part in batch.j])
    kept = slice(None) if len(genes) >= MANY else slice(0)
    weights, end_weights, d_weights = _weights(model, sizes)
    return Tables(
        *v.arrays,
        batch.v.lengths,
        *j.arrays,
        batch.j.lengths,
        _masks(right),
        _masks(both),
        *RaggedArray.from_rows(both).arrays,
        batch.d.lengths,
        weights,
        end_weights,
        d_weights,
        np.repeat(empty_d_weights(model, sizes)[:, None, : p + 1], model.max_n + 1, 1).ravel(),
        np.array([texts.index(own) for own in texts], np.int64),
        make_words(genes[kept], right[kept], both[kept], WORD),
    )


def with_right(part: Codes, p: int) -> Codes:
    """Append p palindrome symbols to the right end of a germline part."""
    return np.concatenate([part, reverse_complement_sets(part)[:p]])


def with_left(part: Codes, p: int, end: Codes | None = None) -> Codes:
    """Prepend p palindrome symbols of its left end, or of the left end of `end`, to a part."""
    other = reverse_complement_sets(part if end is None else end)
    return np.concatenate([other[max(0, len(other) - p) :], part])


def _masks(genes: list[Codes]) -> npt.NDArray[np.uint64]:
    """Return the bit masks `Tables.d`, (genes * 16) uint64, of the first WORD symbols of genes."""
    masks = np.zeros((len(genes), 16), np.uint64)
    codes = np.arange(16, dtype=np.uint8)[:, None]
    for mask, gene in zip(masks, genes, strict=True):
        first = gene[:WORD]
        bits = np.uint64(1) << np.arange(len(first), dtype=np.uint64)
        mask[:] = np.where(codes & first, bits, np.uint64(0)).sum(axis=1, dtype=np.uint64)
    return masks.ravel()


def end_ways(model: Model) -> npt.NDArray[np.uint64]:
    """Return the number of ways to a gene end with p palindrome symbols, for each limit pi.

    The result is (END_CLASSES, PI_LANES), by p and pi, zero-padded.
    """
    ways = np.zeros((END_CLASSES, PI_LANES), np.uint64)
    for p in range(END_CLASSES):
        for pi in range(model.max_p + 1):
            ways[p, pi] = model.ways(p, pi)
    return ways


def empty_d_weights(model: Model, d_lengths: list[int]) -> npt.NDArray[np.uint64]:
    """Return the number of ways to delete each D gene completely, (D genes, PI_LANES), by pi."""
    ways = np.zeros((len(d_lengths), PI_LANES), np.uint64)
    for gene, length in enumerate(d_lengths):
        for pi in range(model.max_p + 1):
            ways[gene, pi] = model.empty_d_ways(length, pi)
    return ways


def _weights(model: Model, d_lengths: list[int]) -> tuple[npt.NDArray[np.uint32], ...]:
    """Return the numbers of ways to reach gene ends by deletion and palindromes, per table.

    The arrays are the fields `weights` (pairs of ends and a D), `end_weights` (one end) and
    `d_weights` (both ends of a D) of `Tables`; `d_lengths` are the lengths of the D genes.
    """
    ends = end_ways(model)
    of_d = (ends[:, None] * ends).reshape(D_CLASSES, PI_LANES)
    empty = empty_d_weights(model, d_lengths)
    middle = np.concatenate([of_d, np.ones((1, PI_LANES), np.uint64), empty])
    pairs = (ends[:, None] * ends).reshape(-1, 1, PI_LANES)
    # 32 bits are enough: at most 9^4, or 9^2 times 20,835 ways to empty a D of 255 symbols
    tables = (pairs * middle, ends, np.concatenate([of_d, empty]))
    return tuple(table.astype(np.uint32).ravel() for table in tables)
