"""Synthetic references: random, seeded recombinations of genes, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.tcr.counting.kernels.batch import Batch
from gangsaw.tasks.tcr.counting.kernels.tables import with_left, with_right
from gangsaw.tasks.tcr.model import MAX_P
from gangsaw.tasks.tcr.model.nucleotides import Codes, strict

Ints = npt.NDArray[np.int64]
# 0..8 deleted symbols of a gene end, or in 4 of 22 cases a palindrome of 1..4
LOST = np.array([*range(9), *range(9), -1, -2, -3, -4])
MEAN_N = 3  # n-nucleotides of a junction, geometrically distributed, at most MOST_N
MOST_N = 12


def random_batch(
    v: Sequence[str], d: Sequence[str], j: Sequence[str], n: int, seed: int = 0
) -> Batch:
    """Return n references: random V, D and J with deletions or palindromes, and n-strings.

    Parameters
    ----------
    v, d, j : germline parts of at least 4 nucleotides; no d for V-J chains
    n : number of references
    seed : equal seeds give equal references
    """
    rng = np.random.default_rng(seed)
    genes = {"v": _codes(v), "d": _codes(d), "j": _codes(j)}
    chosen = {name: rng.integers(0, max(1, len(parts)), n) for name, parts in genes.items()}
    pool, pieces = _pieces(genes, chosen, n, rng)
    return Batch(
        _joined(pool, pieces),
        RaggedArray.from_rows(genes["v"]),
        RaggedArray.from_rows(genes["j"]),
        chosen["v"].astype(np.int32),
        chosen["j"].astype(np.int32),
        RaggedArray.from_rows(genes["d"]),
    )


def _codes(parts: Sequence[str]) -> list[Codes]:
    return [strict(part, f"part {i}") for i, part in enumerate(parts)]


def _pieces(
    genes: dict[str, list[Codes]], chosen: dict[str, Ints], n: int, rng: np.random.Generator
) -> tuple[Codes, Ints]:
    """Return a pool of codes, and the ranges (n, k, 2) in it of each reference's k fragments."""
    extended = [with_right(part, MAX_P) for part in genes["v"]]
    extended += [with_left(with_right(part, MAX_P), MAX_P, part) for part in genes["d"]]
    extended += [with_left(part, MAX_P) for part in genes["j"]]
    random = (1 << rng.integers(0, 4, 4096)).astype(np.uint8)
    pool, starts = RaggedArray.from_rows([*extended, random]).arrays
    n_v, n_d = len(genes["v"]), len(genes["d"])
    # a gene end in the pool has MAX_P palindrome symbols: deletions first remove these
    lost = MAX_P + LOST[rng.integers(0, len(LOST), (4, n))]
    v, d, j = chosen["v"], n_v + chosen["d"], n_v + n_d + chosen["j"]
    pieces = [_cut(starts, v, 0, lost[0]), _n_string(starts, n, rng)]
    if n_d:
        pieces += [_cut(starts, d, lost[1], lost[2]), _n_string(starts, n, rng)]
    return pool, np.stack([*pieces, _cut(starts, j, lost[3], 0)], axis=1)


def _cut(starts: Ints, part: Ints, left: Ints | int, right: Ints | int) -> Ints:
    """Return the pool ranges (n, 2) of parts, shortened by `left` and `right` symbols."""
    first = np.minimum(starts[part] + left, starts[part + 1])
    return np.stack([first, np.maximum(first, starts[part + 1] - right)], axis=1)


def _n_string(starts: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Return n random N insertions as ranges (n, 2) of random bases.

    The bases are at the end of the pool of codes; `starts` are the offsets of the pool's parts.
    """
    length = np.minimum(rng.geometric(1 / (1 + MEAN_N), n) - 1, MOST_N)
    first = rng.integers(starts[-2], starts[-1] - MOST_N, n)
    return np.stack([first, first + length], axis=1)


def _joined(pool: Codes, pieces: Ints) -> RaggedArray:
    """Concatenate the fragments of each reference; use the first code if all are empty."""
    firsts, stops = np.moveaxis(pieces, -1, 0)
    lengths = stops - firsts
    lengths[lengths.sum(axis=1) == 0, 0] = 1
    begins = firsts.ravel()
    fragments = RaggedArray.gather(pool, begins, begins + lengths.ravel())
    return fragments.join_rows(firsts.shape[1])
