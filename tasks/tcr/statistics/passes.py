"""Passes over the intermediate files of `associate`, and their shared state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.engine.run.run import Options, run_batches
from gangsaw.tasks.engine.scheduling.work import Task
from gangsaw.tasks.tcr.statistics.by_sharing import CountGroups, Group, Groups, groups
from gangsaw.tasks.tcr.statistics.histograms import Ns, ValueCounts, Values
from gangsaw.tasks.tcr.statistics.nucleotypes import extract
from gangsaw.tasks.tcr.statistics.nucleotypes.background import Background
from gangsaw.tasks.tcr.statistics.nucleotypes.extract import (
    OUTCOMES,
    OWNERS,
    Extract,
    file_of,
    read_run_file,
)
from gangsaw.tasks.tcr.statistics.nucleotypes.owners import Numbers, Owners, owners_of
from gangsaw.tasks.tcr.statistics.spearman import (
    Correlation,
    CountColumns,
    RankProducts,
    check_row_count,
    correlations,
    sum_over_runs,
    write_ranks,
)
from gangsaw.tasks.tcr.store.counts_store import CountsStore, runs
from gangsaw.tasks.tcr.store.path_columns import PathColumn

if TYPE_CHECKING:
    from distributed import Client

BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")
Bars = Callable[[str], OnProgress]  # returns the callback of a progress bar with this title
HISTOGRAM_BYTES = 1 << 30  # for the histograms of columns that are ranked at once
ENTRY_BYTES = 48  # bytes per distinct value while histograms are merged


@dataclass
class Passes:
    """Passes over the nucleotypes of an association job.

    A pass runs one task on each file of nucleotypes; each file has those of a range of rows.

    Attributes
    ----------
    stores, table : counts stores, and table of `share`
    columns : path counts
    background : covariates of the table
    folder : folder of the intermediate files
    client, options, bars : see `associate`
    """

    stores: tuple[CountsStore, ...]
    table: Path
    columns: tuple[PathColumn, ...]
    background: Background
    folder: Path
    client: Client | None
    options: Options | None
    bars: Bars | None

    def __post_init__(self) -> None:
        """Set the paths of the files of nucleotypes."""
        self.batches = list(runs(self.stores, extract.RUN_ROWS))
        self.files = [file_of(self.folder, batch) for batch in self.batches]
        self.meter = Meter(0, None)

    @contextmanager
    def phase(self, title: str, passes: int) -> Iterator[None]:
        """Show a number of passes in one progress bar; Newton's method may need fewer."""
        total = passes * len(self.batches)
        self.meter = Meter(total, None if self.bars is None else self.bars(title))
        yield
        self.meter.add(total - self.meter.progress.done, 0, 0)

    def extract(self, *, texts: bool) -> int:
        """Write the files of nucleotypes; return the number of nucleotypes in them."""
        task = Extract(self.stores, self.table, self.columns, self.folder, self.background, texts)
        with self.phase("read", 1):
            found = self.all(task, self.batches)
        if not (n := sum(found)):
            raise BadParams(f"{self.table} holds no nucleotype of these stores")
        if more := pq.read_metadata(self.table).num_rows - n:
            raise BadParams(
                f"{self.table} has {more} nucleotypes that these stores have not: name all stores "
                "that it was made from, in its order"
            )
        return n

    def column(self, name: str) -> Numbers:
        """Return a column of all files in their order, (n,)."""
        parts = [read_run_file(path, [name])[name].to_numpy() for path in self.files]
        found: Numbers = np.concatenate(parts)
        return found

    def texts(self, name: str) -> pa.ChunkedArray:
        """Return a text column of all files in their order, (n,)."""
        return pa.concat_tables([read_run_file(path, [name]) for path in self.files])[name]

    def owners(self) -> Owners:
        """Return the owners of all nucleotypes, in the order of the files."""
        tables = pa.concat_tables([read_run_file(path, [OWNERS]) for path in self.files])
        return owners_of(tables[OWNERS], self.background.individuals)

    def correlate(self, n: int) -> tuple[Correlation, ...]:
        """Return the correlations of all path counts, computed for several columns at a time."""
        check_row_count(n)
        at_once = max(1, HISTOGRAM_BYTES // (ENTRY_BYTES * n))
        names = [column.name for column in self.columns]
        parts = [tuple(names[i : i + at_once]) for i in range(0, len(names), at_once)]
        found: list[Correlation] = []
        with self.phase("rank", 1 + 2 * len(parts)):
            outcomes = self._tallies(OUTCOMES)
            for own in parts:
                tallies = outcomes | self._tallies(own)
                task = RankProducts(own, OUTCOMES, self.folder)
                totals = sum_over_runs(self.all(task, self.files))
                found += correlations(own, OUTCOMES, totals, tallies)
        return tuple(found)

    def _tallies(self, names: Sequence[str]) -> dict[str, ValueCounts]:
        """Return the histograms of columns, and write the ranks of their values to files."""
        tallies = {name: ValueCounts() for name in names}

        def add(some: dict[str, tuple[Values, Ns]]) -> None:
            for name, tally in some.items():
                tallies[name].add(*tally)

        self._run(CountColumns(tuple(names)), self.files, add)
        for name, of_all in tallies.items():
            write_ranks(self.folder, name, of_all)
        return tallies

    def group(self, names: tuple[str, ...]) -> tuple[Group, ...]:
        """Return mean and quantiles of columns by number of individuals, for the plots."""
        tallies: dict[tuple[str, int], ValueCounts] = {}

        def add(some: Groups) -> None:
            for key, tally in some.items():
                tallies.setdefault(key, ValueCounts()).add(*tally)

        with self.phase("group", 1):
            self._run(CountGroups(names), self.files, add)
        return groups(names, tallies)

    def all(self, task: Task[BatchT, ResultT], batches: Sequence[BatchT]) -> list[ResultT]:
        """Run a task on each batch; return the results in order of completion."""
        found: list[ResultT] = []
        self._run(task, batches, found.append)
        return found

    def by_batch(self, task: Task[BatchT, ResultT], batches: Sequence[BatchT]) -> list[ResultT]:
        """Run a task on all batches; return the results in the order of the batches."""
        found: dict[int, ResultT] = {}
        numbers = {id(batch): i for i, batch in enumerate(batches)}
        run_batches(
            task,
            batches,
            lambda batch, result: found.update({numbers[id(batch)]: result}),
            client=self.client,
            options=self.options,
        )
        return [found[i] for i in range(len(batches))]

    def _run(
        self,
        task: Task[BatchT, ResultT],
        batches: Sequence[BatchT],
        take: Callable[[ResultT], None],
    ) -> None:
        def on_done(_: BatchT, result: ResultT) -> None:
            take(result)
            if self.meter.progress.done < self.meter.progress.total:
                self.meter.add(1, 0, 0)

        run_batches(task, batches, on_done, client=self.client, options=self.options)
