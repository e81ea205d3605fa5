"""Variables of a result: the table of their names, dimensions, dtypes, units and descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import Array, NumpyArray
from gangsaw.codecs.core.cuda.device import to_host
from gangsaw.tasks.tcr.counting.kernels.batch import D_CALLS, GENE_CALLS, Counts
from gangsaw.tasks.tcr.model import Model, empty_d_cuts
from gangsaw.tasks.tcr.model.nucleotides import NUCLEOTIDES

if TYPE_CHECKING:
    import xarray

# nu, pi and total n in SPEC.md
N_DIM, P_DIM, TOTAL_DIM = "n_nucleotides", "p_nucleotides", "total_n_nucleotides"
SWEEP = (N_DIM, P_DIM)
PAIR_SIGN = "+"  # "TRDD1*01+TRDD2*01": two D genes in a row, the V-side one first


@dataclass(frozen=True)
class Variable:
    """Variable of the dataset of path counts and calls.

    Attributes
    ----------
    name : name in the dataset
    dims : dimensions, "reference" first
    dtype : "uint64" for counts of paths, "int16" for calls
    unit : "1" for counts, "nucleotide" for lengths and positions
    description : one sentence
    """

    name: str
    dims: tuple[str, ...]
    dtype: str
    unit: str
    description: str

    @property
    def attrs(self) -> dict[str, str]:
        """Attributes of the variable in the dataset."""
        return {"units": self.unit, "description": self.description}


def _paths(name: str, dims: tuple[str, ...], description: str) -> Variable:
    return Variable(name, ("reference", *dims), "uint64", "1", description)


def _calls(description_of: Mapping[str, str], *dims: str) -> tuple[Variable, ...]:
    return tuple(
        Variable(name, ("reference", *dims), "int16", "nucleotide", description)
        for name, description in description_of.items()
    )


def _with_d(d_dim: str) -> tuple[Variable, ...]:
    several = "all D genes have" if d_dim == "d_pair" else "D has"
    return (
        _paths(
            "paths_full",
            (d_dim, *SWEEP),
            "DP-2 paths V N D N J, with at most n_nucleotides in each junction and at most "
            "p_nucleotides, palindromic ones, at each gene end, those with an empty D included",
        ),
        _paths(
            "paths_zero_length_d",
            (d_dim, *SWEEP),
            f"DP-2 paths V N D N J in which {several} length zero",
        ),
    )


NO_D = (
    _paths("paths_no_d", SWEEP, "DP-2 paths V N J, with at most n_nucleotides in all"),
    _paths(
        "paths_no_d_two_junctions",
        SWEEP,
        "DP-2 paths V N N J, with at most n_nucleotides each, told apart by where they part",
    ),
)
DP1_WITH_D = (
    _paths(
        "dp1_paths",
        ("d_gene", TOTAL_DIM),
        "DP-1 paths V N D N J with exactly total_n_nucleotides in both junctions together",
    ),
    _paths(
        "dp1_paths_nonempty", ("d_gene", TOTAL_DIM), "DP-1 paths with a D of at least 1 nucleotide"
    ),
    _paths(
        "dp1_paths_empty_unit",
        (TOTAL_DIM,),
        "DP-1 paths with an empty D, counted once for all pairs of cuts that empty it",
    ),
)
DP1_NO_D = (_paths("dp1_paths", (TOTAL_DIM,), "DP-1 paths V N J with exactly total_n_nucleotides"),)
REGIONS = (
    *_calls(
        {
            "length": "Length of the CDR3 between the conserved codons",
            "v_length": "Length of the germline V part after the codon of Cys",
            "j_length": "Length of the germline J part before the codon of Phe or Trp",
            "v_match": "Nucleotides from the left that V with its palindrome matches",
            "j_match": "Nucleotides from the right that J with its palindrome matches",
            "vj_distance": "Nucleotides between V match and J match; negative: they overlap",
        }
    ),
    *_calls(
        {"ndn_composition": "Nucleotides between V match and J match; wildcards count for each"},
        "nucleotide",
    ),
)
D_REGIONS = (
    *_calls(
        {
            "d_length": "Longest piece that D with its palindromes matches; 0: none",
            "d_first": "First position, from 1, of the left-most longest match of D; 1: none",
            "d_last": "Last position of the right-most longest match of D; the length: none",
            "vd_distance": "Nucleotides between V match and d_first; negative: they overlap",
            "dj_distance": "Nucleotides between d_last and J match; negative: they overlap",
        },
        "d_gene",
    ),
    *_calls(
        {
            "n1_composition": "Nucleotides between V match and d_first",
            "n2_composition": "Nucleotides between d_last and J match",
        },
        "d_gene",
        "nucleotide",
    ),
)


def variables(model: Model, n_d: int) -> tuple[Variable, ...]:
    """Return the variables of the dataset for a model and a number of D genes."""
    d_dim = "d_gene" if model.d_segments == 1 else "d_pair"
    dp2 = (*(_with_d(d_dim) if n_d else ()), *NO_D) if model.dp2 else ()
    dp1 = (DP1_WITH_D if n_d else DP1_NO_D) if model.dp1 else ()
    return (*dp2, *dp1, *REGIONS, *(D_REGIONS if n_d else ()))


def d_pairs(d_names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of all pairs of D genes, such as "TRBD1+TRBD2", in genomic order."""
    ordered = enumerate(d_names)
    return tuple(PAIR_SIGN.join((a, b)) for i, a in ordered for b in d_names[i + 1 :])


