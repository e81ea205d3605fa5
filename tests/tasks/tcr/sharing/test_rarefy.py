"""Repertoires drawn down to equal depth: without replacement, seeded, as often as chance has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.tcr_stores import repertoires, write_counts
from scipy import stats

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.sharing import share as module
from gangsaw.tasks.tcr.sharing.rarefy import Rarefaction, draws
from gangsaw.tasks.tcr.sharing.share import share

SAMPLES = ("ann", "ben", "cem")
ROWS = repertoires(1, 600, SAMPLES, pool=500)


def test_each_individual_keeps_as_many_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RUN_ROWS", 100)
    write_counts(tmp_path / "a.zarr", ROWS, SAMPLES)
    totals = ROWS.groupby("sample")["copies"].sum()
    tables = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        target = tmp_path / f"{name}.parquet"
        found = share([str(tmp_path / "a.zarr")], target, rarefy=Rarefaction(0, seed))
        assert found.depth == totals.min()
        table = pq.read_table(target)
        frame = table.to_pandas()
        assert frame["copies"].sum() == 3 * totals.min()
        assert frame["frequency_sum"].sum() == pytest.approx(3)
        alone = frame[frame["individuals"] == 1].groupby(frame["owners"].map(lambda each: each[0]))
        assert (alone["copies"].sum() < totals.min()).all()
        tables.append(table)
    assert tables[0].equals(tables[1])
    assert not tables[0].equals(tables[2])


def test_draws_are_hypergeometric() -> None:
    """The copies of a row over many seeds, where rows lie in two runs."""
    rows = pa.table({"copies": np.array([12, 3, 25, 0, 20])})
    owners = np.array([0, 0, 1, 0, 0], np.int32)
    copies = {0: np.array([35, 25]), 5: np.array([35, 25])}
    kept = []
    for seed in range(400):
        drawn = draws(Rarefaction(30, seed), copies, ("a", "b"))
        both = [drawn.of(rows, owners, place) for place in (0, 5)]
        assert sum(sum(each["copies"].to_pylist()) for each in both) == 2 * 30
        assert all(0 not in each["copies"].to_pylist() for each in both)
        kept.append(sum(drawn.copies[5]) - drawn.copies[5][1])
    law = stats.hypergeom(70, 35, 30)  # of the first individual, from the second run
    values = np.arange(10, 21)
    seen = np.array([kept.count(value) for value in values])
    wanted = law.pmf(values) / law.pmf(values).sum() * seen.sum()
    assert stats.chisquare(seen, wanted).pvalue > 1e-3
    assert seen.sum() > 380


def test_depths_that_cannot_be_drawn_are_refused(tmp_path: Path) -> None:
    write_counts(tmp_path / "a.zarr", ROWS, SAMPLES)
    most = ROWS.groupby("sample")["copies"].sum().max()
    with pytest.raises(BadParams, match="copies, fewer than the"):
        share([str(tmp_path / "a.zarr")], tmp_path / "a.parquet", rarefy=Rarefaction(int(most)))
    with pytest.raises(BadParams, match="must not be negative"):
        Rarefaction(-1)
    assert not (tmp_path / "a.parquet").exists()
