"""Sharing job: groups all rows of any number of counts stores into nucleotypes.

    rows of a store -> partitions by a hash of cdr3, V, J      (a task per run of rows)
    a partition of all files, grouped -> partitions by place   (a task per partition)
    a partition of all files, sorted -> rows of OUT            (in this thread)

All rows of a nucleotype are in one partition. Each step has one run or one partition in memory, so
memory does not grow with the rows. Intermediate files take about 60 bytes a row, next to OUT.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.dry_run import JobPlan
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.engine.run.run import Options, run_batches
from gangsaw.tasks.formats.exporting.atomic import check_target, write_whole_files
from gangsaw.tasks.store.objects.versions import Watch
from gangsaw.tasks.tcr.sharing.hashing import hashes
from gangsaw.tasks.tcr.sharing.individuals import Individuals, individuals
from gangsaw.tasks.tcr.sharing.kinds import NUCLEOTYPE, Receptor, find_kind
from gangsaw.tasks.tcr.sharing.nucleotypes import (
    across_individuals,
    check_copies,
    in_samples,
    read_rows,
    total_copies,
    variants,
    with_amino_acids,
)
from gangsaw.tasks.tcr.sharing.overlaps import PAIRS, Overlap, list_overlaps, warnings
from gangsaw.tasks.tcr.sharing.partitions import read_partition, temporary_folder, write_partitions
from gangsaw.tasks.tcr.sharing.rarefy import Draws, Rarefaction, draws
from gangsaw.tasks.tcr.sharing.table import SHARED, SharingCounters, write_sharing_table
from gangsaw.tasks.tcr.store.counts_store import CountsStore, RowRun, open_all, runs

if TYPE_CHECKING:
    from distributed import Client

RUN_ROWS = 1 << 18  # rows of a task; 16 of the usual chunks
PART_ROWS = 1 << 19  # mean rows of a grouping task
ROW_BYTES = 600  # measured memory of a row: columns, sort keys, groups and copies
SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True)
class Shared:
    """Summary of a sharing job.

    Attributes
    ----------
    target : path of the table
    by : name of the kind of receptor in its rows
    stores : addresses, indexed by first_store
    rows : number of rows of all stores
    nucleotypes : rows of the table, of any kind
    shared : rows that two or more individuals have
    samples, individuals : numbers of these
    depth : copies that each individual was drawn down to; None without rarefaction
    sharing : for k = 1, 2, ... the number of nucleotypes that exactly k individuals have
    variants : for the same k the mean number of nucleotypes per clonotype
    overlaps : pairs of individuals, the PAIRS most distant first
    notes : messages, one line each
    seconds : duration
    """

    target: str
    by: str
    stores: tuple[str, ...]
    rows: int
    nucleotypes: int
    shared: int
    samples: int
    individuals: int
    depth: int | None
    sharing: dict[int, int] = field(hash=False)
    variants: dict[int, float] = field(hash=False)
    overlaps: tuple[Overlap, ...]
    notes: tuple[str, ...]
    seconds: float

    @property
    def word(self) -> str:
        """Kind of the rows, for messages: nucleotypes or clonotypes."""
        return NUCLEOTYPE.word if self.by == NUCLEOTYPE.name else "clonotypes"

    def to_dict(self) -> dict[str, object]:
        """Return the summary as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class _CopiesOfRun:
    """Task that sums the copies of each individual in a range of rows, before rarefaction."""

    stores: tuple[CountsStore, ...]
    people: Individuals
    name: str = "share-copies"
    peak_bytes: int = RUN_ROWS * ROW_BYTES

    def __call__(self, run: RowRun) -> NDArray[np.int64]:
        store = self.stores[run.store]
        with name_failed_chunk(run.of(store)):
            rows = read_rows(store, run, _numbers(store, self.people))
            return total_copies(rows, _owners(self.people), len(self.people.names))


@dataclass(frozen=True)
class _Spread:
    """Task that writes a range of rows to a file, partitioned by the hash of their receptor.

    All rows of a receptor are in the same partition of all files.
    """

    stores: tuple[CountsStore, ...]
    people: Individuals
    folder: Path
    n_parts: int
    kind: Receptor = NUCLEOTYPE
    drawn: Draws | None = None
    name: str = "share-rows"
    peak_bytes: int = 2 * RUN_ROWS * ROW_BYTES  # rows in memory, and rows to be written

    def __call__(self, run: RowRun) -> NDArray[np.int64]:
        """Return the copies of each individual, followed by the number of rows out of frame."""
        store, owners = self.stores[run.store], _owners(self.people)
        with name_failed_chunk(run.of(store)):
            rows = read_rows(store, run, _numbers(store, self.people))
            out_of_frame = 0
            if self.kind.is_translated:
                n_rows, rows = len(rows), with_amino_acids(rows, store, run)
                out_of_frame = n_rows - len(rows)
            if self.drawn is not None:
                rows = self.drawn.of(rows, owners[rows["sample"].to_numpy()], run.place)
            found = in_samples(rows)
            text, *numbers = (found[key] for key in self.kind.keys)
            spread = hashes(text.combine_chunks(), *(number.to_numpy() for number in numbers))
            part = (spread % np.uint64(self.n_parts)).astype(np.int64)
            write_partitions(self.folder / f"rows-{run.place}", found, part, self.n_parts)
            totals = total_copies(found, owners, len(self.people.names))
            return np.append(totals, out_of_frame)


