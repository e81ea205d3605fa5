"""Small stores of counts in the schema of `gangsaw tcr count`, with their rows as tables."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

V_GENES = ("TRBV1*01", "TRBV2*01", "TRBV3*01")
J_GENES = ("TRBJ1-1*01", "TRBJ2-1*01")
D_GENES = ("TRBD1*01", "TRBD2*01")
NU, PI, TOTAL_N = (0, 1, 2), (0, 1), (0, 1, 2)
ATTRS = {
    "germline_locus": "TRB",
    "model": "both",
    "strands": 1,
    "max_p": 1,
    "max_n": 2,
    "d_segments": 1,
}
D_LENGTHS = (12, 16)


@dataclass(frozen=True)
class Made:
    """A store, and its rows as a table."""

    path: Path
    rows: pd.DataFrame
    data: xr.Dataset


def repertoires(seed: int, n: int, samples: tuple[str, ...], *, pool: int = 200) -> pd.DataFrame:
    """Return n rows of nucleotypes that were drawn from a pool, so that many are shared."""
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list("ATCG"), rng.integers(9, 40))) for _ in range(pool)]
    genes = rng.integers(0, (len(V_GENES), len(J_GENES)), (pool, 2))
    drawn = (pool * rng.random(n) ** 2).astype(int)
    return pd.DataFrame(
        {
            "cdr3": np.array(texts, object)[drawn],
            "v": genes[drawn, 0],
            "j": genes[drawn, 1],
            "sample": rng.choice(len(samples), n),
            "copies": rng.geometric(0.2, n),
        }
    )


def write_counts(
    path: Path,
    rows: pd.DataFrame,
    samples: tuple[str, ...],
    *,
    chunk: int = 256,
    d_genes: tuple[str, ...] = D_GENES,
    attrs: dict[str, Any] | None = None,
    **changed: tuple[tuple[str, ...], Any],
) -> Made:
    """Write a store of the rows; counts and calls follow from the nucleotype alone."""
    data = _dataset(rows, samples, d_genes).assign(changed)
    data.attrs.update(ATTRS | (attrs or {}))
    encoding = {
        name: {"chunks": tuple(chunk if dim == "reference" else data.sizes[dim] for dim in v.dims)}
        for name, v in data.variables.items()
        if "reference" in v.dims
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Zarr: strings of variable length are no standard yet
        data.to_zarr(path, mode="w", zarr_format=3, encoding=encoding, consolidated=False)
    return Made(path, rows, data)


def _dataset(rows: pd.DataFrame, samples: tuple[str, ...], d_genes: tuple[str, ...]) -> xr.Dataset:
    n_d, n = len(d_genes), len(rows)
    nucleotype = pd.factorize(rows["cdr3"] + rows["v"].astype(str) + rows["j"].astype(str))[0]
    rng = np.random.default_rng(n)

    def counts(*shape: int) -> Any:
        return np.floor(np.exp(rng.normal(4, 2, (n, *shape)))).astype("u8")[nucleotype]

    def calls(low: int, high: int, *shape: int) -> Any:
        return rng.integers(low, high, (n, *shape)).astype("i2")[nucleotype]

    ref, swept = "reference", ("nu", "pi")
    variables: dict[str, Any] = {
        "paths_no_d": ((ref, *swept), counts(len(NU), len(PI))),
        "length": ((ref,), rows["cdr3"].str.len().to_numpy().astype("i2")),
        "v_length": ((ref,), calls(11, 15)),
        "j_length": ((ref,), calls(16, 20)),
        "v_match": ((ref,), calls(5, 18)),
        "j_match": ((ref,), calls(8, 22)),
        "vj_distance": ((ref,), calls(-3, 20)),
        "ndn_composition": ((ref, "nucleotide"), calls(0, 6, 4)),
        "cdr3": ((ref,), rows["cdr3"].to_numpy(object)),
        "id": ((ref,), np.array([f"r{i}" for i in range(n)], object)),
        "v_index": ((ref,), rows["v"].to_numpy().astype("i4")),
        "j_index": ((ref,), rows["j"].to_numpy().astype("i4")),
        "sample_index": ((ref,), rows["sample"].to_numpy().astype("i4")),
        "copies": ((ref,), rows["copies"].to_numpy().astype("i8")),
        "line": ((ref,), np.arange(2, n + 2)),
    }
    coords: dict[str, Any] = {
        "sample": np.array(samples, object),
        "v_gene": np.array(V_GENES, object),
        "j_gene": np.array(J_GENES, object),
        "nu": np.array(NU),
        "pi": np.array(PI),
    }
    if n_d:
        by_d = (ref, "d_gene")
        n1, n2 = calls(0, 6, n_d, 4), calls(0, 6, n_d, 4)
        variables |= {
            "paths_full": ((*by_d, *swept), counts(n_d, len(NU), len(PI))),
            "paths_zero_length_d": ((*by_d, *swept), counts(n_d, len(NU), len(PI))),
            "dp1_paths": ((*by_d, "total_n"), counts(n_d, len(TOTAL_N))),
            "d_length": (by_d, calls(0, 12, n_d)),
            "vd_distance": (by_d, n1.sum(2, dtype="i2")),
            "dj_distance": (by_d, n2.sum(2, dtype="i2")),
            "n1_composition": ((*by_d, "nucleotide"), n1),
            "n2_composition": ((*by_d, "nucleotide"), n2),
            "d_pairs_with_j": (
                ("d_gene", "j_gene"),
                np.array([[d == 0 or "J2" in j for j in J_GENES] for d in range(n_d)]),
            ),
        }
        coords |= {"d_gene": np.array(d_genes, object), "total_n": np.array(TOTAL_N)}
        coords["nucleotide"] = np.array(list("ATCG"), object)
    return xr.Dataset(variables, coords)
