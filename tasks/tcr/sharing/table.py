"""Table of shared nucleotypes, and counters filled while it is written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from gangsaw.tasks.engine.report.progress import Meter
from gangsaw.tasks.tcr.sharing.individuals import Individuals
from gangsaw.tasks.tcr.sharing.kinds import Receptor
from gangsaw.tasks.tcr.sharing.nucleotypes import sharing_counts
from gangsaw.tasks.tcr.sharing.overlaps import shared_counts
from gangsaw.tasks.tcr.sharing.partitions import read_partition
from gangsaw.tasks.tcr.store.counts_store import CountsStore

GROUP_ROWS = 1 << 16  # rows of a row group: joins with the counts read few unneeded rows
SHARED = 2  # individuals from which on a nucleotype is "shared"
METADATA = b"gangsaw"


@dataclass
class SharingCounters:
    """Counters over the rows of a table.

    Attributes
    ----------
    n : number of individuals
    counts : (n + 1,) rows that exactly 0, 1, 2, ... individuals have
    pairs : (n, n) rows that both individuals have; the diagonal has the rows of each
    variants : (n + 1,) nucleotypes in the rows that 0, 1, 2, ... individuals have
    """

    n: int
    counts: NDArray[np.int64] = field(init=False)
    pairs: NDArray[np.int64] = field(init=False)
    variants: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        """Allocate the counters."""
        self.counts, self.variants = np.zeros((2, self.n + 1), np.int64)
        self.pairs = np.zeros((self.n, self.n), np.int64)

    def add(self, rows: pa.Table) -> None:
        """Add rows of the table."""
        some = sharing_counts(rows["individuals"])
        self.counts[: len(some)] += some
        self.pairs += shared_counts(rows["owners"].combine_chunks(), self.n)
        if "variants" in rows.column_names:
            weights = rows["variants"].to_numpy()
            np.add.at(self.variants, rows["individuals"].to_numpy(), weights)

    def mean_variants(self) -> dict[int, float]:
        """Return the mean variants of rows by number of individuals; empty for nucleotypes."""
        rows = enumerate(zip(self.variants.tolist(), self.counts.tolist(), strict=True))
        return {k: total / n for k, (total, n) in rows if total}


def write_sharing_table(
    path: Path,
    groups: Sequence[Path],
    stores: Sequence[CountsStore],
    people: Individuals,
    kind: Receptor,
    meter: Meter,
) -> SharingCounters:
    """Write the table of `share`, one partition of the files `groups` at a time.

    Return counters of its rows.
    """
    tally = SharingCounters(len(people.names))
    writer: pq.ParquetWriter | None = None
    try:
        for part in range(len(groups)):
            found = _finished(read_partition(groups, part).sort_by("place"), stores, kind)
            if writer is None:
                schema = found.schema.with_metadata({METADATA: _metadata(stores, people, kind)})
                writer = pq.ParquetWriter(path, schema, compression="zstd")
            writer.write_table(found.cast(writer.schema), row_group_size=GROUP_ROWS)
            tally.add(found)
            meter.add(1, 0, 0)
    finally:
        if writer is not None:
            writer.close()
    return tally


def _finished(found: pa.Table, stores: Sequence[CountsStore], kind: Receptor) -> pa.Table:
    """Return merged rows in the columns of the table of `share`, with gene names.

    The place becomes the store and row of origin.
    """
    begins = np.cumsum([0, *(store.rows for store in stores)])
    place = found["place"].to_numpy()
    store = np.searchsorted(begins, place, "right") - 1
    people = found["individuals"].to_numpy()
    columns = {TITLES.get(key, key): _key(found[key], key, stores[0]) for key in kind.keys}
    columns |= {
        "individuals": pa.array(people.astype(np.int32)),
        "samples": found["samples"].cast(pa.int32()),
        "copies": found["copies"],
        "frequency": found["frequency"],
        "frequency_sum": found["frequency_sum"],
        "first_store": pa.array(store.astype(np.int32)),
        "first_reference": pa.array(place - begins[store]),
        "shared": pa.array(people >= SHARED),
        "owners": found["owners"].cast(pa.list_(pa.int32())),
    }
    more = [name for name in ("variants", "paths") if name in found.column_names]
    return pa.table(columns | {name: found[name] for name in more})


TITLES = {"aa": "cdr3_aa"}


def _key(column: pa.ChunkedArray, key: str, store: CountsStore) -> pa.ChunkedArray:
    """Return a key column of the table; indices of V or J genes become names."""
    if key not in "vj":
        return column
    return pa.array(store.names[f"{key}_gene"], pa.string()).take(column.combine_chunks())


def _metadata(stores: Sequence[CountsStore], people: Individuals, kind: Receptor) -> str:
    rows = [{"name": Path(store.address).name, "rows": store.rows} for store in stores]
    people_and_samples = {"individuals": people.names, "samples": people.samples}
    return json.dumps({"stores": rows, **people_and_samples, "by": kind.name})
