"""Regressions of `associate`: their terms and rows, and the passes over the files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gangsaw.tasks.tcr.statistics.fits.design import (
    Design,
    Floats,
    Moments,
    dependent,
    exact_total,
    in_words,
    separating,
    variance_inflation,
)
from gangsaw.tasks.tcr.statistics.fits.logistic import (
    Curvature,
    NewtonPass,
    Point,
    maximise_likelihood,
    refit,
    total,
)
from gangsaw.tasks.tcr.statistics.fits.regression import (
    TOO_FEW,
    Fitted,
    Regression,
    per_parameter,
    regression,
)
from gangsaw.tasks.tcr.statistics.fits.terms import DEPTH_NAME, adjusted, is_flat, list_lasso_terms
from gangsaw.tasks.tcr.statistics.jackknife import FEWEST
from gangsaw.tasks.tcr.statistics.nucleotypes.extract import LENGTH
from gangsaw.tasks.tcr.statistics.nucleotypes.owners import Numbers, Owners
from gangsaw.tasks.tcr.statistics.passes import Passes

SEPARATES = "alone it separates all shared nucleotypes from the others but for one value"
ROUNDING = 1e-9
PASSES = 14  # expected passes for the progress bar; Newton's method may need others


@dataclass(frozen=True)
class SharingModel:
    """Logistic model of sharing, with the data of its regressions.

    Attributes
    ----------
    job : passes over the files
    paths : name of the total
    counts : (n,) total of each nucleotype
    owners : individuals of nucleotypes
    calls : names of calls
    """

    job: Passes
    paths: str
    counts: Numbers
    owners: Owners
    calls: tuple[str, ...]

    def regress(self, *, lasso: bool) -> tuple[Regression | None, tuple[str, ...]]:
        """Return the regression with its messages, or None and the reason.

        Parameters
        ----------
        lasso : True to select among all calls by the LASSO; else the total paths, adjusted
        """
        design, words = self._design()
        if lasso:
            shares = {f"{j}_{x}": self._share(j, x) for j in ("n1", "n2", "ndn") for x in "atc"}
            terms = list_lasso_terms(self.calls, design.terms, shares)
            design = replace(design, terms=terms)
        with self.job.phase("lasso" if lasso else "regress", PASSES):
            return _Regress(self.job, design, lasso).found(words)

    def _design(self) -> tuple[Design, tuple[str, ...]]:
        """Return the terms of the regression, and messages on excluded rows and terms."""
        counts, owners = self.counts, self.owners
        has = counts > 0
        zeros = self._is_zero_identifiable(~has)
        used = np.ones(len(has), bool) if zeros else has
        terms = adjusted(
            self.paths,
            float(np.log10(counts[has].astype(float)).mean()) if has.any() else 0.0,
            float(self.job.column(LENGTH)[used].mean() / 3) if used.any() else 0.0,
            zeros=zeros,
            depth=not is_flat(self.job.background.log_depths),
        )
        words: tuple[str, ...] = ()
        if is_flat(self.job.background.log_depths):
            words = (f"{DEPTH_NAME} left out: {self._depths()}",)
        if n := int((~used).sum()):
            words += (
                f"{n:,} nucleotypes without a path are left out: {int(owners.shared[~has].sum())} "
                "of them are shared, too few for an indicator",
            )
        log_depths = self.job.background.log_depths
        return Design(terms, log_depths, "" if zeros else self.paths), words

    def _depths(self) -> str:
        depths = self.job.background.depths
        return f"all individuals have about as many nucleotypes, {min(depths):,} to {max(depths):,}"

    def _is_zero_identifiable(self, zero: NDArray[np.bool_]) -> bool:
        """Return True if nucleotypes without a path include shared and other ones.

        This must hold without any one individual, too.
        """
        n, n_shared = int(zero.sum()), int(self.owners.shared[zero].sum())
        for i in range(self.owners.individuals):
            demoted = int(zero[self.owners.demoted(i)].sum())
            lost = int(zero[self.owners.lost(i)].sum())
            if not 0 < n_shared - demoted < n - lost:
                return False
        return 0 < n_shared < n

    def _share(self, junction: str, nucleotide: str) -> float:
        """Return the mean fraction of a nucleotide in nonempty junctions."""
        if f"{junction}_{nucleotide}" not in self.calls:
            return 0.0
        length = self.job.column(junction)
        some = length > 0
        part = self.job.column(f"{junction}_{nucleotide}")[some] / length[some]
        return float(part.mean()) if some.any() else 0.0


@dataclass(frozen=True)
class _Regress:
    """One regression: moments of its rows, the fit, and the fits without each individual."""

    job: Passes
    design: Design
    lasso: bool

    def found(self, words: tuple[str, ...]) -> tuple[Regression | None, tuple[str, ...]]:
        parts = self.job.all(Moments(self.design), self.job.files)
        n, n_shared = (sum(getattr(part, name) for part in parts) for name in ("n", "n_shared"))
        if why := self._impossible(n, n_shared):
            return None, (f"no {'LASSO' if self.lasso else 'regression'}: {why}",)
        lowest = np.min([part.lowest for part in parts], axis=0)
        alone = separating(lowest, np.max([part.highest for part in parts], axis=0))
        words += tuple(f"{self.design.names[i]} left out: {SEPARATES}" for i in alone)
        mean = np.delete(exact_total([part.sums for part in parts]), alone) / n
        design, vif, left_out = self._standardised(self.design.without(alone), mean, n)
        return self._fitted(design, vif, n, n_shared, words + left_out), ()

    def _impossible(self, n: int, n_shared: int) -> str:
        if n_shared in (0, n):
            return f"{'all nucleotypes are' if n_shared else 'no nucleotype is'} shared"
        each = per_parameter(n, n_shared, len(self.design.terms))
        if each < TOO_FEW:
            return (
                f"{min(n_shared, n - n_shared)} events for {len(self.design.terms)} parameters, "
                f"fewer than {TOO_FEW:.0f} each"
            )
        return ""

    def _fitted(
        self, design: Design, vif: Floats, n: int, n_shared: int, words: tuple[str, ...]
    ) -> Regression:
        def at(points: tuple[Point, ...]) -> list[Curvature]:
            parts = self.job.all(NewtonPass(design, points), self.job.files)
            return [total(each) for each in zip(*parts, strict=True)]

        one = maximise_likelihood(
            lambda beta: at((Point(tuple(beta.tolist())),))[0], n, n_shared, design.names
        )
        individuals = len(design.log_depths)
        again = one.converged and individuals >= FEWEST
        replicates = refit(at, one.beta, individuals) if again else np.zeros((0, len(one.beta)))
        found = Fitted(design, one, replicates, vif, n, n_shared)
        return regression(found, words, lasso=self.lasso)

    def _standardised(
        self, design: Design, mean: Floats, n: int
    ) -> tuple[Design, Floats, tuple[str, ...]]:
        """Return the design with standardised, independent terms, and messages on the others."""
        centred = replace(design, centre=tuple(mean.tolist()), scale=(1.0,) * len(mean))
        parts = self.job.all(Moments(centred), self.job.files)
        covariance = exact_total([part.products for part in parts]) / n
        # deviation of a constant is a rounding error
        constant = np.sqrt(np.diag(covariance)) < ROUNDING * np.maximum(1, np.abs(mean))
        covariance[constant] = covariance[:, constant] = 0
        out = dependent(covariance)
        scaled = replace(centred, scale=tuple(np.sqrt(np.diag(covariance)).tolist()))
        words = tuple(in_words(design.names, i, coefficients) for i, coefficients in out)
        keep = _list_remaining(len(mean), [i for i, _ in out])
        vif = variance_inflation(covariance[np.ix_(keep, keep)])
        return scaled.without([i for i, _ in out]), vif, words


def _list_remaining(n: int, dropped: Sequence[int]) -> list[int]:
    return [i for i in range(n) if i not in dropped]
