"""What sharing and its statistics are, straight from the rows of a store: groups, lists and loops.

Leaving an individual out means here to drop its rows, and to group again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from helpers.tcr_stores import Made

KEYS = ["cdr3", "v", "j"]


def nucleotypes(made: Made, *, without: int | None = None) -> pd.DataFrame:
    """Return a row per nucleotype: shared, total paths, and what the model adjusts for."""
    rows = made.rows.assign(total=totals(made), length=made.rows["cdr3"].str.len())
    distinct = rows.drop_duplicates([*KEYS, "sample"])
    depth = np.log10(distinct.groupby("sample").size())
    first = rows.drop_duplicates(KEYS)
    usage = {end: np.log10(first[end].value_counts() / len(first)) for end in "vj"}
    kept = distinct[distinct["sample"] != without].assign(depth=lambda t: t["sample"].map(depth))
    grouped = kept.groupby(KEYS, sort=False)
    found = grouped.agg(
        individuals=("sample", "size"),
        total=("total", "first"),
        length=("length", "first"),
        depth=("depth", "mean"),
    ).reset_index()
    for end in "vj":
        found[f"{end}_usage"] = found[end].map(usage[end])
    return found.assign(shared=found["individuals"] > 1)


def totals(made: Made) -> Any:
    """Return (rows,) all paths at the largest limits."""
    pairs = made.data["d_pairs_with_j"].values[:, made.rows["j"]].T
    full, none = (made.data[f"paths_{x}"].isel(nu=-1, pi=-1).values for x in ("full", "no_d"))
    return (full * pairs).sum(axis=1) + none


def design(found: pd.DataFrame, whole: pd.DataFrame) -> pd.DataFrame:
    """Return the terms of the model, centred as over all nucleotypes."""
    has = whole["total"] > 0
    log = np.log10(found["total"].where(found["total"] > 0))
    terms = {
        "log10 paths": log.fillna(np.log10(whole.loc[has, "total"]).mean()),
        "no path": (found["total"] == 0).astype(float),
        "length": found["length"] / 3,
        "length squared": (found["length"] / 3 - whole["length"].mean() / 3) ** 2,
        "log10 usage of V": found["v_usage"],
        "log10 usage of J": found["j_usage"],
        "log10 depth": found["depth"],
    }
    return pd.DataFrame(terms).drop(columns=[] if (~has).any() else ["no path"])


def jackknife_error(replicates: Any) -> Any:
    """Return standard errors from (individuals, ...) estimates without each."""
    replicates = np.asarray(replicates)
    n = len(replicates)
    return np.sqrt((n - 1) * replicates.var(axis=0))
