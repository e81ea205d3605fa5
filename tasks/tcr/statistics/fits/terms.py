"""The terms of a regression: which columns they come from, and in which units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gangsaw.tasks.tcr.statistics.extract import J_USAGE, LENGTH, V_USAGE

# kinds: how terms are made of columns
PLAIN = "plain"
LOG = "log10"  # of a count; those without a path get a value of their own
ZERO = "zero"  # 1 where a count is 0
CODONS = "codons"  # a third of a length
CODONS_SQUARED = "codons squared"  # of its distance from the mean
SHARE = "share"  # of a length
DEPTH = "depth"  # mean over its individuals of log10 nucleotypes that each has
TENFOLD, PER_CODON, PER_NT = "tenfold", "codon", "nt"
LOG_PATHS, NO_PATH, DEPTH_NAME = "log10 paths", "no path", "log10 depth"
FLAT = 0.05  # of log10: depths that differ by an eighth
NUCLEOTIDES = "atc"  # the share of G is what they leave


@dataclass(frozen=True)
class Term:
    """A term.

    Attributes
    ----------
    name : for tables
    unit : what an odds ratio is per: tenfold, codon, nt
    column : that it is made of; "" for depth, which follows from the owners
    kind : how
    of : column of a length that a share is part of
    at : a log10 where there is no path, the centre of a square, the share in an empty length
    """

    name: str
    unit: str
    column: str
    kind: str = PLAIN
    of: str = ""
    at: float = 0.0

    @property
    def columns(self) -> tuple[str, ...]:
        """What is read."""
        return tuple(name for name in (self.column, self.of) if name)

    def values(self, table: pa.Table) -> NDArray[np.float64]:
        """Return (n,) the term of rows; zeros for depth."""
        if self.kind == DEPTH:
            return np.zeros(len(table))
        found: NDArray[np.float64] = table[self.column].to_numpy().astype(float)
        if self.kind == SHARE:
            length = table[self.of].to_numpy().astype(float)
            share = np.full(len(length), self.at)
            np.divide(found, length, out=share, where=length > 0)
            return share
        return _MADE[self.kind](found, self.at)


_MADE: dict[str, Callable[[NDArray[np.float64], float], NDArray[np.float64]]] = {
    PLAIN: lambda x, _: x,
    LOG: lambda x, at: np.where(x > 0, np.log10(np.where(x > 0, x, 1)), at),
    ZERO: lambda x, _: (x == 0).astype(float),
    CODONS: lambda x, _: x / 3,
    CODONS_SQUARED: lambda x, at: (x / 3 - at) ** 2,
}


def adjusted(
    paths: str, mean_log: float, mean_codons: float, *, zeros: bool, depth: bool = True
) -> tuple[Term, ...]:
    """Return the terms of the model that is reported: total paths, adjusted.

    The total contains all other counts, so that it stands alone. Length is nearly proportional to
    the logarithm of the total in long CDR3s and not in short ones: hence its square. Usage stands
    for V and J in place of sixty indicators, which few shared nucleotypes could carry.

    Depth is the nucleotypes that an individual has, its logarithm averaged over those who have the
    nucleotype in question.

    Parameters
    ----------
    paths : column of the total
    mean_log : of its log10, over nucleotypes that have a path: those without take it
    mean_codons : of the lengths
    zeros : whether nucleotypes without a path are among the rows: they get an indicator
    depth : whether individuals differ in depth: see `is_flat`
    """
    found = [Term(LOG_PATHS, TENFOLD, paths, LOG, at=mean_log)]
    if zeros:
        found.append(Term(NO_PATH, "", paths, ZERO))
    return (
        *found,
        Term("length", PER_CODON, LENGTH, CODONS),
        Term("length squared", "codon²", LENGTH, CODONS_SQUARED, at=mean_codons),
        Term("log10 usage of V", TENFOLD, V_USAGE),
        Term("log10 usage of J", TENFOLD, J_USAGE),
        *((Term(DEPTH_NAME, TENFOLD, "", DEPTH),) if depth else ()),
    )


def is_flat(log_depths: Sequence[float]) -> bool:
    """Whether individuals have about as many nucleotypes each.

    Odds per tenfold depth would then be drawn from differences that are chance: 10^133 were seen.
    """
    return max(log_depths, default=0.0) - min(log_depths, default=0.0) < FLAT


def candidates(
    calls: Sequence[str], model: Sequence[Term], shares: dict[str, float]
) -> tuple[Term, ...]:
    """Return the terms that the LASSO chooses among: none of them contains another.

    Erosions, palindromes, N1 and N2 make up the length, and D is between them: so length and NDN
    are left out. The composition of N1 and N2 is in shares, which their lengths do not contain.

    Parameters
    ----------
    calls : names of what `read_predictors` gives
    model : terms of `adjusted`
    shares : mean share of each composition, by its name: the share where its length is 0
    """
    junctions = ("n1", "n2") if "n1" in calls else ("ndn",)
    lettered = junctions if f"{junctions[0]}_a" in calls else ()  # not in stores of totals
    nucleotides = {f"{junction}_{x}": junction for junction in lettered for x in NUCLEOTIDES}
    lengths = [name for name in calls if "_" in name and "n" not in name.partition("_")[0]]
    kept = [term for term in model if term.kind not in (CODONS, CODONS_SQUARED)]
    kept += [Term(name, PER_NT, name) for name in (*lengths, *junctions)]
    kept += [
        Term(f"share of {name[-1].upper()} in {of}", "", name, SHARE, of, shares[name])
        for name, of in nucleotides.items()
    ]
    return tuple(kept)
