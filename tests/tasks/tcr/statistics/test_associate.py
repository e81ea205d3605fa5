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
from helpers import clusters
from helpers.command_line import CommandLine
from helpers.tcr_associations import ROWS, SAMPLES, run, shared_store, table_of
from helpers.tcr_stores import Made, write_counts
from scipy import stats

from gangsaw.codecs.core.errors import GangsawError
from gangsaw.tasks.tcr.sharing.share import share
from gangsaw.tasks.tcr.statistics import associate as module
from gangsaw.tasks.tcr.statistics.associate import Association, associate
from gangsaw.tasks.tcr.statistics.by_sharing import QUANTILES


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A store of counts, and the table of its nucleotypes next to it."""
    return shared_store(tmp_path_factory.mktemp("associate"))


@pytest.fixture(scope="module")
def found(made: Made) -> Association:
    """All statistics, over many small runs of rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "RUN_ROWS", 200)
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


def test_the_regression_equals_statsmodels(found: Association, frame: pd.DataFrame) -> None:
    regression = found.regression
    assert regression is not None
    assert regression.converged
    names = [each.predictor for each in regression.coefficients]
    raw = pd.DataFrame({n: predictor(frame, n) for n in names})
    standard = (raw - raw.mean()) / raw.std(ddof=0)
    model = sm.Logit(frame["individuals"] > 1, sm.add_constant(standard))
    wanted = model.fit(disp=0, method="newton", tol=1e-14)
    for name, each in zip(names, regression.coefficients, strict=True):
        assert each.estimate == pytest.approx(wanted.params[name], rel=1e-8, abs=1e-10)
        assert each.error == pytest.approx(wanted.bse[name], rel=1e-8)
        assert each.p == pytest.approx(wanted.pvalues[name], rel=1e-6)
        assert each.mean == pytest.approx(raw[name].mean(), rel=1e-12)
        assert each.deviation == pytest.approx(raw[name].std(ddof=0), rel=1e-12)
    assert regression.intercept == pytest.approx(wanted.params["const"], rel=1e-8)
    assert regression.log_likelihood == pytest.approx(wanted.llf, rel=1e-12)
    n, n_shared = len(frame), sum(frame["individuals"] > 1)
    assert (regression.nucleotypes, regression.shared) == (n, n_shared)
    null = n_shared * math.log(n_shared / n) + (n - n_shared) * math.log(1 - n_shared / n)
    assert regression.null_log_likelihood == pytest.approx(null, rel=1e-12)


def predictor(frame: pd.DataFrame, name: str) -> Any:
    if name.startswith("log1p "):
        return np.log1p(frame[name.removeprefix("log1p ")])
    return frame[name]


def test_predictors_are_all_there_but_those_that_others_determine(found: Association) -> None:
    assert found.regression is not None
    names = [each.predictor for each in found.regression.coefficients]
    notes = " ".join(found.regression.notes)
    assert names[:4] == [
        "log1p full TRBD1*01 nu=2 pi=1",
        "log1p full TRBD2*01 nu=2 pi=1",
        "log1p zero_length_d TRBD1*01 nu=2 pi=1",
        "log1p no_d nu=2 pi=1",
    ]
    # the lengths of N1 and N2 are the sums of their nucleotides in these stores
    assert "n1_g left out: it is +1 n1 -1 n1_a -1 n1_t -1 n1_c (and a constant)" in notes
    assert "n2_g left out: it is +1 n2 -1 n2_a -1 n2_t -1 n2_c (and a constant)" in notes
    assert {"v_erosion", "v_p", "j_erosion", "j_p", "d_match", "n1", "n2_c", "ndn"} < set(names)
    assert not {"n1_g", "n2_g"} & set(names)
    assert len(found.regression.notes) == 2


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
        patch.setattr(module, "RUN_ROWS", 500)
        assert figures(run(made)) == figures(run(other))


def test_runs_and_groups_of_columns_change_no_correlation(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(made)
    monkeypatch.setattr(module, "RUN_ROWS", 97)
    monkeypatch.setattr(module, "TALLY_BYTES", 1)
    parts = run(made)
    assert parts.correlations == whole.correlations
    assert whole.regression is not None
    assert parts.regression is not None
    for a, b in zip(whole.regression.coefficients, parts.regression.coefficients, strict=True):
        assert (a.predictor, a.kept) == (b.predictor, b.kept)
        assert (a.estimate, a.error) == pytest.approx((b.estimate, b.error), rel=1e-9, abs=1e-12)


def test_on_workers(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RUN_ROWS", 400)
    here = run(made)
    told: list[tuple[str, Any]] = []

    def bars(title: str) -> Any:
        return lambda state: told.append((title, state))

    with clusters.in_process() as to:
        assert figures(run(made, client=to, bars=bars)) == figures(here)
    assert list(dict.fromkeys(title for title, _ in told)) == ["read", "rank", "regress", "group"]
    assert all(state.done == state.total for state in dict(told).values())


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
    assert "keeps" in out or "drops" in out
    figures = gangsaw.ok(*command, "--nu", "0,2", "--pi", "all", "--json").figures
    assert len({each["paths"] for each in figures["correlations"]}) == 2 * 2 * 6 + 2 * 2
    assert figures["regression"]["converged"]
    assert "--nu must be all or numbers" in gangsaw(*command, "--nu", "x").failed(2)
