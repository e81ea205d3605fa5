"""Predictors of sharing from the region calls: deletions, palindromes, n-nucleotides.

Of the D genes that can be joined to the J, the one with the longest match represents the reference;
of several, the one with the fewest nucleotides at its sides. (Selecting the first of several made
N2 depend on the order of the D genes.)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gangsaw.tasks.tcr.model.nucleotides import NUCLEOTIDES
from gangsaw.tasks.tcr.store.counts_store import CountsStore
from gangsaw.tasks.tcr.store.path_columns import pairing

Calls = NDArray[np.int16]
ENDS = ("v", "j")
D_DISTANCES = ("vd_distance", "dj_distance")
NEVER = np.int64(-(1 << 32))  # below all scores of D genes
BEST = "d_index"
D_LENGTH = "d_gene_length"  # [d_gene], germline lengths


def read_predictors(store: CountsStore, rows: range, keep: NDArray[np.int64]) -> dict[str, Calls]:
    """Return the nucleotides of each call, (len(keep),) int16, for the rows `rows[keep]`.

    v_erosion, j_erosion, d_erosion : germline nucleotides that are not matched
    v_p, j_p, d_p : matched nucleotides beyond the germline
    d_match : replaces the two of D if the store lacks the lengths of D genes
    d5_erosion, d5_p, d3_erosion, d3_p : replace the two of D in a store of totals
    n1, n2, ndn : lengths between V and D, D and J, V and J; 0 if they overlap
    n1_a, ... : numbers of A, T, C, G in these; in a store of totals only for ndn
    """
    found: dict[str, Calls] = {}
    for end in ENDS:
        germline, match = (
            _read(store, f"{end}_{what}", rows)[keep] for what in ("length", "match")
        )
        found |= _erosion(end, germline, match)
    if has_each_d(store):
        best = _best_d(store, rows)
        found |= _d_predictors(store, rows, best, keep)
        for junction, distance in zip(("n1", "n2"), D_DISTANCES, strict=True):
            found[junction] = _length(_of_best(_read(store, distance, rows), best)[keep])
            composition = _of_best(_read(store, f"{junction}_composition", rows), best)[keep]
            found |= dict(_nucleotides(junction, composition))
    elif BEST in store.shapes:
        found |= _stored_ends(store, rows, keep)
    found["ndn"] = _length(_read(store, "vj_distance", rows)[keep])
    found |= dict(_nucleotides("ndn", _read(store, "ndn_composition", rows)[keep]))
    return found


def has_each_d(store: CountsStore) -> bool:
    """Return True if the store has calls of each D gene."""
    return "d_length" in store.shapes


def _stored_ends(store: CountsStore, rows: range, keep: NDArray[np.int64]) -> dict[str, Calls]:
    """Return the predictors of the best D gene from a store of totals; 0 without D."""
    found: dict[str, Calls] = {}
    for end in ("d5", "d3"):
        lacks = _read(store, f"{end}_erosion", rows)[keep]
        found |= _erosion(end, lacks, np.zeros_like(lacks))
    for junction in ("n1", "n2"):
        found[junction] = _length(_read(store, f"{junction}_length", rows)[keep])
    return found


def predictor_names(store: CountsStore) -> tuple[str, ...]:
    """Return the names of the predictors that `read_predictors` returns."""
    return tuple(read_predictors(store, range(1), np.zeros(0, np.int64)))


def _read(store: CountsStore, name: str, rows: range) -> Calls:
    return np.asarray(store.read(name, rows), np.int16)


def _erosion(end: str, germline: NDArray[np.int16], match: NDArray[np.int16]) -> dict[str, Calls]:
    return {f"{end}_erosion": _length(germline - match), f"{end}_p": _length(match - germline)}


def _d_predictors(
    store: CountsStore, rows: range, best: NDArray[np.int64], keep: NDArray[np.int64]
) -> dict[str, Calls]:
    match = _of_best(_read(store, "d_length", rows), best)[keep]
    if D_LENGTH not in store.shapes:
        return {"d_match": match}
    germline = store.read(D_LENGTH, range(len(store.names["d_gene"]))).astype(np.int16)
    return _erosion("d", germline[best[keep]], match)


def _best_d(store: CountsStore, rows: range) -> NDArray[np.int64]:
    n_nucleotides = sum(_length(_read(store, name, rows)).astype(np.int64) for name in D_DISTANCES)
    score = (store.read("d_length", rows).astype(np.int64) << 16) - n_nucleotides
    best: NDArray[np.int64] = np.where(pairing(store, rows), score, NEVER).argmax(axis=1)
    return best


def _of_best(values: NDArray[np.int16], best: NDArray[np.int64]) -> Calls:
    found: NDArray[np.int16] = values[np.arange(len(best)), best]
    return found


def _length(distance: NDArray[np.int16]) -> Calls:
    return np.maximum(distance, 0).astype(np.int16)


def _nucleotides(junction: str, counts: NDArray[np.int16]) -> Iterator[tuple[str, Calls]]:
    for i, nucleotide in enumerate(NUCLEOTIDES):
        yield f"{junction}_{nucleotide.lower()}", counts[:, i]
