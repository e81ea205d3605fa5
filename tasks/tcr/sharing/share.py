"""Which nucleotypes individuals share: a group-by of all rows of any number of stores of counts.

    rows of a store -> parts by a hash of cdr3, V, J      (a task per run of rows)
    a part of all files, grouped -> parts by place        (a task per part)
    a part of all files, sorted -> rows of OUT            (in this thread)

All rows of a nucleotype are in one part; each step holds one run or one part, so memory does not
grow with the rows. Intermediate files take about 60 bytes a row, next to OUT.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine import rehearsal
from gangsaw.tasks.engine.failure import naming
from gangsaw.tasks.engine.progress import Meter, OnProgress
from gangsaw.tasks.engine.rehearsal import JobPlan
from gangsaw.tasks.engine.window import Options, run
from gangsaw.tasks.formats.atomic import check_target, whole_files
from gangsaw.tasks.store.stamps import Watch
from gangsaw.tasks.tcr.sharing.hashing import hashes
from gangsaw.tasks.tcr.sharing.individuals import Individuals, individuals
from gangsaw.tasks.tcr.sharing.nucleotypes import (
    across_individuals,
    check_copies,
    in_samples,
    read_rows,
    sharing_counts,
    total_copies,
)
from gangsaw.tasks.tcr.sharing.partitions import read_partition, temporary_folder, write_partitions
from gangsaw.tasks.tcr.store.counts_store import CountsStore, RowRun, open_all, runs

if TYPE_CHECKING:
    from distributed import Client

RUN_ROWS = 1 << 18  # read by one task; 16 of the usual chunks
PART_ROWS = 1 << 19  # grouped by one task, on average
GROUP_ROWS = 1 << 16  # of a row group: joins with the counts read few rows too many
ROW_BYTES = 600  # of memory for each of them, measured: columns, sort keys, groups and copies
SHARED = 2  # individuals that make a nucleotype "shared"
METADATA = b"gangsaw"
SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True)
class Shared:
    """What `share` found.

    Attributes
    ----------
    target : the table
    stores : addresses, by the numbers of first_store
    rows : of all stores
    nucleotypes : rows of the table
    shared : nucleotypes of two individuals or more
    samples, individuals : how many
    sharing : for k = 1, 2, ... the nucleotypes that exactly k individuals have
    notes : what a reader should know, one line each
    seconds : wall clock
    """

    target: str
    stores: tuple[str, ...]
    rows: int
    nucleotypes: int
    shared: int
    samples: int
    individuals: int
    sharing: dict[int, int] = field(hash=False)
    notes: tuple[str, ...]
    seconds: float

    def to_dict(self) -> dict[str, object]:
        """Return all figures as JSON holds them."""
        return asdict(self)


@dataclass(frozen=True)
class _Spread:
    """The task over a run of rows: its file, a part for each value of the hash."""

    stores: tuple[CountsStore, ...]
    people: Individuals
    folder: Path
    n_parts: int
    name: str = "share-rows"
    peak_bytes: int = 2 * RUN_ROWS * ROW_BYTES  # rows as read, and those written to the parts

    def __call__(self, run: RowRun) -> NDArray[np.int64]:
        """Return (individuals,) copies."""
        store = self.stores[run.store]
        with naming(run.of(store)):
            number = {name: i for i, name in enumerate(self.people.samples)}
            numbers = np.array([number[name] for name in store.names["sample"]], np.int32)
            found = in_samples(read_rows(store, run, numbers))
            keys = found["cdr3"].combine_chunks()
            spread = hashes(keys, found["v"].to_numpy(), found["j"].to_numpy())
            part = (spread % np.uint64(self.n_parts)).astype(np.int64)
            write_partitions(self.folder / f"rows-{run.place}", found, part, self.n_parts)
            owners = np.array(self.people.of_sample, np.int32)
            return total_copies(found, owners, len(self.people.names))


@dataclass(frozen=True)
class _AcrossIndividuals:
    """The task over a part: its nucleotypes, in parts by place."""

    people: Individuals
    totals: tuple[int, ...]
    sources: tuple[Path, ...]
    folder: Path
    n_parts: int
    name: str = "share-groups"
    peak_bytes: int = 2 * PART_ROWS * ROW_BYTES  # the hash spreads evenly, but for rare batches

    def __call__(self, part: int) -> None:
        with naming(f"part {part} of the nucleotypes"):
            of_sample = np.array(self.people.of_sample, np.int32)
            totals = np.array(self.totals, np.int64)
            found = across_individuals(read_partition(self.sources, part), of_sample, totals)
            place = found["place"].to_numpy() // PART_ROWS
            write_partitions(self.folder / f"groups-{part}", found, place, self.n_parts)


def share(
    stores: Sequence[str],
    target: str | Path,
    *,
    table: str | Path | None = None,
    client: Client | None = None,
    options: Options | None = None,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> Shared:
    """Write a Parquet table with a row for each nucleotype: identical CDR3, V and J.

    Its columns are cdr3, v, j; individuals, samples and copies that have it; frequency, the mean
    over those individuals of its copies / all copies of the individual, and frequency_sum;
    first_store and first_reference, where its first row is (its counts are there); shared, whether
    two individuals have it. Rows are in the order of their first rows.

    Parameters
    ----------
    stores : addresses of stores of counts, of the same genes and model
    target : Parquet file; workers must see its folder, which holds the intermediate files
    table : file of sample and individual; None makes each sample one
    client : Dask client; None works in this thread
    options : resources, retries
    overwrite : replace an existing table
    on_progress : called after each task

    Raises
    ------
    BadParams : a store or the table of individuals is not as it should be, or the target exists
    JobFailed : a task failed for good
    """
    started = time.monotonic()
    target = _checked(Path(target), overwrite)
    opened = open_all(stores)
    watch = Watch.of(*opened)
    names = [name for store in opened for name in store.names["sample"]]
    people = individuals(names, None if table is None else Path(table))
    if not (n_rows := sum(store.rows for store in opened)):
        raise BadParams(f"{', '.join(stores)}: no rows")
    rehearsal.stop(lambda: JobPlan(", ".join(stores), (str(target),), format="Parquet"))
    n_parts = -(-n_rows // PART_ROWS)
    batches = list(runs(opened, RUN_ROWS))
    meter = Meter(len(batches) + 2 * n_parts, on_progress, started)
    with temporary_folder(target) as folder:
        totals = [0] * len(people.names)

        def add(_: RowRun, found: NDArray[np.int64]) -> None:
            totals[:] = (a + b for a, b in zip(totals, found.tolist(), strict=True))
            meter.add(1, 0, 0)

        spread = _Spread(opened, people, folder, n_parts)
        with watch.held():
            run(spread, batches, add, client=client, options=options)
        check_copies(sum(totals))
        files = tuple(folder / f"rows-{batch.place}" for batch in batches)
        group = _AcrossIndividuals(people, tuple(totals), files, folder, n_parts)
        run(group, range(n_parts), lambda *_: meter.add(1, 0, 0), client=client, options=options)
        groups = [folder / f"groups-{part}" for part in range(n_parts)]
        with whole_files([target], overwrite=overwrite) as (partial,):
            counts = _write(partial, groups, opened, people, meter)
    return _summary(target, opened, people, n_rows, counts, started)


def _checked(target: Path, overwrite: bool) -> Path:
    """Refuse suffixes but those of Parquet: --overwrite must not replace a table of rows."""
    if target.suffix.lower() not in SUFFIXES:
        raise BadParams(f"{target}: nucleotypes are written as Parquet; name it .parquet")
    check_target(target, overwrite=overwrite)
    return target


def _write(
    path: Path,
    groups: Sequence[Path],
    stores: Sequence[CountsStore],
    people: Individuals,
    meter: Meter,
) -> NDArray[np.int64]:
    """Write the table, part by part; return the sharing counts."""
    counts = np.zeros(len(people.names) + 1, np.int64)
    writer: pq.ParquetWriter | None = None
    try:
        for part in range(len(groups)):
            found = _finished(read_partition(groups, part).sort_by("place"), stores)
            if writer is None:
                schema = found.schema.with_metadata({METADATA: _metadata(stores, people)})
                writer = pq.ParquetWriter(path, schema, compression="zstd")
            writer.write_table(found.cast(writer.schema), row_group_size=GROUP_ROWS)
            some = sharing_counts(found["individuals"])
            counts[: len(some)] += some
            meter.add(1, 0, 0)
    finally:
        if writer is not None:
            writer.close()
    return counts


def _finished(found: pa.Table, stores: Sequence[CountsStore]) -> pa.Table:
    """Return rows as the table has them: names of genes, the store and row that come first."""
    begins = np.cumsum([0, *(store.rows for store in stores)])
    place = found["place"].to_numpy()
    store = np.searchsorted(begins, place, "right") - 1
    people = found["individuals"].to_numpy()
    columns = {
        "cdr3": found["cdr3"],
        "v": _named(found["v"], stores[0].names["v_gene"]),
        "j": _named(found["j"], stores[0].names["j_gene"]),
        "individuals": pa.array(people.astype(np.int32)),
        "samples": found["samples"].cast(pa.int32()),
        "copies": found["copies"],
        "frequency": found["frequency"],
        "frequency_sum": found["frequency_sum"],
        "first_store": pa.array(store.astype(np.int32)),
        "first_reference": pa.array(place - begins[store]),
        "shared": pa.array(people >= SHARED),
    }
    return pa.table(columns)


def _named(index: pa.ChunkedArray, names: Sequence[str]) -> pa.ChunkedArray:
    return pa.array(names, pa.string()).take(index.combine_chunks())


def _metadata(stores: Sequence[CountsStore], people: Individuals) -> str:
    rows = [{"name": Path(store.address).name, "rows": store.rows} for store in stores]
    return json.dumps({"stores": rows, "individuals": people.names, "samples": people.samples})


def _summary(
    target: Path,
    stores: Sequence[CountsStore],
    people: Individuals,
    n_rows: int,
    counts: NDArray[np.int64],
    started: float,
) -> Shared:
    shared = int(counts[SHARED:].sum())
    notes = []
    if len(people.names) == 1:
        notes.append("only one individual: nothing can be shared")
    elif not shared:
        notes.append("no nucleotype is shared")
    return Shared(
        target=str(target),
        stores=tuple(store.address for store in stores),
        rows=n_rows,
        nucleotypes=int(counts.sum()),
        shared=shared,
        samples=len(people.samples),
        individuals=len(people.names),
        sharing={k: int(n) for k, n in enumerate(counts) if n},
        notes=tuple(notes),
        seconds=time.monotonic() - started,
    )
