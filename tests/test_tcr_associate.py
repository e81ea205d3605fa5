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
from command_line import CommandLine
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats
from sklearn.linear_model import Lasso
from tcr_stores import J_GENES, Made, repertoires, write_counts

from gangsaw.codecs.core.errors import GangsawError
from gangsaw.tasks.tcr import associate as module
from gangsaw.tasks.tcr.associate import Association, associate
from gangsaw.tasks.tcr.by_sharing import QUANTILES
from gangsaw.tasks.tcr.design import dependent, in_words, separating
from gangsaw.tasks.tcr.lasso import adaptive_lasso, slopes_only
from gangsaw.tasks.tcr.logistic import curvature, fit
from gangsaw.tasks.tcr.share import METADATA, share
from gangsaw.tasks.tcr.spearman import product
from gangsaw.tasks.tcr.tally import (
    Tally,
    centred_ranks,
    mean_and_error,
    quantile,
    sum_of_squares,
    tallied,
)

SAMPLES = ("ann", "ben", "cem", "dee", "eve")
ROWS = repertoires(1, 1500, SAMPLES, pool=1200)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A store of counts, and the table of its nucleotypes beside it."""
    folder = tmp_path_factory.mktemp("associate")
    made = write_counts(folder / "counts.zarr", ROWS, SAMPLES)
    share([str(made.path)], table_of(made))
    return made


def table_of(made: Made) -> Path:
    return made.path.with_name("shared.parquet")


def run(made: Made, **options: Any) -> Association:
    return associate([str(made.path)], table_of(made), **options)


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
    from distributed import Client

    monkeypatch.setattr(module, "RUN_ROWS", 400)
    here = run(made)
    told: list[tuple[str, Any]] = []

    def bars(title: str) -> Any:
        return lambda state: told.append((title, state))

    with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as to:
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
    assert [note.split(":")[0] for note in found.notes] == [
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


def test_separation_by_several_predictors_is_said() -> None:
    """Neither of two predictors separates, their sum does but for two rows."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 2))
    x = x[np.abs(x.sum(axis=1)) > 0.1]
    y = (x.sum(axis=1) > 0).astype(float)
    x, y = np.vstack([x, [[1, -1], [1, -1]]]), np.concatenate([y, [0, 1]])
    found = fit(lambda at: curvature(x, y, at), len(y), int(y.sum()), ["one", "two"])
    assert not found.converged
    assert "separate some of the rows" in found.problem or "singular" in found.problem


def test_predictors_that_separate() -> None:
    lowest = np.array([[0, 0, 1, 0, 4, 2.0], [0, 1, 0, 0, 0, 2]])
    highest = np.array([[3, 1, 5, 0, 9, 2.0], [0, 2, 4, 0, 3, 2]])
    assert separating(lowest, highest) == [0, 1], "meet; not: overlap, constant, a gap, constant"


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


def refused(match: str, *args: Any, **kwargs: Any) -> None:
    with pytest.raises(GangsawError, match=match):
        associate(*args, **kwargs)


