"""share, associate and export on stores of totals alone and on stores of wide limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.tcr_runs import Repertoires, records, setup, written

from gangsaw.tasks.tcr.model import MOST, Model
from gangsaw.tasks.tcr.sharing.share import share
from gangsaw.tasks.tcr.statistics.associate import Association, Extras, associate
from gangsaw.tasks.tcr.statistics.nucleotypes.predictors import predictor_names, read_predictors
from gangsaw.tasks.tcr.statistics.plots import write_plots
from gangsaw.tasks.tcr.store.counts_store import open_counts
from gangsaw.tasks.tcr.store.setup import Setup
from gangsaw.tasks.tcr.store.tables.export import ExportChoice, export

N = 90
COMMON = 75


@pytest.fixture(scope="module")
def donors(tmp_path_factory: pytest.TempPathFactory) -> Repertoires:
    """Three of which each has two thirds of the same rows."""
    folder = tmp_path_factory.mktemp("donors")
    common = records(COMMON, 9, "common")
    several = [
        [*records(N, seed, name), *(row for i, row in enumerate(common) if i % 3 != seed)]
        for seed, name in enumerate("abc")
    ]
    paths = [written(folder, name, rows) for name, rows in zip("abc", several, strict=True)]
    return Repertoires(tuple(paths), ())


def found_in(donors: Repertoires, folder: Path, how: Setup) -> Association:
    donors.count(folder / "counts.zarr", how)
    share([str(folder / "counts.zarr")], folder / "shared.parquet")
    table, asked = folder / "shared.parquet", Extras(lasso=True)
    found = associate([str(folder / "counts.zarr")], table, extras=asked)
    write_plots(found, folder / "plots")
    return found


@pytest.mark.full
def test_a_store_of_totals_has_the_ends_of_the_best_d(donors: Repertoires, tmp_path: Path) -> None:
    found = found_in(donors, tmp_path, setup(by_d=False))
    assert found.odds is not None
    assert {"n1", "n2", "d5_erosion", "d3_p"} <= {each.call for each in found.differences}
    donors.count(tmp_path / "each.zarr", setup(by_d=True))
    every = [open_counts(str(tmp_path / name)) for name in ("counts.zarr", "each.zarr")]
    rows = range(every[0].rows)
    totals, each = (read_predictors(store, rows, np.arange(len(rows))) for store in every)
    assert tuple(totals) == predictor_names(every[0])
    for name in set(totals) & set(each):
        np.testing.assert_array_equal(totals[name], each[name], name)
    has_d = every[0].index("d_index", rows) >= 0
    ends = sum(totals[f"d{end}_erosion"] - totals[f"d{end}_p"] for end in (5, 3))
    np.testing.assert_array_equal(ends[has_d], (each["d_erosion"] - each["d_p"])[has_d])
    assert found.lasso is None or {"d5_erosion", "n1"} <= {
        one.predictor for one in found.lasso.coefficients
    }


@pytest.mark.full
def test_a_store_of_wide_limits(donors: Repertoires, tmp_path: Path) -> None:
    wide = setup(model=Model("both", max_p=MOST, max_n=MOST), chunk_rows=64)
    found = found_in(donors, tmp_path, wide)
    assert found.paths == f"all nu={MOST} pi={MOST}"
    assert found.odds is not None
    assert 0 < found.aucs[0].auc < 1
    choice = ExportChoice(("paths_total",), nu=(10, MOST), pi=(4, MOST))
    export(tmp_path / "counts.zarr", tmp_path / "t.csv", choice)
    table = pd.read_csv(tmp_path / "t.csv")
    assert (table["paths_total_nu255_pi255"] >= table["paths_total_nu10_pi4"]).all()
    limits = {"nu": (10,), "pi": (4,)}
    usual = associate([str(tmp_path / "counts.zarr")], tmp_path / "shared.parquet", **limits)
    assert "no_d nu=10 pi=4" in {each.column for each in usual.aucs}
