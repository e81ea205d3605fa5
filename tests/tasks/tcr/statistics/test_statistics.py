"""The parts of an association: tallies, ranks, predictors that others determine, fit and LASSO."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats
from sklearn.linear_model import Lasso

from gangsaw.tasks.tcr.statistics.by_sharing import QUANTILES
from gangsaw.tasks.tcr.statistics.fits.design import dependent, in_words, separating
from gangsaw.tasks.tcr.statistics.fits.lasso import adaptive_lasso, slopes_only
from gangsaw.tasks.tcr.statistics.fits.logistic import curvature, maximise_likelihood
from gangsaw.tasks.tcr.statistics.histograms import (
    ValueCounts,
    centred_ranks,
    count_distinct_values,
    mean_and_error,
    quantile,
    sum_of_squares,
)
from gangsaw.tasks.tcr.statistics.spearman import product


@given(arrays.arrays(np.uint64, st.integers(1, 60), elements=st.integers(0, 9)), st.data())
def test_tallies_are_exact(column: Any, data: st.DataObject) -> None:
    tally, left = ValueCounts(), column
    while len(left):
        n = data.draw(st.integers(1, len(left)))
        tally.add(*count_distinct_values(left[:n]))
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


def test_predictors_that_separate() -> None:
    lowest = np.array([[0, 0, 1, 0, 4, 2.0], [0, 1, 0, 0, 0, 2]])
    highest = np.array([[3, 1, 5, 0, 9, 2.0], [0, 2, 4, 0, 3, 2]])
    assert separating(lowest, highest) == [0, 1], "meet; not: overlap, constant, a gap, constant"


def test_separation_by_several_predictors_is_said() -> None:
    """Neither of two predictors separates, their sum does but for two rows."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 2))
    x = x[np.abs(x.sum(axis=1)) > 0.1]
    y = (x.sum(axis=1) > 0).astype(float)
    x, y = np.vstack([x, [[1, -1], [1, -1]]]), np.concatenate([y, [0, 1]])
    found = maximise_likelihood(
        lambda at: curvature(x, y, at), len(y), int(y.sum()), ["one", "two"]
    )
    assert not found.converged
    assert "separate some of the rows" in found.problem or "singular" in found.problem


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
    found = maximise_likelihood(
        lambda at: curvature(x, y, at), len(y), int(y.sum()), list("abcdefgh")
    )
    assert found.converged
    chosen = adaptive_lasso(found.beta[1:], found.information, len(y))
    np.testing.assert_array_equal(chosen.beta != 0, beta != 0)
    np.testing.assert_allclose(chosen.beta, beta, atol=0.06)


def test_the_lasso_is_the_minimum_it_says(planted: tuple[Any, Any, Any]) -> None:
    """By coordinate descent on the transformed problem, and by BIC over a fine grid of lambda."""
    x, y, _ = planted
    x, y = x[:700], y[:700]
    found = maximise_likelihood(
        lambda at: curvature(x, y, at), len(y), int(y.sum()), list("abcdefgh")
    )
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