def test_bad_tables_are_refused(made: Made, tmp_path: Path) -> None:
    counts, table = [str(made.path)], table_of(made)
    refused("is no Parquet table", counts, tmp_path / "absent.parquet")
    refused("is no Parquet table", counts, made.path / "zarr.json")
    frame = pq.read_table(table).to_pandas()
    frame.drop(columns="copies").to_parquet(tmp_path / "a.parquet")
    refused(
        "was not written by gangsaw tcr share: no column copies", counts, tmp_path / "a.parquet"
    )
    frame.assign(cdr3=frame["cdr3"].str[::-1]).to_parquet(tmp_path / "b.parquet")
    refused("the table has other nucleotypes at these rows", counts, tmp_path / "b.parquet")
    frame.assign(v=frame["v"].to_numpy()[::-1]).to_parquet(tmp_path / "b.parquet")
    refused("the table has other nucleotypes at these rows", counts, tmp_path / "b.parquet")
    more = frame.tail(7).assign(first_store=1)
    pd.concat([frame, more]).to_parquet(tmp_path / "d.parquet")
    refused("has 7 nucleotypes that these stores have not", counts, tmp_path / "d.parquet")
    frame.iloc[:0].to_parquet(tmp_path / "c.parquet")
    refused("holds no nucleotype of these stores", counts, tmp_path / "c.parquet")
    other = write_counts(tmp_path / "other.zarr", ROWS.iloc[:100], SAMPLES)
    refused(r"was made from stores of \[1500\] rows, these have \[100\]", [str(other.path)], table)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"individuals": "two"}, "its individuals are (large_)?string"),
        ({"copies": math.nan}, "its copies are double"),
        ({"cdr3": 1}, "its cdr3 are int64"),
    ],
)
def test_a_table_of_other_types_is_refused(
    made: Made, tmp_path: Path, change: dict[str, Any], match: str
) -> None:
    frame = pq.read_table(table_of(made)).to_pandas().assign(**change)
    frame.to_parquet(tmp_path / "a.parquet")
    refused(match, [str(made.path)], tmp_path / "a.parquet")


@pytest.mark.parametrize("metadata", [b"{not JSON", b"[1]", b'{"stores": 3}'])
def test_a_table_of_other_metadata_is_refused(made: Made, tmp_path: Path, metadata: bytes) -> None:
    table = pq.read_table(table_of(made)).replace_schema_metadata({METADATA: metadata})
    pq.write_table(table, tmp_path / "a.parquet")
    refused("was not written by .*: its metadata", [str(made.path)], tmp_path / "a.parquet")


def test_a_table_that_went_through_other_tools_serves(made: Made, tmp_path: Path) -> None:
    frame = pq.read_table(table_of(made)).to_pandas()
    frame.sample(frac=1, random_state=1).to_parquet(tmp_path / "a.parquet")
    found = associate([str(made.path)], tmp_path / "a.parquet")
    wanted = run(made)
    assert found.individuals == 0
    assert (found.correlations, found.regression) == (wanted.correlations, wanted.regression)


def test_bad_limits_are_refused(made: Made) -> None:
    refused(
        r"nu must be in 0\.\.2 of what was counted, got 3",
        [str(made.path)],
        table_of(made),
        nu=(3,),
    )
    refused(r"pi must be in 0\.\.1", [str(made.path)], table_of(made), pi=(0, -1))


def test_the_command(made: Made, tmp_path: Path, gangsaw: CommandLine) -> None:
    command = ("tcr", "associate", made.path, table_of(made))
    out = gangsaw.ok(*command).out
    assert "Spearman" in out
    assert "keeps" in out or "drops" in out
    figures = gangsaw.ok(*command, "--nu", "0,2", "--pi", "all", "--json").figures
    assert len({each["paths"] for each in figures["correlations"]}) == 2 * 2 * 6 + 2 * 2
    assert figures["regression"]["converged"]
    assert "--nu must be all or numbers" in gangsaw(*command, "--nu", "x").failed(2)


# --- the parts


@given(arrays.arrays(np.uint64, st.integers(1, 60), elements=st.integers(0, 9)), st.data())
def test_tallies_are_exact(column: Any, data: st.DataObject) -> None:
    tally, left = Tally(), column
    while len(left):
        n = data.draw(st.integers(1, len(left)))
        tally.add(*tallied(left[:n]))
        left = left[n:]
    assert tally.n == len(column)
    np.testing.assert_array_equal(tally.values, np.unique(column))
    ranks = centred_ranks(tally)[np.searchsorted(tally.values, column)]
    np.testing.assert_array_equal(ranks, 2 * stats.rankdata(column) - (len(column) + 1))
    assert sum_of_squares(tally) == int((ranks**2).sum())
    assert mean_and_error(tally)[0] == pytest.approx(column.mean())
    for part in QUANTILES:
        assert quantile(tally, part) == np.quantile(column, part, method="inverted_cdf")


