"""Columns of path counts: which of a store's counts are held against sharing and frequency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams, GangsawError
from gangsaw.tasks.tcr.counted import CountsStore

Counts = NDArray[np.uint64]
ALL, ZERO, NO_D, DP1 = "all", "zero_length_d", "no_d", "dp1"
BY_D = {"full": "paths_full", ZERO: "paths_zero_length_d"}


@dataclass(frozen=True)
class PathColumn:
    """One count of each reference.

    Attributes
    ----------
    kind : "all" (full of every D that pairs with the J, and no_d), "full", "zero_length_d", "no_d",
        or "dp1" (summed over total n = 0..nu)
    d : D gene or pair of them; "" where there is none
    nu : most n-nucleotides
    pi : longest palindrome; None for DP-1, which counts no sweep
    """

    kind: str
    d: str
    nu: int
    pi: int | None

    @property
    def name(self) -> str:
        """What tables call it."""
        limits = f"nu={self.nu}" if self.pi is None else f"nu={self.nu} pi={self.pi}"
        return " ".join(part for part in (self.kind, self.d, limits) if part)


def path_columns(
    store: CountsStore, nu: Sequence[int] | None, pi: Sequence[int] | None
) -> tuple[PathColumn, ...]:
    """Return the columns for some nu and pi; None takes the largest, () all that were counted.

    Raises
    ------
    BadParams : the store has no counts, or not those of a nu or pi
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
    extents = store.shapes["paths_no_d"]
    kinds = [(kind, d) for kind, name in BY_D.items() for d in d_names(store, name)]
    first = [(ALL, "")] if kinds else []  # of a V-J chain all paths are those without D
    for n in _chosen("nu", nu, extents["nu"]):
        for p in _chosen("pi", pi, extents["pi"]):
            yield from (PathColumn(kind, d, n, p) for kind, d in (*first, *kinds, (NO_D, "")))


def _dp1_columns(store: CountsStore, nu: Sequence[int] | None) -> Iterator[PathColumn]:
    if "dp1_paths" not in store.shapes:
        return
    for n in _chosen("nu", nu, store.shapes["dp1_paths"]["total_n"]):
        for d in d_names(store, "dp1_paths") or ("",):
            yield PathColumn(DP1, d, n, None)


def _chosen(name: str, wanted: Sequence[int] | None, extent: int) -> list[int]:
    if wanted is None:
        return [extent - 1]
    for value in wanted:
        if not 0 <= value < extent:
            raise BadParams(f"{name} must be in 0..{extent - 1} of what was counted, got {value}")
    return sorted(set(wanted)) or list(range(extent))


def d_names(store: CountsStore, variable: str) -> tuple[str, ...]:
    """Return the D genes, or pairs of them, that a variable has."""
    dims = store.shapes.get(variable, {})
    return next((store.names[dim] for dim in ("d_gene", "d_pair") if dim in dims), ())


def read_columns(
    store: CountsStore, columns: Sequence[PathColumn], rows: range, keep: NDArray[np.int64]
) -> dict[str, Counts]:
    """Return (len(keep),) counts by the names of columns, for the rows `rows[keep]`."""
    found: dict[str, Counts] = {}
    for kind in dict.fromkeys(column.kind for column in columns):
        own = [column for column in columns if column.kind == kind]
        found |= _READERS[kind](store, own, rows, keep)
    return {column.name: found[column.name] for column in columns}


def _read_by_d(
    store: CountsStore, columns: Sequence[PathColumn], rows: range, keep: NDArray[np.int64]
) -> dict[str, Counts]:
    variable = BY_D[columns[0].kind]
    names = d_names(store, variable)
    counts = store.read(variable, rows)[keep]
    return {c.name: counts[:, names.index(c.d), c.nu, c.pi] for c in columns}


def _read_no_d(
    store: CountsStore, columns: Sequence[PathColumn], rows: range, keep: NDArray[np.int64]
) -> dict[str, Counts]:
    counts = store.read("paths_no_d", rows)[keep]
    return {c.name: counts[:, c.nu, c.pi] for c in columns}


def _read_dp1(
    store: CountsStore, columns: Sequence[PathColumn], rows: range, keep: NDArray[np.int64]
) -> dict[str, Counts]:
    names = d_names(store, "dp1_paths")
    counts = store.read("dp1_paths", rows)[keep]
    of_d = {d: counts[:, i] for i, d in enumerate(names)} or {"": counts}
    return {c.name: exact_sum(of_d[c.d].T[: c.nu + 1], store) for c in columns}


def _read_all(
    store: CountsStore, columns: Sequence[PathColumn], rows: range, keep: NDArray[np.int64]
) -> dict[str, Counts]:
    """Sum over the ways to choose D: only those that pair with the J."""
    full = store.read("paths_full", rows)[keep]
    no_d = store.read("paths_no_d", rows)[keep]
    pairs = pairing(store, rows)[keep]
    if "d_gene" in store.shapes["paths_full"]:  # two D genes in a row, of a delta chain, may all
        full = np.where(pairs[:, :, None, None], full, np.uint64(0))
    return {
        c.name: exact_sum([*full[:, :, c.nu, c.pi].T, no_d[:, c.nu, c.pi]], store) for c in columns
    }


_READERS: dict[str, Any] = {
    ALL: _read_all,
    NO_D: _read_no_d,
    DP1: _read_dp1,
    **dict.fromkeys(BY_D, _read_by_d),
}


def pairing(store: CountsStore, rows: range) -> NDArray[np.bool_]:
    """Return (rows, D genes) whether each D gene pairs with the J of a row; TRBD2 does with J2."""
    if "d_pairs_with_j" not in store.shapes:
        return np.ones((len(rows), len(store.names["d_gene"])), bool)
    table = store.read("d_pairs_with_j", range(len(store.names["d_gene"])))
    return np.asarray(table, bool)[:, store.index("j_index", rows)].T


def exact_sum(parts: Any, store: CountsStore) -> Counts:
    """Return the sum of counts; raise GangsawError where it needs more than 64 bits."""
    total: Counts = np.zeros_like(parts[0])
    for part in parts:
        total = total + part
        if (total < part).any():
            raise GangsawError(
                f"{store}: a sum of path counts exceeds 64 bits: choose a smaller nu"
            )
    return total
