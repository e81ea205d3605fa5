"""How path counts and enzyme calls are associated with frequency and sharing.

    stores and the table of `share` -> a file per run of rows     one pass over the counts
    files -> tallies -> sums of rank products: Spearman           two passes over the files
    files -> moments -> steps of Newton's method -> LASSO         some ten passes
    files -> tallies by sharing: plots                            one pass

A pass holds one run in each task. This thread holds tallies: 16 bytes for each distinct value of a
column, some columns at a time. Intermediate files, next to the table, take 8 bytes per nucleotype
and path count and 2 per call, before compression.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow.parquet as pq

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.progress import Meter, OnProgress
from gangsaw.tasks.engine.window import Options, run
from gangsaw.tasks.engine.work import Task
from gangsaw.tasks.store.stamps import Watch, all_stamps, file_stamps
from gangsaw.tasks.tcr.sharing.partitions import temporary_folder
from gangsaw.tasks.tcr.statistics.by_sharing import Group, Groups, TallyGroups, groups
from gangsaw.tasks.tcr.statistics.extract import OUTCOMES, RUN_ROWS, Extract, check_table, file_of
from gangsaw.tasks.tcr.statistics.fits.design import (
    Design,
    Floats,
    Moments,
    dependent,
    exact_total,
    in_words,
    separating,
)
from gangsaw.tasks.tcr.statistics.fits.logistic import Curvature, NewtonPass, fit
from gangsaw.tasks.tcr.statistics.fits.regression import Regression, regression
from gangsaw.tasks.tcr.statistics.predictors import predictor_names
from gangsaw.tasks.tcr.statistics.spearman import (
    Correlation,
    RankProducts,
    TallyColumns,
    added,
    check_rows,
    correlations,
    write_ranks,
)
from gangsaw.tasks.tcr.statistics.tally import Ns, ValueCounts, Values
from gangsaw.tasks.tcr.store.counts_store import CountsStore, open_all, runs
from gangsaw.tasks.tcr.store.path_columns import ALL, DP1, NO_D, ZERO, PathColumn, path_columns

if TYPE_CHECKING:
    from distributed import Client

BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")
Bars = Callable[[str], OnProgress]  # from the title of some passes to their description
TALLY_BYTES = 1 << 30  # for the tallies of the columns that are ranked at once
SEPARATES = "alone it separates all shared nucleotypes from the others but for one value"
ENTRY_BYTES = 48  # of a distinct value, while tallies are merged
# until overlapping counts are no longer put side by side: each contains others, so that a
# coefficient may have the sign opposite to that of its count alone
CAUTION = (
    "do not read the coefficients as effects of path counts, nor publish them: the counts contain "
    "each other, and side by side in one model they can reverse the sign that each has alone"
)
REGRESSION_PASSES = 12  # that the bar shows: Newton's method takes as many as it takes


@dataclass(frozen=True)
class Association:
    """Results of `associate`.

    Attributes
    ----------
    stores, table : addresses
    nucleotypes : in the table
    individuals : that share took, 0 where the table does not say
    correlations : of each path count with copies, frequency and individuals
    regression : None where all or no nucleotypes are shared
    by_sharing : figures of the plotted columns by number of individuals
    notes : what a reader should know
    seconds : wall clock
    """

    stores: tuple[str, ...]
    table: str
    nucleotypes: int
    individuals: int
    correlations: tuple[Correlation, ...]
    regression: Regression | None
    by_sharing: tuple[Group, ...]
    notes: tuple[str, ...]
    seconds: float

    def to_dict(self) -> dict[str, object]:
        """Return all figures as JSON holds them."""
        return {key: _without_nan(value) for key, value in asdict(self).items()}


def associate(
    stores: Sequence[str],
    table: str | Path,
    *,
    nu: Sequence[int] | None = None,
    pi: Sequence[int] | None = None,
    client: Client | None = None,
    options: Options | None = None,
    bars: Bars | None = None,
) -> Association:
    """Correlate path counts with frequency and sharing; regress sharing on counts and calls.

    Parameters
    ----------
    stores : addresses of the stores of counts that the table was made from, in its order
    table : Parquet file of `share`; workers must see its folder, which holds intermediate files
    nu, pi : limits of the path counts to take; None is the largest, () all. The regression and
        the plots take the largest of them
    client : Dask client; None works in this thread
    options : resources, retries
    bars : called with a title; what it returns is called after each task of those passes

    Raises
    ------
    BadParams : a store or the table is not as it should be, or they are not of one another
    JobFailed : a task failed for good
    """
    started = time.monotonic()
    opened, table = open_all(stores), Path(table)
    watch = Watch.by(lambda: all_stamps(opened) | file_stamps(table))
    individuals = check_table(table, opened)
    columns = path_columns(opened[0], nu, pi)
    with temporary_folder(table) as folder:
        job = _Passes(opened, table.absolute(), columns, folder, client, options, bars)
        with watch.held():
            n = job.extract()
        correlated = job.correlate(n)
        regressed, notes = job.regress(n)
        by_sharing = job.group()
    return Association(
        stores=tuple(store.address for store in opened),
        table=str(table),
        nucleotypes=n,
        individuals=individuals,
        correlations=correlated,
        regression=regressed,
        by_sharing=by_sharing,
        notes=(*_cautions(regressed), *_constants(correlated), *notes),
        seconds=time.monotonic() - started,
    )


def _cautions(found: Regression | None) -> tuple[str, ...]:
    return () if found is None else (CAUTION,)


def _constants(found: Sequence[Correlation]) -> Iterator[str]:
    """Name the columns that have no ranks to correlate, for whichever reason."""
    pairs = [(name, each) for each in found for name in (each.paths, each.outcome)]
    has = {name for name, each in pairs if not math.isnan(each.rho)}
    for name in dict.fromkeys(name for name, _ in pairs if name not in has):
        yield f"no correlation with {name}: it is constant"


@dataclass
class _Passes:
    """The passes over the files, and what they share."""

    stores: tuple[CountsStore, ...]
    table: Path
    columns: tuple[PathColumn, ...]
    folder: Path
    client: Client | None
    options: Options | None
    bars: Bars | None

    def __post_init__(self) -> None:
        self.batches = list(runs(self.stores, RUN_ROWS))
        self.files = [file_of(self.folder, batch) for batch in self.batches]
        self.meter = Meter(0, None)

    @contextmanager
    def phase(self, title: str, passes: int) -> Iterator[None]:
        """Show some passes in one bar; Newton's method may take fewer."""
        total = passes * len(self.batches)
        self.meter = Meter(total, None if self.bars is None else self.bars(title))
        yield
        self.meter.add(total - self.meter.progress.done, 0, 0)

    def extract(self) -> int:
        """Write the files; return how many nucleotypes they hold."""
        task = Extract(self.stores, self.table, self.columns, self.folder)
        with self.phase("read", 1):
            found = self._all(task, self.batches)
        if not (n := sum(found)):
            raise BadParams(f"{self.table} holds no nucleotype of these stores")
        if more := pq.read_metadata(self.table).num_rows - n:
            raise BadParams(
                f"{self.table} has {more} nucleotypes that these stores have not: name all stores "
                "that it was made from, in its order"
            )
        return n

    def correlate(self, n: int) -> tuple[Correlation, ...]:
        """Return all correlations, some columns at a time."""
        check_rows(n)
        at_once = max(1, TALLY_BYTES // (ENTRY_BYTES * n))
        names = [column.name for column in self.columns]
        parts = [tuple(names[i : i + at_once]) for i in range(0, len(names), at_once)]
        found: list[Correlation] = []
        with self.phase("rank", 1 + 2 * len(parts)):
            outcomes = self._tallies(OUTCOMES)
            for own in parts:
                tallies = outcomes | self._tallies(own)
                task = RankProducts(own, OUTCOMES, self.folder)
                totals = added(self._all(task, self.files))
                found += correlations(own, OUTCOMES, totals, tallies)
        return tuple(found)

    def _tallies(self, names: Sequence[str]) -> dict[str, ValueCounts]:
        """Tally columns, and write the ranks that follow."""
        tallies = {name: ValueCounts() for name in names}

        def add(some: dict[str, tuple[Values, Ns]]) -> None:
            for name, tally in some.items():
                tallies[name].add(*tally)

        self._run(TallyColumns(tuple(names)), self.files, add)
        for name, of_all in tallies.items():
            write_ranks(self.folder, name, of_all)
        return tallies

    def regress(self, n: int) -> tuple[Regression | None, tuple[str, ...]]:
        """Return the regression, or None and why there is none."""
        design = Design(self._counts(), predictor_names(self.stores[0]))
        with self.phase("regress", REGRESSION_PASSES):
            parts = self._all(Moments(design), self.files)
            n_shared = sum(part.n_shared for part in parts)
            if n_shared in (0, n):
                which = "all nucleotypes are" if n_shared else "no nucleotype is"
                return None, (f"no regression: {which} shared",)
            lowest = np.min([part.lowest for part in parts], axis=0)
            alone = separating(lowest, np.max([part.highest for part in parts], axis=0))
            words = tuple(f"{design.names[i]} left out: {SEPARATES}" for i in alone)
            mean = np.delete(exact_total([part.sums for part in parts]), alone) / n
            design, left_out = self._standardised(design.without(alone), mean, n)
            found = fit(lambda beta: self._at(design, beta), n, n_shared, design.names)
        return regression(design, found, n, n_shared, words + left_out), ()

    def _standardised(self, design: Design, mean: Floats, n: int) -> tuple[Design, tuple[str, ...]]:
        """Centre and scale the predictors; leave out what the others determine, and say so."""
        centred = replace(design, centre=tuple(mean.tolist()), scale=(1.0,) * len(mean))
        parts = self._all(Moments(centred), self.files)
        covariance = exact_total([part.products for part in parts]) / n
        out = dependent(covariance)
        scaled = replace(centred, scale=tuple(np.sqrt(np.diag(covariance)).tolist()))
        words = tuple(in_words(design.names, i, coefficients) for i, coefficients in out)
        return scaled.without([i for i, _ in out]), words

    def _at(self, design: Design, beta: Floats) -> Curvature:
        parts = self._all(NewtonPass(design, tuple(beta.tolist())), self.files)
        return Curvature(
            float(exact_total([part.value for part in parts])),
            exact_total([part.gradient for part in parts]),
            exact_total([part.information for part in parts]),
            max(part.surest_error for part in parts),
        )

    def _counts(self) -> tuple[str, ...]:
        """Return the path counts of the regression: of the largest limits, without their sum.

        Those with D of length zero are for each D gene a multiple of V N N J: the first will do.
        """
        nu = max(column.nu for column in self.columns)
        pi = max((c.pi for c in self.columns if c.pi is not None), default=None)
        own = [c for c in self.columns if c.kind != ALL and c.nu == nu and c.pi in (pi, None)]
        zero = [column for column in own if column.kind == ZERO]
        return tuple(column.name for column in own if column not in zero[1:])

    def group(self) -> tuple[Group, ...]:
        """Return the figures of the plots."""
        names = (self._plotted(), *predictor_names(self.stores[0]))
        tallies: dict[tuple[str, int], ValueCounts] = {}

        def add(some: Groups) -> None:
            for key, tally in some.items():
                tallies.setdefault(key, ValueCounts()).add(*tally)

        with self.phase("group", 1):
            self._run(TallyGroups(names), self.files, add)
        return groups(names, tallies)

    def _plotted(self) -> str:
        """Return the path count that is drawn: of all ways, at the largest limits."""
        kinds = [kind for kind in (ALL, NO_D, DP1) if any(c.kind == kind for c in self.columns)]
        own = [column for column in self.columns if column.kind == kinds[0]]
        return max(own, key=lambda c: (c.nu, c.pi or 0)).name

    def _all(self, task: Task[BatchT, ResultT], batches: Sequence[BatchT]) -> list[ResultT]:
        """Run a task on all batches; return the results in the order of their arrival."""
        found: list[ResultT] = []
        self._run(task, batches, found.append)
        return found

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

        run(task, batches, on_done, client=self.client, options=self.options)


def _without_nan(value: object) -> object:
    """Return figures as JSON values: None for NaN."""
    if isinstance(value, dict):
        return {key: _without_nan(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value