def _numbers(store: CountsStore, people: Individuals) -> NDArray[np.int32]:
    """Return the index, among all samples, of each of a store's samples."""
    number = {name: i for i, name in enumerate(people.samples)}
    return np.array([number[name] for name in store.names["sample"]], np.int32)


def _owners(people: Individuals) -> NDArray[np.int32]:
    return np.array(people.of_sample, np.int32)


@dataclass(frozen=True)
class _AcrossIndividuals:
    """Task that merges the rows of each receptor of a partition over individuals.

    The result is a file partitioned by place, the order of the output.
    """

    people: Individuals
    totals: tuple[int, ...]
    sources: tuple[Path, ...]
    folder: Path
    n_parts: int
    kind: Receptor = NUCLEOTYPE
    name: str = "share-groups"
    peak_bytes: int = 2 * PART_ROWS * ROW_BYTES  # the hash spreads rows evenly, except rare batches

    def __call__(self, part: int) -> None:
        with name_failed_chunk(f"part {part} of the {self.kind.word}"):
            totals = np.array(self.totals, np.int64)
            rows = read_partition(self.sources, part)
            found = across_individuals(rows, _owners(self.people), totals, self.kind.keys)
            if self.kind.is_translated:
                more = variants(rows, self.kind.keys)  # by place, like the rows of `found`
                for name in ("variants", "paths"):
                    found = found.append_column(name, more[name])
            place = found["place"].to_numpy() // PART_ROWS
            write_partitions(self.folder / f"groups-{part}", found, place, self.n_parts)


