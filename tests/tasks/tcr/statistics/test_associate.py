"""Correlation and regression out of core equal what SciPy and statsmodels give in memory."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import statsmodels.api as sm
import xarray as xr
from helpers import clusters, tcr_oracle
from helpers.command_line import CommandLine
from helpers.tcr_associations import ROWS, SAMPLES, run, shared_store, table_of
from helpers.tcr_stores import Made, write_counts
from scipy import stats
from sklearn.metrics import roc_auc_score
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.outliers_influence import variance_inflation_factor

from gangsaw.codecs.core.errors import GangsawError
from gangsaw.tasks.tcr.sharing.share import share
from gangsaw.tasks.tcr.statistics import passes
from gangsaw.tasks.tcr.statistics.associate import Association, associate
from gangsaw.tasks.tcr.statistics.auc import Auc
from gangsaw.tasks.tcr.statistics.by_sharing import QUANTILES
from gangsaw.tasks.tcr.statistics.nucleotypes import extract


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A store of counts, and the table of its nucleotypes next to it."""
    return shared_store(tmp_path_factory.mktemp("associate"))


@pytest.fixture(scope="module")
def found(made: Made) -> Association:
    """All statistics, over many small runs of rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extract, "RUN_ROWS", 200)
        return run(made, nu=(0, 2), pi=())


@pytest.fixture(scope="module")
def frame(made: Made) -> pd.DataFrame:
    """A row per nucleotype: outcomes, path counts and calls, straight from the dataset."""
    table = pq.read_table(table_of(made)).to_pandas()
    data = made.data.isel(reference=table["first_reference"].to_numpy())
    columns = {name: table[name].to_numpy() for name in ("copies", "frequency", "individuals")}
    columns |= counts_of(data) | calls_of(data)
    return pd.DataFrame(columns)


def pairs_of(data: xr.Dataset) -> Any:
    return data["d_pairs_with_j"].values[:, data["j_index"].values].T


def counts_of(data: xr.Dataset) -> dict[str, Any]:
    found = {}
    full, zero, no_d = (
        data[name].values for name in ("paths_full", "paths_zero_length_d", "paths_no_d")
    )
    pairs = pairs_of(data)
    for nu in (0, 1, 2):
        for pi in (0, 1):
            at = f"nu={nu} pi={pi}"
            found[f"all {at}"] = (full[..., nu, pi] * pairs).sum(1) + no_d[:, nu, pi]
            found[f"no_d {at}"] = no_d[:, nu, pi]
            for i, d in enumerate(data["d_gene"].values):
                found[f"full {d} {at}"] = full[:, i, nu, pi]
                found[f"zero_length_d {d} {at}"] = zero[:, i, nu, pi]
        for i, d in enumerate(data["d_gene"].values):
            found[f"dp1 {d} nu={nu}"] = data["dp1_paths"].values[:, i, : nu + 1].sum(1)
    return found


def calls_of(data: xr.Dataset) -> dict[str, Any]:
    found = {}
    for end in "vj":
        eroded = (data[f"{end}_length"] - data[f"{end}_match"]).values
        found |= {f"{end}_erosion": eroded.clip(0), f"{end}_p": (-eroded).clip(0)}
    beside = (data["vd_distance"].clip(0) + data["dj_distance"].clip(0)).values
    scores = zip(pairs_of(data), data["d_length"].values, -beside, strict=True)
    best = [max(range(2), key=lambda i: (p[i], d[i], n[i])) for p, d, n in scores]
    best = xr.DataArray(best, dims="reference")
    of_best = data.isel(d_gene=best)
    found["d_match"] = of_best["d_length"].values
    for name, distance in (("n1", "vd_distance"), ("n2", "dj_distance"), ("ndn", "vj_distance")):
        found[name] = of_best[distance].values.clip(0)
        for i, nucleotide in enumerate("atcg"):
            found[f"{name}_{nucleotide}"] = of_best[f"{name}_composition"].values[:, i]
    return found


def test_correlations_equal_scipy(found: Association, frame: pd.DataFrame) -> None:
    names = {each.paths for each in found.correlations}
    assert len(names) == 2 * 2 * 6 + 2 * 2
    assert len(found.correlations) == 3 * len(names)
    for each in found.correlations:
        wanted = stats.spearmanr(frame[each.paths], frame[each.outcome])
        assert each.rho == pytest.approx(wanted.statistic, abs=1e-13), each
        assert each.p == pytest.approx(wanted.pvalue, rel=1e-9), each
        assert each.n == len(frame)


@pytest.fixture(scope="module")
def whole(made: Made) -> pd.DataFrame:
    """A row per nucleotype, from all rows."""
    return tcr_oracle.nucleotypes(made)


@pytest.fixture(scope="module")
def without(made: Made) -> list[pd.DataFrame]:
    """The same, without each individual."""
    return [tcr_oracle.nucleotypes(made, without=i) for i in range(len(SAMPLES))]


def logit(found: pd.DataFrame, whole: pd.DataFrame) -> Any:
    terms = sm.add_constant(tcr_oracle.design(found, whole))
    return sm.Logit(found["shared"], terms).fit(disp=0, method="newton", tol=1e-9, maxiter=99)


def test_odds_equal_statsmodels_without_each_individual(
    found: Association, whole: pd.DataFrame, without: list[pd.DataFrame]
) -> None:
    odds, wanted = found.odds, logit(whole, whole)
    assert odds is not None
    assert odds.converged
    names = [each.predictor for each in odds.coefficients]
    assert names == list(wanted.params.index[1:])
    again = [logit(each, whole).params for each in without]
    errors = tcr_oracle.jackknife_error(again)[1:]
    x = tcr_oracle.design(whole, whole)
    for i, each in enumerate(odds.coefficients):
        name = each.predictor
        assert each.estimate == pytest.approx(wanted.params[name], rel=1e-8, abs=1e-10)
        assert each.model_error == pytest.approx(wanted.bse[name], rel=1e-8)
        assert each.error == pytest.approx(errors[i], rel=1e-6)
        assert each.p == pytest.approx(2 * stats.t.sf(abs(each.estimate / each.error), 4))
        low, high = stats.t.interval(0.95, 4, each.estimate, each.error)
        assert (each.low, each.high) == pytest.approx((math.exp(low), math.exp(high)))
        assert each.odds_ratio == pytest.approx(math.exp(each.estimate))
        vif = variance_inflation_factor(sm.add_constant(x).to_numpy(), i + 1)
        assert each.vif == pytest.approx(vif, rel=1e-8)
    qs = multipletests([each.p for each in odds.coefficients], method="fdr_bh")[1]
    assert [each.q for each in odds.coefficients] == pytest.approx(qs.tolist())
    assert odds.log_likelihood == pytest.approx(wanted.llf, rel=1e-12)
    assert odds.null_log_likelihood == pytest.approx(wanted.llnull, rel=1e-10)
    n_shared = int(whole["shared"].sum())
    events = min(n_shared, len(whole) - n_shared)
    assert odds.events_per_parameter == events / len(names)


def by_column(found: Association, column: str, within: str = "") -> Auc:
    (auc,) = (each for each in found.aucs if (each.column, each.within) == (column, within))
    return auc


def test_areas_equal_scikit_learn_without_each_individual(
    found: Association, whole: pd.DataFrame, without: list[pd.DataFrame]
) -> None:
    for name, sign, column in (("all nu=2 pi=1", 1, "total"), ("shortness", -1, "length")):
        auc = by_column(found, name)
        assert auc.auc == pytest.approx(roc_auc_score(whole["shared"], sign * whole[column]))
        again = [roc_auc_score(each["shared"], sign * each[column]) for each in without]
        assert auc.error == pytest.approx(tcr_oracle.jackknife_error(again))
        assert auc.p == pytest.approx(2 * stats.t.sf(abs(auc.auc - 0.5) / auc.error, 4))
    qs = multipletests([each.p for each in found.aucs], method="fdr_bh")[1]
    assert [each.q for each in found.aucs] == pytest.approx(qs.tolist())


def within(found: pd.DataFrame, strata: list[str]) -> float:
    """Compare every pair of one stratum."""
    larger = pairs = 0.0
    for _, own in found.groupby(strata):
        one, other = own.loc[own["shared"], "total"], own.loc[~own["shared"], "total"]
        differences = np.subtract.outer(one.to_numpy(float), other.to_numpy(float))
        larger += (differences > 0).sum() + (differences == 0).sum() / 2
        pairs += differences.size
    return larger / pairs


def test_areas_within_strata_equal_all_pairs(
    found: Association, whole: pd.DataFrame, without: list[pd.DataFrame]
) -> None:
    for name, strata in (
        ("equal length", ["length"]),
        ("equal V, J and length", ["v", "j", "length"]),
    ):
        auc = by_column(found, "all nu=2 pi=1", name)
        assert auc.auc == pytest.approx(within(whole, strata))
        again = [within(each, strata) for each in without]
        assert auc.error == pytest.approx(tcr_oracle.jackknife_error(again))


def test_deciles_equal_a_group_by(
    found: Association, whole: pd.DataFrame, without: list[pd.DataFrame]
) -> None:
    for each in found.deciles:
        shares = [
            t.loc[t["total"].between(each.lowest, each.highest), "shared"].mean()
            for t in (whole, *without)
        ]
        assert each.share == pytest.approx(shares[0])
        error = tcr_oracle.jackknife_error(np.log(shares[1:]))
        interval = stats.t.interval(0.95, 4, math.log(shares[0]), error)
        assert (each.low, each.high) == pytest.approx(tuple(np.exp(interval)))
    assert sum(each.nucleotypes for each in found.deciles) == len(whole)
    assert sum(each.shared for each in found.deciles) == whole["shared"].sum()
    sizes = [each.nucleotypes for each in found.deciles if each.number]
    assert max(sizes) - min(sizes) < 10


def test_differences_equal_means(found: Association, frame: pd.DataFrame) -> None:
    shared = frame["individuals"] > 1
    shares = {f"share of {x} in n2": frame[f"n2_{x.lower()}"] / frame["n2"] for x in "ATCG"}
    for each in found.differences:
        if "share" in each.call and "in n2" not in each.call:
            continue
        column = shares.get(each.call, frame.get(each.call))
        assert each.mean_shared == pytest.approx(column[shared].mean())
        assert each.mean_unshared == pytest.approx(column[~shared].mean())
        assert each.difference == pytest.approx(each.mean_shared - each.mean_unshared)
        assert (each.shared, each.unshared) == (column[shared].count(), column[~shared].count())
        assert each.low < each.difference < each.high
    calls = {each.call for each in found.differences}
    assert {"v_erosion", "n2", "share of C in n2", "ndn"} < calls
    assert "n2_c" not in calls


def test_ties_cap_rho(found: Association, frame: pd.DataFrame) -> None:
    for each in found.correlations:
        x, y = (np.sort(stats.rankdata(frame[name])) for name in (each.paths, each.outcome))
        assert each.most == pytest.approx(np.corrcoef(x, y)[0, 1], rel=1e-9)
        assert each.rho <= each.most + 1e-12


def test_figures_by_sharing(found: Association, frame: pd.DataFrame) -> None:
    columns = list(dict.fromkeys(each.column for each in found.by_sharing))
    assert columns[0] == "all nu=2 pi=1"
    assert columns[1:] == [name for name in frame.columns if name in columns[1:]]
    for each in found.by_sharing:
        values = frame.loc[frame["individuals"] == each.individuals, each.column]
        assert (each.n, each.zeros) == (len(values), (values == 0).sum())
        assert each.mean == pytest.approx(values.mean(), rel=1e-12)
        if each.n > 1 and values.std() > 0:
            low, high = stats.t.interval(0.95, each.n - 1, each.mean, stats.sem(values))
            assert (each.low, each.high) == pytest.approx((low, high), rel=1e-9)
        wanted = np.quantile(values, QUANTILES, method="inverted_cdf")
        assert each.quantiles == pytest.approx(tuple(wanted), rel=1e-12)


def figures(found: Association) -> dict[str, Any]:
    """Everything but where and how long."""
    return {k: v for k, v in found.to_dict().items() if k not in ("stores", "table", "seconds")}


def test_the_chunks_of_a_store_change_no_bit(made: Made, tmp_path: Path) -> None:
    other = write_counts(tmp_path / "counts.zarr", ROWS, SAMPLES, chunk=333)
    share([str(other.path)], table_of(other))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extract, "RUN_ROWS", 500)
        assert figures(run(made)) == figures(run(other))


@pytest.mark.full
def test_runs_and_groups_of_columns_change_no_correlation(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(made)
    monkeypatch.setattr(extract, "RUN_ROWS", 97)
    monkeypatch.setattr(passes, "HISTOGRAM_BYTES", 1)
    parts = run(made)
    assert (parts.correlations, parts.aucs) == (whole.correlations, whole.aucs)
    assert (parts.deciles, parts.differences) == (whole.deciles, whole.differences)
    assert whole.odds is not None
    assert parts.odds is not None
    for a, b in zip(whole.odds.coefficients, parts.odds.coefficients, strict=True):
        assert a.predictor == b.predictor
        assert (a.estimate, a.error) == pytest.approx((b.estimate, b.error), rel=1e-7, abs=1e-10)


@pytest.mark.full
def test_on_workers(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract, "RUN_ROWS", 400)
    here = run(made)
    told: list[tuple[str, Any]] = []

    def bars(title: str) -> Any:
        return lambda state: told.append((title, state))

    with clusters.in_process() as to:
        assert figures(run(made, client=to, bars=bars)) == figures(here)
    assert list(dict.fromkeys(title for title, _ in told)) == ["read", "rank", "regress", "group"]
    assert all(state.done == state.total for state in dict(told).values())


@pytest.mark.full
def test_two_stores(made: Made, tmp_path: Path) -> None:
    """Rows cut into two stores are the same nucleotypes with the same figures."""
    addresses = []
    for name, cut in (("one", slice(0, 700)), ("two", slice(700, None))):
        data = made.data.isel(reference=cut)
        variables = {str(key): (each.dims, each.values) for key, each in data.data_vars.items()}
        rows = ROWS.iloc[cut].reset_index(drop=True)
        half = write_counts(tmp_path / f"{name}.zarr", rows, SAMPLES, **variables)
        addresses.append(str(half.path))
    share(addresses, tmp_path / "shared.parquet")
    assert associate(addresses, tmp_path / "shared.parquet").correlations == run(made).correlations
    with pytest.raises(GangsawError, match=r"was made from stores of \[700, 800\] rows"):
        associate(addresses[::-1], tmp_path / "shared.parquet")


def test_the_command(made: Made, tmp_path: Path, gangsaw: CommandLine) -> None:
    command = ("tcr", "associate", made.path, table_of(made))
    out = gangsaw.ok(*command).out
    assert "Spearman" in out
    assert "odds of being shared, adjusted" in out
    assert "* by the LASSO" not in out
    assert all(len(line) <= 80 for line in out.splitlines() if "shared.parquet" not in line)
    figures = gangsaw.ok(*command, "--nu", "0,2", "--pi", "all", "--json").figures
    assert len({each["paths"] for each in figures["correlations"]}) == 2 * 2 * 6 + 2 * 2
    assert figures["odds"]["converged"]
    assert figures["lasso"] is None
    assert [each["number"] for each in figures["deciles"]] == list(range(1, 11))
    assert "--nu must be all or numbers" in gangsaw(*command, "--nu", "x").failed(2)