def coordinates(model: Model, d_names: Sequence[str]) -> dict[str, NumpyArray]:
    """Return the coordinates of the dataset's dimensions, except "reference"."""
    labels: dict[str, NumpyArray] = {
        "d_gene": np.array(d_names, dtype=str),
        "d_pair": np.array(d_pairs(d_names), dtype=str),
        N_DIM: np.array(model.nus),
        P_DIM: np.array(model.pis),
        TOTAL_DIM: np.arange(model.max_n + 1),
        "nucleotide": np.array(NUCLEOTIDES),
    }
    used = {dim for variable in variables(model, len(d_names)) for dim in variable.dims}
    return {dim: label for dim, label in labels.items() if dim in used}


def arrays(counts: Counts, model: Model, d_lengths: Sequence[int]) -> dict[str, NumpyArray]:
    """Return the array of each variable, in host memory, from the kernel's counts.

    Parameters
    ----------
    counts : counts of n references
    model : limits of the paths
    d_lengths : lengths of the germline D genes, without palindromes
    """
    found: dict[str, Array | None] = {
        "paths_full": counts.full,
        "paths_zero_length_d": counts.zero,
        "paths_no_d": counts.no_d,
        "paths_no_d_two_junctions": counts.no_d_two,
        "dp1_paths": _dp1_paths(counts, model.max_p, d_lengths),
        "dp1_paths_nonempty": counts.dp1_nonempty,
        "dp1_paths_empty_unit": counts.dp1_empty,
        "ndn_composition": counts.ndn,
        "n1_composition": counts.n1,
        "n2_composition": counts.n2,
        **_columns(counts.genes, GENE_CALLS),
        **_columns(counts.d, D_CALLS),
    }
    counted = {name: array for name, array in found.items() if array is not None}
    return {v.name: to_host(counted[v.name]) for v in variables(model, len(d_lengths))}


def _columns(table: Array | None, names: Sequence[str]) -> dict[str, NumpyArray]:
    """Return the columns, along the last axis, of a table of calls by variable name."""
    if table is None:
        return {}
    columns = to_host(table)
    return {name: columns[..., i] for i, name in enumerate(names)}


def _dp1_paths(counts: Counts, max_p: int, d_lengths: Sequence[int]) -> NumpyArray | None:
    if counts.dp1_nonempty is None:
        return None
    nonempty = _counts(counts.dp1_nonempty)
    if counts.dp1_empty is None:
        return nonempty[:, 0]
    cuts = np.array([empty_d_cuts(length, max_p) for length in d_lengths], np.uint64)
    return nonempty + cuts[:, None] * _counts(counts.dp1_empty)[:, None]


def _counts(counted: Array) -> NDArray[np.uint64]:
    return to_host(counted).astype(np.uint64, copy=False)


def describe_model(model: Model) -> dict[str, object]:
    """Return the dataset attributes that describe the model."""
    return {
        "title": "Recombination paths of T-cell receptors",
        "model": model.kind,
        "strands": model.strands,
        "max_p": model.max_p,
        "max_n": model.max_n,
        "d_segments": model.d_segments,
        "min_d_end": model.min_d_end,
        "gangsaw_version": version("gangsaw"),
    }


def to_dataset(values: Mapping[str, NumpyArray], model: Model, d: Sequence[str]) -> xarray.Dataset:
    """Return the arrays of all variables as an xarray Dataset; `d` has the names of the D genes."""
    import xarray

    table = variables(model, len(d))
    return xarray.Dataset(
        {v.name: (v.dims, values[v.name], v.attrs) for v in table},
        coordinates(model, d),
        describe_model(model),
    )
