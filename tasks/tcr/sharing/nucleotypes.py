"""Grouping of nucleotypes: rows with the same CDR3, V and J, of a sample, an individual, or all.

Tables have the columns

    cdr3 string; v, j, sample int32; copies, place int64

where `place` is the row number over all stores. For amino-acid clonotypes they also have

    aa string; paths double
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.tcr.sharing.kinds import NUCLEOTYPE
from gangsaw.tasks.tcr.sharing.translate import in_frame, translated
from gangsaw.tasks.tcr.store.counts_store import CountsStore, RowRun
from gangsaw.tasks.tcr.store.path_columns import largest_total, read_columns

KEYS = NUCLEOTYPE.keys
AMINO_ACIDS = ("aa", "paths")  # determined by the nucleotype
MOST_COPIES = 1 << 62


def read_rows(store: CountsStore, run: RowRun, sample_numbers: NDArray[np.int32]) -> pa.Table:
    """Read a range of a store's rows: cdr3, v, j, sample, copies, and place.

    The place is the row number over all stores. `sample_numbers` maps the samples of the store to
    those of all stores.
    """
    copies = store.read("copies", run.rows).astype(np.int64)
    if len(copies) and copies.min() < 0:
        raise CorruptChunk("a negative number of copies", store=store.address)
    check_copies(copies.sum(dtype=float))
    columns = {
        "cdr3": pa.array(store.read("cdr3", run.rows).astype(object), pa.string()),
        "v": store.index("v_index", run.rows),
        "j": store.index("j_index", run.rows),
        "sample": sample_numbers[store.index("sample_index", run.rows)],
        "copies": copies,
        "place": np.arange(run.place, run.place + len(run.rows)),
    }
    return pa.table(columns)


def with_amino_acids(rows: pa.Table, store: CountsStore, run: RowRun) -> pa.Table:
    """Return the rows that are in frame, with their amino acids and total numbers of paths.

    Totals are rounded to floats, since their sums over all variants may exceed 64 bits.
    """
    keep = np.flatnonzero(in_frame(rows["cdr3"].combine_chunks()))
    column = largest_total(store)
    paths = read_columns(store, (column,), run.rows, keep)[column.name]
    kept = rows.take(pa.array(keep))
    return kept.append_column("aa", translated(kept["cdr3"].combine_chunks())).append_column(
        "paths", pa.array(paths.astype(float))
    )


def check_copies(total: float) -> None:
    """Raise `BadParams` if sums of copies might not fit 64 bits; no sum exceeds the total.

    The limit is half of the maximum, so that a rounded total suffices.
    """
    if total > MOST_COPIES:
        raise BadParams(f"{total:.3g} copies together: they must not exceed 2^62")


def in_samples(rows: pa.Table) -> pa.Table:
    """Merge the rows of equal nucleotype and sample; sum copies, and keep the first place.

    Grouping before rows are sent to other workers bounds their number: a nucleotype that fills
    whole repertoires has one row per batch and sample.
    """
    more = [name for name in AMINO_ACIDS if name in rows.column_names]
    return _grouped(
        rows, (*KEYS, *more, "sample"), {"copies": ("copies", "sum"), "place": ("place", "min")}
    )


def across_individuals(
    rows: pa.Table,
    of_sample: NDArray[np.int32],
    totals: NDArray[np.int64],
    keys: Sequence[str] = KEYS,
) -> pa.Table:
    """Merge the rows of each receptor over samples and individuals.

    Parameters
    ----------
    rows : all rows of these receptors
    of_sample : (samples,) int32
        Individual of each sample.
    totals : (individuals,) int64
        Copies of all receptors in each individual.
    keys : columns that are equal in rows of one receptor

    Returns
    ------- Table, sorted by place (number of the first row): keys, individuals, samples, copies,
    frequency (mean over the individuals that have it), frequency_sum, place, and owners
    (individuals in ascending order).
    """
    firsts = {"copies": ("copies", "sum"), "place": ("place", "min")}
    per_sample = _grouped(rows, (*keys, "sample"), firsts)
    owner = of_sample[per_sample["sample"].to_numpy()]
    per_individual = _grouped(
        per_sample.append_column("individual", pa.array(owner)),
        (*keys, "individual"),
        firsts | {"samples": ("sample", "count")},
    )
    copies = per_individual["copies"].to_numpy()
    share = copies / np.maximum(totals, 1)[per_individual["individual"].to_numpy()]
    found = _grouped(
        # sorted, so that sums of frequencies do not depend on the partition of rows
        per_individual.append_column("frequency", pa.array(share)).sort_by("individual"),
        keys,
        {
            "individuals": ("individual", "count"),
            "samples": ("samples", "sum"),
            "copies": ("copies", "sum"),
            "frequency": ("frequency", "mean"),
            "frequency_sum": ("frequency", "sum"),
            "place": ("place", "min"),
            "owners": ("individual", "list"),
        },
    )
    return found.sort_by("place")


def variants(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Count the nucleotypes of each clonotype; return place, variants and sum of paths, by place.

    Parameters
    ----------
    rows : all rows of these clonotypes, with paths
    keys : columns that are equal in rows of one clonotype
    """
    each = _grouped(
        rows, dict.fromkeys((*KEYS, *keys)), {"place": ("place", "min"), "paths": ("paths", "min")}
    )
    found = _grouped(
        each.sort_by("place"),  # so that sums of paths do not depend on the partition of rows
        keys,
        {"place": ("place", "min"), "variants": ("place", "count"), "paths": ("paths", "sum")},
    )
    return found.sort_by("place").select(["place", "variants", "paths"])


def total_copies(
    rows: pa.Table, of_sample: NDArray[np.int32], n_individuals: int
) -> NDArray[np.int64]:
    """Return the copies of all rows per individual, (individuals,)."""
    totals = np.zeros(n_individuals, np.int64)
    np.add.at(totals, of_sample[rows["sample"].to_numpy()], rows["copies"].to_numpy())
    return totals


def _grouped(table: pa.Table, keys: Iterable[str], wanted: dict[str, tuple[str, str]]) -> pa.Table:
    """Group by keys; `wanted` maps a new name to (column, aggregate). One thread keeps order."""
    keys = list(keys)
    grouped = table.group_by(keys, use_threads=False).aggregate(list(wanted.values()))
    columns = {key: grouped[key] for key in keys}
    return pa.table(columns | {name: grouped["_".join(how)] for name, how in wanted.items()})


def sharing_counts(individuals: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return the numbers of nucleotypes that exactly 0, 1, 2, ... individuals have."""
    return np.bincount(pc.cast(individuals, pa.int64()).to_numpy())
