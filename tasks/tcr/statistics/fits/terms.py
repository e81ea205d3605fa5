"""Terms of a regression: their columns and units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gangsaw.tasks.tcr.statistics.nucleotypes.extract import J_USAGE, LENGTH, V_USAGE

# kinds of terms, by the function of their column
PLAIN = "plain"
LOG = "log10"  # logarithm of a count; nucleotypes without a path get a value of their own
ZERO = "zero"  # 1 if a count is 0
CODONS = "codons"  # a third of a length
CODONS_SQUARED = "codons squared"  # square of a length's distance from the mean
SHARE = "share"  # fraction of a length
DEPTH = "depth"  # mean over a nucleotype's individuals of log10 of the depth
TENFOLD, PER_CODON, PER_NT = "tenfold", "codon", "nt"
LOG_PATHS, NO_PATH, DEPTH_NAME = "log10 paths", "no path", "log10 depth"
FLAT = 0.05  # range of log10 depths that differ by an eighth
NUCLEOTIDES = "atc"  # the share of G follows from the others


@dataclass(frozen=True)
class Term:
    """Term of a regression.

    Attributes
    ----------
    name : name in tables
    unit : unit of the odds ratio: tenfold, codon, nt
    column : source column; "" for depth, which follows from the owners
    kind : function of the column
    of : column of the length, for a share
    at : log10 for nucleotypes without a path, centre of a square, or share for an empty length
    """

    name: str
    unit: str
    column: str
    kind: str = PLAIN
    of: str = ""
    at: float = 0.0

    @property
    def columns(self) -> tuple[str, ...]:
        """Source columns of the term."""
        return tuple(name for name in (self.column, self.of) if name)

    def values(self, table: pa.Table) -> NDArray[np.float64]:
        """Return the values of rows, (n,); zeros for depth."""
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
    """Return the terms of the reported model: total paths, with adjustments.

    The total includes all other counts, so that it is the only count. Length is nearly proportional
    to the logarithm of the total in long CDR3s, but not in short ones; hence its square. Usage
    replaces sixty indicators of V and J genes, too many for few shared nucleotypes.

    Depth is the logarithm of an individual's number of nucleotypes, averaged over the individuals
    that have the nucleotype.

    Parameters
    ----------
    paths : column of the total
    mean_log : mean of its log10 over nucleotypes with a path, used for those without
    mean_codons : mean length in codons
    zeros : True if some rows have no path: they get an indicator
    depth : True if individuals differ in depth, see `is_flat`
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
    """Return True if all individuals have similar numbers of nucleotypes.

    Odds ratios per tenfold depth would then extrapolate random differences: 10^133 occurred.
    """
    return max(log_depths, default=0.0) - min(log_depths, default=0.0) < FLAT


def list_lasso_terms(
    calls: Sequence[str], model: Sequence[Term], shares: dict[str, float]
) -> tuple[Term, ...]:
    """Return the candidate terms of the LASSO, none of which contains another.

    Deletions, palindromes, N1, N2 and the D between them add up to the length. So length and NDN
    are left out. The composition of N1 and N2 is in fractions, which do not depend on their
    lengths.

    Parameters
    ----------
    calls : names of the calls of `read_predictors`
    model : terms of `adjusted`
    shares : composition name -> mean fraction, used for empty junctions
    """
    junctions = ("n1", "n2") if "n1" in calls else ("ndn",)
    lettered = junctions if f"{junctions[0]}_a" in calls else ()  # absent in stores of totals
    nucleotides = {f"{junction}_{x}": junction for junction in lettered for x in NUCLEOTIDES}
    lengths = [name for name in calls if "_" in name and "n" not in name.partition("_")[0]]
    kept = [term for term in model if term.kind not in (CODONS, CODONS_SQUARED)]
    kept += [Term(name, PER_NT, name) for name in (*lengths, *junctions)]
    kept += [
        Term(f"share of {name[-1].upper()} in {of}", "", name, SHARE, of, shares[name])
        for name, of in nucleotides.items()
    ]
    return tuple(kept)
