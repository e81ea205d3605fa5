"""Comparison of path counts with probabilities of generation as predictors of sharing.

Probabilities are expensive, so a sample is used: shared nucleotypes, and as many others. Denser
sampling of shared nucleotypes changes neither AUCs nor odds ratios.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.pgen.olga import PgenBatch, PgenModel, PgenTask, pgen_model
from gangsaw.tasks.tcr.statistics.auc import Auc, auc_of
from gangsaw.tasks.tcr.statistics.fits.design import Design, DesignRows, variance_inflation
from gangsaw.tasks.tcr.statistics.fits.logistic import (
    Curvature,
    Point,
    curvature,
    maximise_likelihood,
    refit,
)
from gangsaw.tasks.tcr.statistics.fits.regression import Fitted, Regression, regression
from gangsaw.tasks.tcr.statistics.fits.terms import LOG_PATHS, TENFOLD, Term
from gangsaw.tasks.tcr.statistics.jackknife import FEWEST, false_discovery
from gangsaw.tasks.tcr.statistics.nucleotypes.extract import LENGTH
from gangsaw.tasks.tcr.statistics.nucleotypes.owners import Numbers, Owners
from gangsaw.tasks.tcr.statistics.passes import Passes
from gangsaw.tasks.tcr.store.counts_store import CountsStore

if TYPE_CHECKING:
    import pyarrow as pa

LOG_PGEN = "log10 Pgen"
BATCH = 64  # nucleotypes of a task, which takes a second or less
SPECIES = ("human", "mouse")
NO_PATH = "no path leads to it"


@dataclass(frozen=True)
class Generation:
    """Comparison of paths with probabilities of generation, over a sample.

    Attributes
    ----------
    model : name of olga's model
    sampled : number of sampled nucleotypes
    nucleotypes, shared : number of nucleotypes with both figures, and of shared ones among them
    missing : reason -> number of nucleotypes without Pgen
    aucs : AUC of Pgen, of the total path count, of shortness
    rho : Spearman's correlation of Pgen with the total over unshared nucleotypes, a random sample
    odds : odds ratios of Pgen and total in one model; None if too few are shared
    """

    model: str
    sampled: int
    nucleotypes: int
    shared: int
    missing: dict[str, int] = field(hash=False)
    aucs: tuple[Auc, ...]
    rho: float
    odds: Regression | None


@dataclass(frozen=True, eq=False)
class PgenSample:
    """Sampling of nucleotypes for probabilities of generation.

    Attributes
    ----------
    job : passes, whose files have texts
    paths : name of the total
    owners : individuals of all nucleotypes
    n : number of nucleotypes to sample
    seed : seed of the sample
    """

    job: Passes
    paths: str
    owners: Owners
    n: int
    seed: int

    def rows(self) -> tuple[NDArray[np.int64], float]:
        """Return the sampled rows, and the sampling density of others relative to shared ones."""
        rng, shared = np.random.default_rng(self.seed), self.owners.shared
        parts, density = [], []
        for kind in (shared, ~shared):
            own = kind.nonzero()[0]
            part = rng.permutation(own)[: self.n // 2]
            parts.append(part)
            density.append(len(part) / max(len(own), 1))
        return np.sort(np.concatenate(parts)), density[1] / density[0] if density[0] else 0.0

    def sampled_owners(self, rows: NDArray[np.int64], density: float) -> Owners:
        """Return the owners of sampled rows, corrected for the sampling density.

        Without an individual, some shared nucleotypes become unshared. Only the fraction `density`
        of these remains, as among other unshared ones.
        """
        found = self.owners.only(rows)
        vanishing = np.random.default_rng([self.seed, 1]).random(len(rows)) >= density
        return replace(found, vanishing=vanishing)


def model_of(store: CountsStore, species: str | None) -> PgenModel:
    """Return olga's model of a store's locus.

    Raises
    ------
    BadParams : there is none, or the species of the germline is unknown
    """
    words = f" {store.attrs.get('germline', '')} ".lower().replace("_", " ")
    named = [name for name in SPECIES if f" {name} " in words.replace("(", " ").replace(")", " ")]
    if species is None and len(named) != 1:
        raise BadParams("probabilities of generation need the species: human or mouse")
    return pgen_model(str(store.attrs.get("germline_locus")), species or named[0])


def compare_probabilities(sample: PgenSample, model: PgenModel) -> Generation:
    """Compute the probabilities of a sample, and compare them with its path counts."""
    job, (rows, density) = sample.job, sample.rows()
    pgen, missing = _pgens(job, model, [job.texts(name) for name in ("cdr3", "v", "j")], rows)
    paths, length = job.column(sample.paths)[rows], job.column(LENGTH)[rows]
    without = np.isfinite(pgen) & (paths == 0)
    if without.any():
        missing[NO_PATH] += int(without.sum())
    both = np.isfinite(pgen) & (paths > 0)
    owners = sample.sampled_owners(rows[both], density)
    pgen, paths = pgen[both], paths[both]
    columns = {"Pgen": pgen, sample.paths: paths, "shortness": -length[both]}
    aucs = [auc_of(name, column, owners) for name, column in columns.items()]
    qs = false_discovery([each.p for each in aucs])
    return Generation(
        model=model.name,
        sampled=len(rows),
        nucleotypes=int(both.sum()),
        shared=int(owners.shared.sum()),
        missing=dict(missing),
        aucs=tuple(replace(each, q=q) for each, q in zip(aucs, qs, strict=True)),
        rho=_rho(pgen[~owners.shared], paths[~owners.shared]),
        odds=_odds(np.log10(np.column_stack([paths.astype(float), pgen])), owners, job),
    )


def _pgens(
    job: Passes, model: PgenModel, texts: Sequence[pa.ChunkedArray], rows: NDArray[np.int64]
) -> tuple[NDArray[np.float64], Counter[str]]:
    chosen = [tuple(text.take(rows).to_pylist()) for text in texts]
    parts = [slice(i, i + BATCH) for i in range(0, len(rows), BATCH)]
    batches = [PgenBatch(*(column[part] for column in chosen)) for part in parts]
    with job.phase("Pgen", 1):
        found = job.by_batch(PgenTask(model), batches)
    reasons = sum((why for _, why in found), Counter[str]())
    return np.concatenate([values for values, _ in found]), reasons


def _rho(pgen: Numbers, paths: Numbers) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(pgen, paths).statistic) if len(pgen) > 2 else float("nan")


def _odds(x: NDArray[np.float64], owners: Owners, job: Passes) -> Regression | None:
    """Return the regression of sharing on Pgen and total path count together."""
    n, n_shared = len(x), int(owners.shared.sum())
    if min(n_shared, n - n_shared) < 2 * x.shape[1] or not x.std(axis=0).all():
        return None
    design = Design(
        (Term(LOG_PATHS, TENFOLD, ""), Term(LOG_PGEN, TENFOLD, "")),
        job.background.log_depths,
        centre=tuple(x.mean(axis=0).tolist()),
        scale=tuple(x.std(axis=0).tolist()),
    )
    rows = DesignRows(x, owners, design)

    def at(points: tuple[Point, ...]) -> list[Curvature]:
        return [_curvature(rows, point) for point in points]

    one = maximise_likelihood(
        lambda beta: at((Point(tuple(beta.tolist())),))[0], n, n_shared, design.names
    )
    again = one.converged and owners.individuals >= FEWEST
    replicates = refit(at, one.beta, owners.individuals) if again else np.zeros((0, 3))
    vif = variance_inflation(np.cov(x.T).astype(np.float64))
    return regression(Fitted(design, one, replicates, vif, n, n_shared), (), lasso=False)


def _curvature(rows: DesignRows, point: Point) -> Curvature:
    x, shared = rows.without(point.left_out)
    return curvature(x, shared.astype(float), np.array(point.beta))