def share(
    stores: Sequence[str],
    target: str | Path,
    *,
    by: str = "nt",
    table: str | Path | None = None,
    rarefy: Rarefaction | None = None,
    client: Client | None = None,
    options: Options | None = None,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> Shared:
    """Write a Parquet table with a row for each nucleotype: identical CDR3, V and J.

    Its columns are cdr3, v, j; the numbers of individuals, samples and copies that have it;
    frequency, the mean over these individuals of its share of the individual's copies, and
    frequency_sum; first_store and first_reference, the position of its first row, which has its
    counts; shared, true if two individuals have it; owners, the individuals by their index in the
    table's metadata. Rows are in the order of their first rows.

    For amino acids the first columns are cdr3_aa, or cdr3_aa and v. The last ones are variants, the
    number of nucleotypes with this translation, and paths, the sum of their paths (as floats).

    Parameters
    ----------
    stores : list of paths or addresses
        Stores of counts, of the same genes and model.
    target : path
        Parquet file. Workers need access to its folder, which gets the intermediate files.
    by : {"nt", "aa", "aa-v"}, default "nt"
        "nt" for nucleotypes, "aa" for the amino acids of the CDR3, "aa-v" for these and V. The last
        two leave out rows out of frame.
    table : path, optional
        File of sample and individual. None makes each sample an individual.
    rarefy : Rarefaction, optional
        Depth of the rarefaction. None takes all copies.
    client : distributed.Client, optional
        Dask client. None runs in this thread.
    options : `Options`, optional
        Resources and retries of a run on Dask.
    overwrite : bool, default False
        True replaces an existing table.
    on_progress : callable, optional
        Function that is called after each task with the state of the job.

    Returns
    -------
    Shared
        Numbers of nucleotypes, and of those that are shared.

    Raises
    ------
    BadParams
        A store or the table of individuals is invalid, or the target exists.
    JobFailed
        A task failed after all retries.

    See Also
    --------
    associate : Relate sharing to path counts.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> germline = tcr.open_germline("olga", locus="TRB", species="human")
    >>> setup = tcr.Setup(germline, tcr.Model(max_n=2, max_p=1))
    >>> for name in ("a", "b"):
    ...     wanted = tcr.Wanted(n=50, seed=1)
    ...     made = tcr.simulate(f"{name}.tsv", tcr.ModelChoice(species="human"), wanted)
    ...     inputs = tcr.open_inputs([f"{name}.tsv"])
    ...     summary = tcr.count_repertoires(inputs, f"{name}.zarr", setup)
    >>> shared = tcr.share(["a.zarr", "b.zarr"], "shared.parquet")
    >>> shared.individuals, shared.shared == shared.nucleotypes
    (2, True)
    """
    started, kind = time.monotonic(), find_kind(by)
    target = _checked(Path(target), overwrite)
    opened = open_all(stores)
    watch = Watch.of_sources(*opened)
    names = [name for store in opened for name in store.names["sample"]]
    people = individuals(names, None if table is None else Path(table))
    if not (n_rows := sum(store.rows for store in opened)):
        raise BadParams(f"{', '.join(stores)}: no rows")
    dry_run.stop(lambda: JobPlan(", ".join(stores), (str(target),), format="Parquet"))
    n_parts = -(-n_rows // PART_ROWS)
    batches = list(runs(opened, RUN_ROWS))
    steps = len(batches) * (1 if rarefy is None else 2) + 2 * n_parts
    with temporary_folder(target) as folder:
        work = _ShareSteps(client, options, Meter(steps, on_progress, started))
        with watch.check_at_end():
            drawn = None if rarefy is None else work.draws(rarefy, opened, people, batches)
            spread = _Spread(opened, people, folder, n_parts, kind, drawn)
            *totals, out_of_frame = work.total(spread, batches, len(people.names) + 1)
        check_copies(sum(totals))
        files = tuple(folder / f"rows-{batch.place}" for batch in batches)
        group = _AcrossIndividuals(people, tuple(totals), files, folder, n_parts, kind)
        work.each(group, range(n_parts))
        groups = [folder / f"groups-{part}" for part in range(n_parts)]
        with write_whole_files([target], overwrite=overwrite) as (partial,):
            found = write_sharing_table(partial, groups, opened, people, kind, work.meter)
    summary = _SharingSummary(opened, people, kind, found, None if drawn is None else drawn.depth)
    return summary.summarize(target, n_rows, out_of_frame, started)


@dataclass(frozen=True)
class _ShareSteps:
    """Steps of the job: run tasks and report progress."""

    client: Client | None
    options: Options | None
    meter: Meter

    def total(self, task: _Spread | _CopiesOfRun, batches: Sequence[RowRun], n: int) -> list[int]:
        """Run a task on all ranges of rows; return the sums of its results, n numbers."""
        totals = [0] * n
        for found in self.by_place(task, batches).values():
            totals = [a + b for a, b in zip(totals, found.tolist(), strict=True)]
        return totals

    def by_place(
        self, task: _Spread | _CopiesOfRun, batches: Sequence[RowRun]
    ) -> dict[int, NDArray[np.int64]]:
        """Run a task on all ranges of rows; return its results by place of the range."""
        parts: dict[int, NDArray[np.int64]] = {}

        def add(batch: RowRun, found: NDArray[np.int64]) -> None:
            parts[batch.place] = found
            self.meter.add(1, 0, 0)

        run_batches(task, batches, add, client=self.client, options=self.options)
        return parts

    def each(self, task: _AcrossIndividuals, parts: Sequence[int]) -> None:
        """Run the task on each partition."""
        run_batches(
            task,
            parts,
            lambda *_: self.meter.add(1, 0, 0),
            client=self.client,
            options=self.options,
        )

    def draws(
        self,
        how: Rarefaction,
        stores: tuple[CountsStore, ...],
        people: Individuals,
        batches: Sequence[RowRun],
    ) -> Draws:
        """Return the numbers of copies to draw from each range of rows and individual."""
        return draws(how, self.by_place(_CopiesOfRun(stores, people), batches), people.names)


def _checked(target: Path, overwrite: bool) -> Path:
    """Return the target; raise `BadParams` for suffixes other than Parquet's.

    Otherwise --overwrite could replace a table of rows.
    """
    if target.suffix.lower() not in SUFFIXES:
        raise BadParams(f"{target}: nucleotypes are written as Parquet; name it .parquet")
    check_target(target, overwrite=overwrite)
    return target


@dataclass(frozen=True)
class _SharingSummary:
    """Counters and inputs of a job, from which its summary is built."""

    stores: Sequence[CountsStore]
    people: Individuals
    kind: Receptor
    counters: SharingCounters
    depth: int | None

    def summarize(self, target: Path, n_rows: int, out_of_frame: int, started: float) -> Shared:
        """Return the summary of the finished job."""
        counts, names = self.counters.counts, self.people.names
        pairs = list_overlaps(self.counters.pairs, names)
        return Shared(
            target=str(target),
            by=self.kind.name,
            stores=tuple(store.address for store in self.stores),
            rows=n_rows,
            nucleotypes=int(counts.sum()),
            shared=int(counts[SHARED:].sum()),
            samples=len(self.people.samples),
            individuals=len(names),
            depth=self.depth,
            sharing={k: int(n) for k, n in enumerate(counts) if n},
            variants=self.counters.mean_variants(),
            overlaps=pairs[:PAIRS],
            notes=(*self._notes(out_of_frame), *warnings(pairs)),
            seconds=time.monotonic() - started,
        )

    def _notes(self, out_of_frame: int) -> list[str]:
        notes = []
        if len(self.people.names) == 1:
            notes.append("only one individual: nothing can be shared")
        elif not self.counters.counts[SHARED:].sum():
            notes.append("no nucleotype is shared" if self.kind is NUCLEOTYPE else "none is shared")
        if out_of_frame:
            notes.append(f"{out_of_frame:,} rows out of frame have no amino acids: left out")
        return notes
