"""Stores where a variable is huge, constant, missing, or separates what is shared."""

from __future__ import annotations

import math
from dataclasses import replace
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
from gangsaw.tasks.tcr.commands.association import print_association
from gangsaw.tasks.tcr.sharing.share import share
from gangsaw.tasks.tcr.statistics.associate import Association, Extras, _heavy
from gangsaw.tasks.tcr.statistics.fits.terms import DEPTH_NAME
from gangsaw.tasks.tcr.statistics.jackknife import HOW
from gangsaw.tasks.tcr.statistics.plots import plot_deciles


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A store of counts, and the table of its nucleotypes next to it."""
    return shared_store(tmp_path_factory.mktemp("associate"))


def changed(made: Made, folder: Path, **variables: Any) -> Association:
    """Write the store with other variables, share and associate, with the LASSO."""
    other = write_counts(folder / "counts.zarr", made.rows, SAMPLES, **variables)
    share([str(other.path)], table_of(other))
    return run(other, extras=Extras(lasso=True))


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
    with pytest.raises(
        GangsawError, match="'all nu=2 pi=1' exceeds 64 bits: count with a smaller --max-n"
    ):
        changed(made, tmp_path, paths_full=(made.data["paths_full"].dims, big))


def test_constants_are_said(made: Made, tmp_path: Path) -> None:
    calls = made.data["v_match"].dims, np.full_like(made.data["v_match"].values, 11)
    length = calls[0], np.full_like(calls[1], 11)
    zeros = np.zeros_like(made.data["paths_zero_length_d"].values)
    dims = made.data["paths_zero_length_d"].dims
    found = changed(
        made, tmp_path, v_match=calls, v_length=length, paths_zero_length_d=(dims, zeros)
    )
    assert found.lasso is not None
    for name in ("v_erosion", "v_p"):
        assert f"{name} left out: it is constant" in found.lasso.notes
    rhos = [each.rho for each in found.correlations if each.paths.startswith("zero_length_d")]
    assert rhos
    assert all(math.isnan(rho) for rho in rhos)
    areas = [each for each in found.aucs if each.column.startswith("zero_length_d")]
    assert {each.auc for each in areas} == {0.5}
    constant = [note.split(":")[0] for note in found.notes if note.startswith("no correlation")]
    assert constant == [
        f"no correlation with zero_length_d {d} nu=2 pi=1" for d in ("TRBD1*01", "TRBD2*01")
    ]
    figures = found.to_dict()["correlations"]
    assert {f["rho"] for f in figures if f["paths"].startswith("zero_length_d")} == {None}


def test_d_erosion_where_the_store_has_the_lengths(made: Made, tmp_path: Path) -> None:
    found = changed(made, tmp_path, d_gene_length=(("d_gene",), np.array([5, 6], "i2")))
    assert found.lasso is not None
    names = {each.predictor for each in found.lasso.coefficients}
    assert {"d_erosion", "d_p"} < names
    assert "d_match" not in names


def test_a_chain_without_d(tmp_path: Path) -> None:
    made = write_counts(tmp_path / "counts.zarr", ROWS, SAMPLES, d_genes=())
    share([str(made.path)], table_of(made))
    found = run(made, extras=Extras(lasso=True))
    assert {each.paths for each in found.correlations} == {"no_d nu=2 pi=1"}
    assert found.paths == "no_d nu=2 pi=1"
    assert found.lasso is not None
    names = [each.predictor for each in found.lasso.coefficients]
    assert names[0] == "log10 paths"
    assert names[-4:] == ["ndn", *(f"share of {x} in ndn" for x in "ATC")]
    assert {"no_d nu=2 pi=1", "ndn"} < {each.column for each in found.by_sharing}
    assert "n2" not in {each.column for each in found.by_sharing}


def separated(made: Made, folder: Path, *, whole: bool) -> Association:
    """Let N2 be long in all shared nucleotypes, or in some of them, and in no other."""
    table = pq.read_table(table_of(made)).to_pandas().set_index(["cdr3", "v", "j"])
    rows = made.rows.copy()
    rows["v"] = made.data["v_gene"].values[rows["v"]]
    rows["j"] = np.array(J_GENES)[rows["j"]]
    shared = table.loc[pd.MultiIndex.from_frame(rows[["cdr3", "v", "j"]]), "shared"].to_numpy()
    long = shared & (whole | (made.data["length"].values % 2 == 0))
    n2 = np.repeat(np.where(long, 30, 5).astype("i2")[:, None], 2, axis=1)
    return changed(made, folder, dj_distance=(("reference", "d_gene"), n2))


def test_complete_separation_is_said(made: Made, tmp_path: Path) -> None:
    lasso = separated(made, tmp_path, whole=True).lasso
    assert lasso is not None
    assert not lasso.converged
    (note,) = (note for note in lasso.notes if "no LASSO" in note)
    assert any(word in note for word in ("separate", "singular"))
    assert all(each.kept is None for each in lasso.coefficients)
    assert all(math.isnan(each.error) for each in lasso.coefficients)


def test_a_predictor_that_separates_by_accident_is_left_out(made: Made, tmp_path: Path) -> None:
    lasso = separated(made, tmp_path, whole=False).lasso
    assert lasso is not None
    assert lasso.notes[0].startswith("n2 left out: alone it separates")
    assert lasso.converged
    assert "n2" not in {each.predictor for each in lasso.coefficients}


def test_nothing_shared_leaves_the_regression_out(tmp_path: Path) -> None:
    rows = ROWS.drop_duplicates(["cdr3", "v", "j"]).reset_index(drop=True)
    made = write_counts(tmp_path / "counts.zarr", rows, SAMPLES)
    share([str(made.path)], table_of(made))
    found = run(made)
    assert found.odds is None
    assert found.notes == (
        "no errors: no nucleotype is shared",
        "no correlation with individuals: it is constant",
        "no regression: no nucleotype is shared",
    )
    rho = {each.outcome: each.rho for each in found.correlations}
    assert math.isnan(rho["individuals"])
    assert not math.isnan(rho["copies"])
    assert all(math.isnan(each.auc) for each in found.aucs)
    assert {each.shared for each in found.deciles} == {0}


def those_of(folder: Path, samples: tuple[str, ...], rows: pd.DataFrame) -> Association:
    made = write_counts(folder / "counts.zarr", rows.reset_index(drop=True), samples)
    share([str(made.path)], table_of(made))
    return run(made, extras=Extras(lasso=True))


def test_all_shared_leaves_the_regression_out(tmp_path: Path) -> None:
    rows = ROWS.drop_duplicates(["cdr3", "v", "j"]).head(60)
    twice = pd.concat([rows.assign(sample=i) for i in range(3)])
    found = those_of(tmp_path, SAMPLES[:3], twice)
    assert found.shared == found.nucleotypes == 60
    assert (found.odds, found.lasso) == (None, None)
    assert "no regression: all nucleotypes are shared" in found.notes
    assert math.isnan(found.aucs[0].auc)
    assert {each.share for each in found.deciles} == {1}
    assert plot_deciles(found).axes[0].get_ylim()[1] == 1
    assert found.to_dict()["aucs"][0]["auc"] is None  # type: ignore[index]


def test_one_individual(tmp_path: Path) -> None:
    found = those_of(tmp_path, ("ann",), ROWS[ROWS["sample"] == 0])
    assert found.shared == 0
    assert found.odds is None
    assert found.notes[0] == "1 individual: no errors, the jackknife needs 3 or more"
    axes = plot_deciles(found).axes[0]
    assert (axes.get_yscale(), axes.get_ylim()) == ("linear", (0, 1))  # a share of none is at 0


def test_a_figure_that_is_not_there_is_left_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    print_association(those_of(tmp_path, ("ann",), ROWS[ROWS["sample"] == 0]))
    assert " nan" not in capsys.readouterr().out


def test_two_individuals_have_estimates_without_errors(tmp_path: Path) -> None:
    """Without either of them nothing is shared: there is no jackknife."""
    found = those_of(tmp_path, SAMPLES[:2], ROWS[ROWS["sample"] < 2])
    auc = found.aucs[0]
    assert 0 < auc.auc < 1
    assert math.isnan(auc.error)
    assert math.isnan(auc.p)
    assert math.isnan(auc.q)
    assert found.odds is not None
    assert found.odds.converged
    assert all(math.isfinite(each.odds_ratio) for each in found.odds.coefficients)
    assert all(math.isnan(each.low) for each in found.odds.coefficients)
    assert found.notes[0].startswith("2 individuals: no errors")


def test_one_who_holds_all_sharing_is_told(tmp_path: Path) -> None:
    """Without that one nothing is shared, so that no figure has an error."""
    alone = ROWS.drop_duplicates(["cdr3", "v", "j"]).head(300).assign(sample=lambda t: t.index % 3)
    again = alone[alone["sample"] > 0].head(80).assign(sample=0)  # the first with either other
    found = those_of(tmp_path, SAMPLES[:3], pd.concat([alone, again]))
    assert found.shared == 80
    assert math.isnan(found.aucs[0].error)
    assert found.notes[0].startswith(f"no errors: without {SAMPLES[0]} no nucleotype is shared")
    assert HOW not in found.notes


def test_equal_depths_are_no_predictor(tmp_path: Path) -> None:
    own = ROWS.drop_duplicates(["cdr3", "v", "j"]).head(600).assign(sample=lambda t: t.index % 3)
    again = own.head(150).assign(sample=lambda t: (t["sample"] + 1) % 3)
    found = those_of(tmp_path, SAMPLES[:3], pd.concat([own, again]))
    assert found.odds is not None
    assert DEPTH_NAME not in [each.predictor for each in found.odds.coefficients]
    assert found.odds.notes[0] == (
        f"{DEPTH_NAME} left out: all individuals have about as many nucleotypes, 241 to 260"
    )
    assert found.notes[0] == HOW


def test_few_events_are_told_and_fewer_refused(tmp_path: Path) -> None:
    alone = ROWS.drop_duplicates(["cdr3", "v", "j"]).head(400).assign(sample=lambda t: t.index % 3)
    for n, words in ((42, "events per parameter, fewer than 10"), (12, "fewer than 5 each")):
        again = alone.head(n).assign(sample=lambda t: (t["sample"] + 1) % 3)
        folder = tmp_path / str(n)
        folder.mkdir()
        found = those_of(folder, SAMPLES[:3], pd.concat([alone, again]))
        assert found.shared == n
        notes = " ".join([*found.notes, *(found.odds.notes if found.odds else ())])
        assert words in notes
        assert (found.odds is None) == (n == 12)


def test_nucleotypes_without_a_path_get_an_indicator_or_are_left_out(
    made: Made, tmp_path: Path
) -> None:
    """Their log10 is no number: whatever stands for it must not change the odds by paths."""
    none = np.zeros_like(made.data["paths_no_d"].values)
    dims = made.data["paths_full"].dims
    table = pq.read_table(table_of(made)).to_pandas().set_index(["cdr3", "v", "j"])
    keys = made.rows.assign(
        v=made.data["v_gene"].values[made.rows["v"]], j=made.data["j_gene"].values[made.rows["j"]]
    )
    shared = table.loc[pd.MultiIndex.from_frame(keys[["cdr3", "v", "j"]]), "shared"].to_numpy()
    for name, zero in (("some", made.data["length"].values % 5 == 0), ("unshared", ~shared)):
        hidden = zero & (made.data["length"].values % 2 == 0)
        full = np.where(hidden[:, None, None, None], 0, made.data["paths_full"].values + 1)
        (tmp_path / name).mkdir()
        found = changed(
            made,
            tmp_path / name,
            paths_full=(dims, full),
            paths_no_d=(made.data["paths_no_d"].dims, none),
        )
        assert found.odds is not None
        terms = {each.predictor: each for each in found.odds.coefficients}
        assert ("no path" in terms) == (name == "some")
        assert found.deciles[0].number == 0
        assert found.deciles[0].nucleotypes == found.without_path > 0
        assert 0 < terms["log10 paths"].deviation < 2
        if name == "unshared":
            assert "0 of them are shared, too few for an indicator" in found.odds.notes[0]
            assert found.odds.nucleotypes == found.nucleotypes - found.without_path


def test_frames_are_told_apart(made: Made, tmp_path: Path) -> None:
    found = changed(made, tmp_path)
    frames = {each.within: each for each in found.aucs if "frame" in each.within}
    assert len(frames) == 2
    table = pq.read_table(tmp_path / "shared.parquet").to_pandas()
    codons = table["cdr3"].str.findall("...")
    stops = codons.map(lambda each: bool({"TAA", "TAG", "TGA"} & set(each)))
    good = (table["cdr3"].str.len() % 3 == 0) & ~stops
    auc = frames["in frame, no stop codon"]
    assert (auc.shared, auc.unshared) == (
        (good & table["shared"]).sum(),
        (good & ~table["shared"]).sum(),
    )


def test_an_individual_that_all_hangs_on_is_named(made: Made) -> None:
    found = run(made)
    light = replace(found.aucs[0], heaviest=1, weight=0.4)
    heavy = replace(light, weight=0.81)
    assert not list(_heavy(light, None, SAMPLES))
    (note,) = _heavy(heavy, None, SAMPLES)
    assert note.startswith("ben makes 81% of the variance of the area of all paths: draw all down")
    (note,) = _heavy(heavy, None, ())
    assert note.startswith("individual 1 makes 81%")
    weights = [each.weight for each in found.aucs]
    assert all(0.2 <= weight <= 1 for weight in weights)
