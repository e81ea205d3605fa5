"""Tasks of sharing and statistics keep within the memory that they promise."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from helpers.tcr_stores import repertoires, write_counts

from gangsaw.tasks.tcr.sharing import share as sharing
from gangsaw.tasks.tcr.sharing.individuals import Individuals, individuals
from gangsaw.tasks.tcr.statistics import by_sharing, spearman
from gangsaw.tasks.tcr.statistics.fits import design, logistic
from gangsaw.tasks.tcr.statistics.fits import terms as terms_of
from gangsaw.tasks.tcr.statistics.histograms import ValueCounts
from gangsaw.tasks.tcr.statistics.nucleotypes import background, extract
from gangsaw.tasks.tcr.statistics.nucleotypes.predictors import predictor_names
from gangsaw.tasks.tcr.store.counts_store import CountsStore, open_all, runs
from gangsaw.tasks.tcr.store.path_columns import path_columns

ROWS = 20_000  # so that what does not grow with rows is little
SAMPLES = ("ann", "ben", "cem")
PLAIN = 1 << 18  # what any task needs


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[CountsStore, ...]:
    """A store whose rows are all different, and modules whose runs and parts are as long."""
    for module in (by_sharing, design, extract, logistic, spearman):
        monkeypatch.setattr(module, "RUN_ROWS", ROWS)
    rows = repertoires(1, ROWS, SAMPLES)
    texts = np.random.default_rng(2).choice(list("ACGT"), (ROWS, 60))
    rows["cdr3"] = ["".join(text) for text in texts]
    write_counts(tmp_path / "a.zarr", rows, SAMPLES, chunk=ROWS)
    return open_all([str(tmp_path / "a.zarr")])


def peak(task: Callable[[Any], Any], batch: Any) -> int:
    """Return the most bytes that Python, NumPy and Arrow held together, or more."""
    task(batch)  # imports and caches
    before = pa.total_allocated_bytes()
    pool = pa.system_memory_pool()
    usual = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        task(batch)
        python = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(usual)
    assert pool.max_memory() > before
    return python + pool.max_memory()


def test_share(
    stores: tuple[CountsStore, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = individuals(SAMPLES)
    (run,) = runs(stores, ROWS)
    spread = sharing._Spread(stores, people, tmp_path, 1)
    promise = spread.peak_bytes * ROWS // sharing.RUN_ROWS
    assert peak(spread, run) < promise + PLAIN
    owners = Individuals(SAMPLES, SAMPLES, (0, 1, 2))
    group = sharing._AcrossIndividuals(
        owners, (10**6,) * 3, (tmp_path / f"rows-{run.place}",), tmp_path, 1
    )
    assert peak(group, 0) < group.peak_bytes * ROWS // sharing.PART_ROWS + PLAIN


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("limits", [None, ()], ids=["largest", "all"])
def test_associate(
    stores: tuple[CountsStore, ...], tmp_path: Path, limits: tuple[int, ...] | None
) -> None:
    table = tmp_path / "a.parquet"
    sharing.share([str(tmp_path / "a.zarr")], table)
    (run,) = runs(stores, ROWS)
    columns = path_columns(stores[0], limits, limits)
    counts, calls = tuple(column.name for column in columns), predictor_names(stores[0])
    file = extract.file_of(tmp_path, run)
    around = background.background(table, len(SAMPLES))
    terms = terms_of.adjusted(counts[0], 1.0, 1.0, zeros=True)
    plain = tuple(terms_of.Term(name, "", name) for name in calls)
    predictors = design.Design((*terms, *plain), around.log_depths)
    beta = (0.0,) * (1 + len(predictors.names))
    points = tuple(logistic.Point(beta, i) for i in (None, 0, 1))
    named = (*counts, *extract.OUTCOMES)
    for task, batch in (
        (extract.Extract(stores, table, columns, tmp_path, around, texts=True), run),
        (tallied := spearman.CountColumns(named), file),
        (by_sharing.CountGroups((counts[0], *calls)), file),
        (design.Moments(predictors), file),
        (logistic.NewtonPass(predictors, points), file),
    ):
        assert peak(task, batch) < task.peak_bytes + PLAIN, task.name
    for name, found in tallied(file).items():
        tally = ValueCounts()
        tally.add(*found)
        spearman.write_ranks(tmp_path, name, tally)
    ranks = spearman.RankProducts(counts, extract.OUTCOMES, tmp_path)
    assert peak(ranks, file) < ranks.peak_bytes + PLAIN
