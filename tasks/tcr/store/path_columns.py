"""Columns of path counts: selection of a store's counts to compare with sharing and frequency."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams, GangsawError
from gangsaw.tasks.tcr.counting.paths.dataset import N_DIM, P_DIM, TOTAL_DIM
from gangsaw.tasks.tcr.counting.paths.totals import MOST, strip_alleles
from gangsaw.tasks.tcr.store.counts_store import CountsStore

Counts = NDArray[np.uint64]
TOO_MANY = "{store}: the sum of paths '{column}' exceeds 64 bits: count with a smaller --max-n"
ALL, ZERO, NO_D, DP1 = "all", "zero_length_d", "no_d", "dp1"
BY_D = {"full": "paths_full", ZERO: "paths_zero_length_d"}
TOTAL = "paths_total"
COUNT_VARIABLES = (*BY_D.values(), TOTAL, "paths_no_d", "dp1_paths")


@dataclass(frozen=True)
class PathColumn:
    """Column of path counts, one per reference.

    Attributes
    ----------
    kind : "all", "full", "zero_length_d", "no_d", or "dp1" (summed over total n = 0..nu). "all" is
        no_d, plus full of each D gene that can be joined to the J (maximum over its alleles)
    d : D gene or pair of them; "" without D
    nu : maximum of n-nucleotides
    pi : longest palindrome; None for DP-1, which does not sweep it
    """

    kind: str
    d: str
    nu: int
    pi: int | None

    @property
    def name(self) -> str:
        """Name of the column in tables."""
        limits = f"nu={self.nu}" if self.pi is None else f"nu={self.nu} pi={self.pi}"
        return " ".join(part for part in (self.kind, self.d, limits) if part)


def path_columns(
    store: CountsStore, nu: Sequence[int] | None, pi: Sequence[int] | None
) -> tuple[PathColumn, ...]:
    """Return the columns for some nu and pi; None selects the largest, () all that were counted.

    Raises
    ------
    BadParams : the store has no counts, or lacks a requested nu or pi
    """
    found = [*_dp2_columns(store, nu, pi), *_dp1_columns(store, nu)]
    if not found:
        raise BadParams(f"{store} holds no path counts")
    return tuple(found)


def _dp2_columns(
    store: CountsStore, nu: Sequence[int] | None, pi: Sequence[int] | None
) -> Iterator[PathColumn]:
    if "paths_no_d" not in store.shapes:
        return
    kinds = [(kind, d) for kind, name in BY_D.items() for d in d_names(store, name)]
    # all paths of a V-J chain are those without D
    first = [(ALL, "")] if kinds or store.names["d_gene"] else []
    for n in _chosen(store, "nu", nu, N_DIM):
        for p in _chosen(store, "pi", pi, P_DIM):
            yield from (PathColumn(kind, d, n, p) for kind, d in (*first, *kinds, (NO_D, "")))


def _dp1_columns(store: CountsStore, nu: Sequence[int] | None) -> Iterator[PathColumn]:
    if "dp1_paths" not in store.shapes:
        return
    for n in _chosen(store, "nu", nu, TOTAL_DIM):
        for d in d_names(store, "dp1_paths") or ("",):
            yield PathColumn(DP1, d, n, None)


def _chosen(store: CountsStore, name: str, wanted: Sequence[int] | None, dim: str) -> list[int]:
    known = store.limits[dim]
    if wanted is None:
        return [known[-1]]
    for limit in wanted:
        store.place(name, dim, limit)
    return sorted(set(wanted)) or list(known)


def d_names(store: CountsStore, variable: str) -> tuple[str, ...]:
    """Return the D genes, or pairs of them, of a variable."""
    dims = store.shapes.get(variable, {})
    return next((store.names[dim] for dim in ("d_gene", "d_pair") if dim in dims), ())


def largest_total(store: CountsStore) -> PathColumn:
    """Return the count of all paths at the largest limits; that of DP-1 if there is no other."""
    columns = path_columns(store, None, None)
    return next(column for kind in (ALL, NO_D, DP1) for column in columns if column.kind == kind)


def read_columns(
    store: CountsStore, columns: Sequence[PathColumn], rows: range, keep: NDArray[np.int64]
) -> dict[str, Counts]:
    """Return the counts (len(keep),) of each column by name, for the rows `rows[keep]`."""
    reader = _Reader(store, rows, keep)
    order = sorted(columns, key=lambda column: list(_READ).index(column.kind))
    found = {column.name: _READ[column.kind](reader, column) for column in order}
    return {column.name: found[column.name] for column in columns}


class _Reader:
    """Reader of path columns for a range of rows; it caches up to two (large) variables."""

    def __init__(self, store: CountsStore, rows: range, keep: NDArray[np.int64]) -> None:
        self.store, self.rows, self.keep = store, rows, keep
        self._held: dict[str, Counts] = {}

    def variable(self, name: str) -> Counts:
        # lru_cache would form a cycle with this object, which keeps arrays until the next
        # collection
        if name not in self._held:
            for oldest in list(self._held)[:-1]:
                del self._held[oldest]
            self._held[name] = np.asarray(self.store.read(name, self.rows), np.uint64)
        return self._held[name]

    def by_d(self, column: PathColumn) -> Counts:
        name = BY_D[column.kind]
        return self._of_d(name, d_names(self.store, name).index(column.d), column)

    def _of_d(self, name: str, i: int, column: PathColumn) -> Counts:
        return self.variable(name)[:, i, *self._place(column)][self.keep]

    def no_d(self, column: PathColumn) -> Counts:
        return self.variable("paths_no_d")[:, *self._place(column)][self.keep]

    def _place(self, column: PathColumn) -> tuple[int, int]:
        """Return the indices of a column's limits along nu and pi."""
        assert column.pi is not None, "DP-1 alone sweeps no pi"
        place = self.store.place
        return place("nu", N_DIM, column.nu), place("pi", P_DIM, column.pi)

    def dp1(self, column: PathColumn) -> Counts:
        counts = self.variable("dp1_paths")
        names = d_names(self.store, "dp1_paths")
        of_d = counts[:, names.index(column.d)] if names else counts
        return self._sum(of_d[self.keep, : column.nu + 1].T, column)

    def all(self, column: PathColumn) -> Counts:
        """Return the sum over D genes that can be joined to the J, and no D.

        Alleles of one gene differ in a nucleotide or two, so most of their paths are the same. So
        the allele with the most paths represents its gene.
        """
        if TOTAL in self.store.shapes:
            return self._total(column)
        parts: dict[str, Counts] = {"": self.no_d(column)}
        for i, name in enumerate(d_names(self.store, BY_D["full"])):
            gene, own = strip_alleles(name), self._paired(i, column)
            parts[gene] = np.maximum(parts[gene], own) if gene in parts else own
        return self._sum(list(parts.values()), column)

    def _total(self, column: PathColumn) -> Counts:
        total = self.variable(TOTAL)[:, *self._place(column)][self.keep]
        if len(total) and total.max() == MOST:
            raise self._too_many(column)
        return total

    def _sum(self, parts: Sequence[Counts] | Counts, column: PathColumn) -> Counts:
        total = exact_sum(parts)
        if total is None:
            raise self._too_many(column)
        return total

    def _too_many(self, column: PathColumn) -> GangsawError:
        # the total always has the largest limits, so another nu does not help
        return GangsawError(TOO_MANY.format(store=self.store, column=column.name))

    def _paired(self, i: int, column: PathColumn) -> Counts:
        full = BY_D["full"]
        # two D genes in a row, of a delta chain, can be joined to any J
        pairs = self.pairs[:, i] if "d_gene" in self.store.shapes[full] else True
        return np.where(pairs, self._of_d(full, i, column), np.uint64(0))

    @cached_property
    def pairs(self) -> NDArray[np.bool_]:
        return pairing(self.store, self.rows)[self.keep]


# in this order each variable is read once, except the small paths_no_d
_READ: dict[str, Callable[[_Reader, PathColumn], Counts]] = {
    ALL: _Reader.all,
    "full": _Reader.by_d,
    ZERO: _Reader.by_d,
    NO_D: _Reader.no_d,
    DP1: _Reader.dp1,
}


def pairing(store: CountsStore, rows: range) -> NDArray[np.bool_]:
    """Return a mask (rows, D genes) of genes that can be joined to a row's J: TRBD2 only to J2."""
    if "d_pairs_with_j" not in store.shapes:
        return np.ones((len(rows), len(store.names["d_gene"])), bool)
    table = store.read("d_pairs_with_j", range(len(store.names["d_gene"])))
    return np.asarray(table, bool)[:, store.index("j_index", rows)].T


def exact_sum(parts: Sequence[Counts] | Counts) -> Counts | None:
    """Return the sum of counts, or None if it exceeds 64 bits."""
    total: Counts = np.zeros_like(parts[0])
    for part in parts:
        total = total + part
        if (total < part).any():
            return None
    return total