@given(
    st.lists(
        st.tuples(st.integers(-(2**31), 2**31), st.integers(-(2**31), 2**31)),
        min_size=1,
        max_size=9,
    )
)
def test_products_of_ranks_are_exact(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, np.int64).T
    assert product(x, y) == sum(a * b for a, b in pairs)
    assert product(np.tile(x, 7000), np.tile(y, 7000)) == 7000 * product(x, y)


def test_collinear_predictors_are_found_in_their_order() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(500, 6)) * [1, 10, 0.1, 1, 1, 1]
    x[:, 3] = 2 * x[:, 0] - 3 * x[:, 2] + 5
    x[:, 4] = 7
    found = dependent(np.cov(x.T, ddof=0))
    assert [i for i, _ in found] == [3, 4]
    words = [in_words("abcdef", i, coefficients) for i, coefficients in found]
    assert words[0] == "d left out: it is +2 a -3 c (and a constant)"
    assert words[1] == "e left out: it is constant"


@pytest.fixture(scope="module")
def planted() -> tuple[Any, Any, Any]:
    """Standardised predictors, outcomes, and the coefficients that made them: half are zero."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(20_000, 8))
    x[:, 1] = 0.8 * x[:, 0] + 0.6 * x[:, 1]
    beta = np.array([0.5, 0.0, -0.3, 0.0, 0.0, 0.2, 0.0, 0.9])
    shared = rng.random(len(x)) < 1 / (1 + np.exp(1 - x @ beta))
    return x, shared.astype(float), beta


def test_the_lasso_finds_what_was_planted(planted: tuple[Any, Any, Any]) -> None:
    x, y, beta = planted
    found = fit(lambda at: curvature(x, y, at), len(y), int(y.sum()), list("abcdefgh"))
    assert found.converged
    chosen = adaptive_lasso(found.beta[1:], found.information, len(y))
    np.testing.assert_array_equal(chosen.beta != 0, beta != 0)
    np.testing.assert_allclose(chosen.beta, beta, atol=0.06)


def test_the_lasso_is_the_minimum_it_says(planted: tuple[Any, Any, Any]) -> None:
    """By coordinate descent on the transformed problem, and by BIC over a fine grid of lambda."""
    x, y, _ = planted
    x, y = x[:700], y[:700]
    found = fit(lambda at: curvature(x, y, at), len(y), int(y.sum()), list("abcdefgh"))
    estimate = found.beta[1:]
    chosen = adaptive_lasso(estimate, found.information, len(y))
    h = slopes_only(found.information)
    root = np.linalg.cholesky(h).T
    weighted = root * np.abs(estimate)

    def by_descent(penalty: float) -> Any:
        lasso = Lasso(penalty / (2 * len(h)), fit_intercept=False, tol=1e-12, max_iter=10**6)
        return lasso.fit(weighted, root @ estimate).coef_ * np.abs(estimate)

    def bic(beta: Any) -> float:
        away = beta - estimate
        return float(away @ h @ away + np.log(len(y)) * np.count_nonzero(beta))

    np.testing.assert_allclose(by_descent(chosen.penalty), chosen.beta, atol=1e-7)
    assert chosen.bic == pytest.approx(bic(chosen.beta))
    grid = np.geomspace(1e-4, 1e3, 200) * max(chosen.penalty, 1e-3)
    assert min(bic(by_descent(penalty)) for penalty in grid) >= chosen.bic - 1e-6


def test_the_slopes_information_is_that_of_the_marginal_covariance(
    planted: tuple[Any, Any, Any],
) -> None:
    x, y, _ = planted
    h = curvature(x[:500], y[:500], np.zeros(9)).information
    np.testing.assert_allclose(np.linalg.inv(slopes_only(h)), np.linalg.inv(h)[1:, 1:], rtol=1e-9)
