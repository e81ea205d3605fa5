"""Stores where a variable is huge, constant, missing, or separates what is shared."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from helpers.tcr_associations import ROWS, SAMPLES, run, shared_store, table_of
from helpers.tcr_stores import J_GENES, Made, write_counts
from scipy import stats

from gangsaw.codecs.core.errors import GangsawError
from gangsaw.tasks.tcr.sharing.share import share
from gangsaw.tasks.tcr.statistics.associate import CAUTION, Association


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A store of counts, and the table of its nucleotypes next to it."""
    return shared_store(tmp_path_factory.mktemp("associate"))


def changed(made: Made, folder: Path, **variables: Any) -> Association:
    """Write the store with other variables, share and associate."""
    other = write_counts(folder / "counts.zarr", made.rows, SAMPLES, **variables)
    share([str(other.path)], table_of(other))
    return run(other)


def test_counts_beyond_floats_are_ranked_exactly(made: Made, tmp_path: Path) -> None:
    big = np.uint64(2**64 - 1) - made.data["paths_no_d"].values % 7
    full = np.zeros_like(made.data["paths_full"].values)
    found = changed(
        made,
        tmp_path,
        paths_no_d=(made.data["paths_no_d"].dims, big),
        paths_full=(made.data["paths_full"].dims, full),
    )
    table = pq.read_table(tmp_path / "shared.parquet").to_pandas()
    values = big[table["first_reference"], 2, 1]
    assert len(np.unique(values.astype(float))) == 1, "floats would tell none of them apart"
    wanted = stats.spearmanr(stats.rankdata(values), table["copies"]).statistic
    (rho,) = (
        each.rho
        for each in found.correlations
        if each.paths == "no_d nu=2 pi=1" and each.outcome == "copies"
    )
    assert rho == pytest.approx(wanted, abs=1e-13)


def test_a_sum_beyond_64_bits_is_refused(made: Made, tmp_path: Path) -> None:
    big = np.full_like(made.data["paths_full"].values, 2**63)
    with pytest.raises(GangsawError, match="exceeds 64 bits: choose a smaller nu"):
        changed(made, tmp_path, paths_full=(made.data["paths_full"].dims, big))


def test_constants_are_said(made: Made, tmp_path: Path) -> None:
    calls = made.data["v_match"].dims, np.full_like(made.data["v_match"].values, 11)
    length = calls[0], np.full_like(calls[1], 11)
    zeros = np.zeros_like(made.data["paths_zero_length_d"].values)
    dims = made.data["paths_zero_length_d"].dims
    found = changed(
        made, tmp_path, v_match=calls, v_length=length, paths_zero_length_d=(dims, zeros)
    )
    assert found.regression is not None
    for name in ("v_erosion", "v_p", "log1p zero_length_d TRBD1*01 nu=2 pi=1"):
        assert f"{name} left out: it is constant" in found.regression.notes
    rhos = [each.rho for each in found.correlations if each.paths.startswith("zero_length_d")]
    assert rhos
    assert all(math.isnan(rho) for rho in rhos)
    caution, *constant = found.notes
    assert caution == CAUTION
    assert [note.split(":")[0] for note in constant] == [
        f"no correlation with zero_length_d {d} nu=2 pi=1" for d in ("TRBD1*01", "TRBD2*01")
    ]
    figures = found.to_dict()["correlations"]
    assert {f["rho"] for f in figures if f["paths"].startswith("zero_length_d")} == {None}


def test_d_erosion_where_the_store_has_the_lengths(made: Made, tmp_path: Path) -> None:
    found = changed(made, tmp_path, d_gene_length=(("d_gene",), np.array([5, 6], "i2")))
    assert found.regression is not None
    names = {each.predictor for each in found.regression.coefficients}
    assert {"d_erosion", "d_p"} < names
    assert "d_match" not in names


def test_a_chain_without_d(tmp_path: Path) -> None:
    made = write_counts(tmp_path / "counts.zarr", ROWS, SAMPLES, d_genes=())
    share([str(made.path)], table_of(made))
    found = run(made)
    assert {each.paths for each in found.correlations} == {"no_d nu=2 pi=1"}
    assert found.regression is not None
    assert [each.predictor for each in found.regression.coefficients][:3] == [
        "log1p no_d nu=2 pi=1",
        "v_erosion",
        "v_p",
    ]
    assert {"no_d nu=2 pi=1", "ndn"} < {each.column for each in found.by_sharing}
    assert "n2" not in {each.column for each in found.by_sharing}


def separated(made: Made, folder: Path, *, whole: bool) -> Association:
    """Let NDN be long in all shared nucleotypes, or in some of them, and in no other."""
    table = pq.read_table(table_of(made)).to_pandas().set_index(["cdr3", "v", "j"])
    rows = made.rows.copy()
    rows["v"] = made.data["v_gene"].values[rows["v"]]
    rows["j"] = np.array(J_GENES)[rows["j"]]
    shared = table.loc[pd.MultiIndex.from_frame(rows[["cdr3", "v", "j"]]), "shared"].to_numpy()
    long = shared & (whole | (made.data["length"].values % 2 == 0))
    return changed(made, folder, vj_distance=(("reference",), np.where(long, 30, 5).astype("i2")))


def test_complete_separation_is_said(made: Made, tmp_path: Path) -> None:
    regression = separated(made, tmp_path, whole=True).regression
    assert regression is not None
    assert not regression.converged
    assert any(word in regression.notes[-1] for word in ("separate", "singular"))
    assert "no LASSO" in regression.notes[-1]
    assert all(each.kept is None for each in regression.coefficients)
    assert all(math.isnan(each.error) for each in regression.coefficients)


def test_a_predictor_that_separates_by_accident_is_left_out(made: Made, tmp_path: Path) -> None:
    regression = separated(made, tmp_path, whole=False).regression
    assert regression is not None
    assert regression.notes[0].startswith("ndn left out: alone it separates")
    assert regression.converged
    assert "ndn" not in {each.predictor for each in regression.coefficients}


def test_nothing_shared_leaves_the_regression_out(tmp_path: Path) -> None:
    rows = ROWS.drop_duplicates(["cdr3", "v", "j"]).reset_index(drop=True)
    made = write_counts(tmp_path / "counts.zarr", rows, SAMPLES)
    share([str(made.path)], table_of(made))
    found = run(made)
    assert found.regression is None
    assert found.notes == (
        "no correlation with individuals: it is constant",
        "no regression: no nucleotype is shared",
    )
    rho = {each.outcome: each.rho for each in found.correlations}
    assert math.isnan(rho["individuals"])
    assert not math.isnan(rho["copies"])
