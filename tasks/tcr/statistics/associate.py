"""Association of path counts and region calls with sharing and frequency.

    stores and the table of `share` -> a file per run of rows       one pass over the counts
    columns of the files -> areas under the curve, deciles, means   in this thread, one at a time
    files -> moments -> steps of Newton's method -> odds ratios     about ten passes
    files -> histograms -> sums of rank products: Spearman          two passes
    files -> histograms by sharing: plots                           one pass

A task has one run in memory. This thread needs about 100 bytes per nucleotype: its owners, one
column with the order of its values, or histograms (16 bytes for each distinct value of a column,
some columns at a time). Intermediate files, next to the table, take 8 bytes per nucleotype and
path count and 2 per call, before compression.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.dry_run import JobPlan
from gangsaw.tasks.engine.run.run import Options
from gangsaw.tasks.store.objects.versions import Watch, all_versions, file_versions
from gangsaw.tasks.tcr.sharing.partitions import temporary_folder
from gangsaw.tasks.tcr.statistics.auc import Auc, auc_of
from gangsaw.tasks.tcr.statistics.by_sharing import Group
from gangsaw.tasks.tcr.statistics.deciles import Decile, deciles
from gangsaw.tasks.tcr.statistics.differences import Difference, estimate_differences
from gangsaw.tasks.tcr.statistics.fits.regression import Coefficient, Regression
from gangsaw.tasks.tcr.statistics.generation import (
    Generation,
    PgenSample,
    compare_probabilities,
    model_of,
)
from gangsaw.tasks.tcr.statistics.jackknife import FEWEST, HEAVY, HOW, false_discovery
from gangsaw.tasks.tcr.statistics.nucleotypes.background import background
from gangsaw.tasks.tcr.statistics.nucleotypes.extract import (
    LENGTH,
    PRODUCTIVE,
    STRATUM,
    check_table,
)
from gangsaw.tasks.tcr.statistics.nucleotypes.owners import Numbers, Owners
from gangsaw.tasks.tcr.statistics.nucleotypes.predictors import predictor_names
from gangsaw.tasks.tcr.statistics.passes import Bars, Passes
from gangsaw.tasks.tcr.statistics.regress import SharingModel
from gangsaw.tasks.tcr.statistics.spearman import Correlation
from gangsaw.tasks.tcr.store.counts_store import open_all
from gangsaw.tasks.tcr.store.path_columns import largest_total, path_columns

if TYPE_CHECKING:
    from distributed import Client

SHORTNESS = "shortness"  # negative length, since short CDR3s are shared more
FRAMES = {True: "in frame, no stop codon", False: "out of frame or stop codon"}


@dataclass(frozen=True)
class Association:
    """Results of `associate`.

    Attributes
    ----------
    stores, table : addresses
    nucleotypes, shared : numbers of all and of shared nucleotypes in the table
    individuals : number of individuals
    without_path : number of nucleotypes without a recombination path
    paths : name of the total path count, used by deciles and odds
    aucs : AUC of each path count; of the total within equal length and within equal V, J and
        length; of shortness; of the total in frame and out of frame, if both occur
    deciles : sharing by deciles of the total path count
    odds : odds ratios of total paths, adjusted; None if they cannot be estimated
    differences : differences of calls between shared and other nucleotypes
    correlations : correlations of each path count with copies, frequency and individuals
    generation : comparison with olga's probabilities of generation, if requested
    lasso : regression on the calls that the LASSO selects, if requested
    by_sharing : figures of the plotted columns by number of individuals
    notes : messages
    seconds : duration
    """

    stores: tuple[str, ...]
    table: str
    nucleotypes: int
    shared: int
    individuals: int
    without_path: int
    paths: str
    aucs: tuple[Auc, ...]
    deciles: tuple[Decile, ...]
    odds: Regression | None
    differences: tuple[Difference, ...]
    correlations: tuple[Correlation, ...]
    generation: Generation | None
    lasso: Regression | None
    by_sharing: tuple[Group, ...]
    notes: tuple[str, ...]
    seconds: float

    def to_dict(self) -> dict[str, object]:
        """Return all results as JSON values."""
        return {key: _finite(value) for key, value in asdict(self).items()}


@dataclass(frozen=True)
class Extras:
    """Optional analyses of `associate`.

    Attributes
    ----------
    lasso : regress on all calls, too, selected by the adaptive LASSO
    pgen : number of nucleotypes whose probability of generation is computed, half of them shared; 0
        for none
    seed : seed of their selection
    species : human or mouse, of olga's model; None takes the species of the stores' germline
    """

    lasso: bool = False
    pgen: int = 0
    seed: int = 0
    species: str | None = None


def associate(
    stores: Sequence[str],
    table: str | Path,
    *,
    nu: Sequence[int] | None = None,
    pi: Sequence[int] | None = None,
    extras: Extras | None = None,
    client: Client | None = None,
    options: Options | None = None,
    bars: Bars | None = None,
) -> Association:
    """Estimate the association of path counts and calls with sharing, with errors over individuals.

    Errors are those of the jackknife over individuals. Calls are selected by the adaptive LASSO
    [1]_ if requested.

    Parameters
    ----------
    stores : list of paths or addresses
        Stores of counts of the table, in its order.
    table : path
        Parquet file of `share`. Workers need access to its folder, which gets intermediate files.
    nu, pi : sequence of int, optional
        Limits of the selected path counts; None is the largest, () all. Deciles, odds and plots use
        the largest that was counted.
    extras : Extras, optional
        Optional analyses.
    client : distributed.Client, optional
        Dask client. None runs in this thread.
    options : `Options`, optional
        Resources and retries of a run on Dask.
    bars : callable, optional
        Function that returns a progress callback for a title. The callback is called after each
        task.

    Returns
    -------
    Association
        Estimates with their standard errors.

    Raises
    ------
    BadParams
        A store or the table is invalid, or the table was made from other stores.
    JobFailed
        A task failed after all retries.

    See Also
    --------
    share : Write the table.

    References
    ----------
    .. [1] H. Wang and C. Leng, "Unified LASSO estimation by least squares approximation", Journal
       of the American Statistical Association 102, 1039-1048, 2007.

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
    >>> found = tcr.associate(["a.zarr", "b.zarr"], "shared.parquet")
    >>> found.individuals, found.shared == shared.shared
    (2, True)
    """
    started, extras = time.monotonic(), extras or Extras()
    opened, table = open_all(stores), Path(table)
    watch = Watch.of_versions(lambda: all_versions(opened) | file_versions(table))
    names = check_table(table, opened)
    total = largest_total(opened[0])
    columns = tuple(dict.fromkeys((total, *path_columns(opened[0], nu, pi))))
    dry_run.stop(lambda: JobPlan(str(table), ()))
    with temporary_folder(table) as folder:
        around = background(table, len(names))
        job = Passes(opened, table.absolute(), columns, around, folder, client, options, bars)
        if extras.pgen:
            model_of(opened[0], extras.species)  # report mistakes before hours of work
        with watch.check_at_end():
            n = job.extract(texts=extras.pgen > 0)
        estimates = _Estimates.of(job, total.name, n, extras)
    found = estimates.by_column
    return Association(
        stores=tuple(store.address for store in opened),
        table=str(table),
        nucleotypes=n,
        shared=int(found.owners.shared.sum()),
        individuals=around.individuals,
        without_path=int((found.total == 0).sum()),
        paths=total.name,
        aucs=found.aucs,
        deciles=deciles(found.total, found.owners),
        odds=estimates.odds,
        differences=found.differences,
        correlations=estimates.correlations,
        generation=estimates.generation,
        lasso=estimates.lasso,
        by_sharing=estimates.by_sharing,
        notes=tuple(estimates.notes(names)),
        seconds=time.monotonic() - started,
    )


@dataclass(frozen=True, eq=False)
class _Estimates:
    """Estimates of `associate` from the extracted columns.

    Attributes
    ----------
    by_column : statistics of single columns
    correlations, odds, lasso, generation, by_sharing : as in `Association`
    words : messages of the regressions
    """

    by_column: _ByColumn
    correlations: tuple[Correlation, ...]
    odds: Regression | None
    lasso: Regression | None
    generation: Generation | None
    by_sharing: tuple[Group, ...]
    words: tuple[str, ...]

    @classmethod
    def of(cls, job: Passes, total: str, n: int, extras: Extras) -> _Estimates:
        """Run all passes over the columns.

        Parameters
        ----------
        total : name of the total path count
        n : number of nucleotypes
        """
        predictors = predictor_names(job.stores[0])
        found = _ByColumn.of(job, total)
        correlations = job.correlate(n)
        asked = SharingModel(job, total, found.total, found.owners, predictors)
        odds, words = asked.regress(lasso=False)
        lasso, more = asked.regress(lasso=True) if extras.lasso else (None, ())
        by_sharing = job.group((total, *predictors))
        generation = _generation(job, total, found.owners, extras)
        return cls(found, correlations, odds, lasso, generation, by_sharing, (*words, *more))

    def notes(self, names: Sequence[str]) -> Iterator[str]:
        """Yield messages on the errors, on dominant individuals and on constant columns.

        Parameters
        ----------
        names : names of the individuals, or none
        """
        yield from _uncertainty(self.by_column.owners, names)
        yield from _heavy(self.by_column.aucs[0], self.odds, names)
        yield from _constants(self.correlations)
        yield from self.words


def _generation(job: Passes, total: str, owners: Owners, extras: Extras) -> Generation | None:
    if not extras.pgen:
        return None
    sample = PgenSample(job, total, owners, extras.pgen, extras.seed)
    return compare_probabilities(sample, model_of(job.stores[0], extras.species))


@dataclass(frozen=True, eq=False)
class _ByColumn:
    """Statistics of single columns: AUCs of path counts, differences of calls."""

    owners: Owners
    total: Numbers
    aucs: tuple[Auc, ...]
    differences: tuple[Difference, ...]

    @classmethod
    def of(cls, job: Passes, total: str) -> _ByColumn:
        owners, counts = job.owners(), job.column(total)
        calls = {name: job.column(name) for name in predictor_names(job.stores[0])}
        found = [*_aucs(job, total, owners), *_by_frame(job, total, owners)]
        qs = false_discovery([each.p for each in found])
        aucs = tuple(replace(each, q=q) for each, q in zip(found, qs, strict=True))
        return cls(owners, counts, aucs, estimate_differences(calls, owners))


def _aucs(job: Passes, total: str, owners: Owners) -> Iterator[Auc]:
    """Yield the AUC of all counts, the total first, also within strata."""
    counts, length = job.column(total), job.column(LENGTH)
    yield auc_of(total, counts, owners)
    yield auc_of(total, counts, owners, length, "equal length")
    yield auc_of(total, counts, owners, job.column(STRATUM), "equal V, J and length")
    yield auc_of(SHORTNESS, -length.astype(int), owners)
    for column in job.columns:
        if column.name != total:
            yield auc_of(column.name, job.column(column.name), owners)


def _by_frame(job: Passes, total: str, owners: Owners) -> Iterator[Auc]:
    """Yield the AUC in and out of frame: sequences out of frame are not under selection."""
    productive = job.column(PRODUCTIVE)
    if productive.all() or not productive.any():
        return
    for frame, name in FRAMES.items():
        rows = (productive == frame).nonzero()[0]
        yield auc_of(total, job.column(total)[rows], owners.only(rows), None, name)


def _uncertainty(owners: Owners, names: Sequence[str]) -> Iterator[str]:
    """Yield messages on the method of error estimation, or why there are no errors."""
    individuals, shared = owners.individuals, int(owners.shared.sum())
    if individuals < FEWEST:
        people = f"{individuals} individual{'s' if individuals > 1 else ''}"
        yield f"{people}: no errors, the jackknife needs {FEWEST} or more"
        return
    lacking = [(who, left) for who, left in _left(owners) if left]
    if not lacking:
        yield HOW
    elif shared in (0, len(owners.counts)):
        yield f"no errors: {'all nucleotypes are' if shared else 'no nucleotype is'} shared"
    for who, left in lacking if 0 < shared < len(owners.counts) else ():
        name = names[who] if names else f"individual {who}"
        yield (
            f"no errors: without {name} {left} shared, and the jackknife needs an estimate "
            "without each individual"
        )


def _left(owners: Owners) -> Iterator[tuple[int, str]]:
    """Yield each individual and the problem of the jackknife without it, or "".

    The problem is that no nucleotype, or every one, is then shared.
    """
    n, shared = len(owners.counts), int(owners.shared.sum())
    for i in range(owners.individuals):
        still = shared - len(owners.demoted(i))
        of = n - len(owners.lost(i))
        yield i, "no nucleotype is" if not still else "all nucleotypes are" if still == of else ""


def _heavy(auc: Auc, odds: Regression | None, names: Sequence[str]) -> Iterator[str]:
    """Yield messages on individuals that dominate the variance of an estimate."""
    said: list[tuple[str, Auc | Coefficient]] = [("the area of all paths", auc)]
    if odds is not None:
        said += [(f"the odds by {each.predictor}", each) for each in odds.coefficients[:1]]
    for what, each in said:
        if each.weight > HEAVY:
            who = names[each.heaviest] if names else f"individual {each.heaviest}"
            yield (
                f"{who} makes {each.weight:.0%} of the variance of {what}: draw all down to equal "
                "depth (gangsaw tcr share --rarefy min)"
            )


def _constants(found: Sequence[Correlation]) -> Iterator[str]:
    """Yield messages on constant columns, which have no correlation."""
    pairs = [(name, each) for each in found for name in (each.paths, each.outcome)]
    has = {name for name, each in pairs if not math.isnan(each.rho)}
    for name in dict.fromkeys(name for name, _ in pairs if name not in has):
        yield f"no correlation with {name}: it is constant"


def _finite(value: object) -> object:
    """Return a value for JSON, with None for NaN and infinity."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
