"""Covariates of sharing besides paths: usage of V and J genes, and depth of individuals."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ENDS = ("v", "j")


@dataclass(frozen=True)
class Background:
    """Covariates from a whole table of `share`: depths of individuals, usage of genes.

    Attributes
    ----------
    depths : (individuals,) number of nucleotypes of each
    usage : v, j -> gene without allele -> log10 of the share of nucleotypes that have it
    """

    depths: tuple[int, ...]
    usage: dict[str, dict[str, float]] = field(hash=False)

    @property
    def individuals(self) -> int:
        """Number of individuals that are listed, or have a nucleotype of the table."""
        return len(self.depths)

    @property
    def log_depths(self) -> tuple[float, ...]:
        """Depths (individuals,) as log10 of nucleotypes; 0 for individuals without any."""
        return tuple(math.log10(max(depth, 1)) for depth in self.depths)

    def log_usage(self, end: str, genes: pa.ChunkedArray) -> pa.Array:
        """Return log10 of the usage of each gene, (n,)."""
        coded = genes.combine_chunks().dictionary_encode()
        logs = [self.usage[end][strip_allele(name)] for name in coded.dictionary.to_pylist()]
        return pa.array(logs, pa.float64()).take(coded.indices)


def background(shared: Path, individuals: int) -> Background:
    """Return the covariates of a table of `share`, whose rows are read in batches.

    Parameters
    ----------
    shared : Parquet file
    individuals : number in the table's metadata; 0 if another tool dropped the metadata
    """
    depths = np.zeros(individuals, np.int64)
    used = {end: Counter[str]() for end in ENDS}
    with pq.ParquetFile(shared) as file:
        for batch in file.iter_batches(columns=["v", "j", "owners"], use_threads=False):
            some = np.bincount(batch["owners"].flatten().to_numpy(), minlength=len(depths))
            depths = some + np.pad(depths, (0, len(some) - len(depths)))
            for end in ENDS:
                for each in pc.value_counts(batch[end]).to_pylist():
                    used[end][strip_allele(each["values"])] += each["counts"]
    usage = {end: _logs(of) for end, of in used.items()}
    return Background(tuple(depths.tolist()), usage)


def strip_allele(name: str) -> str:
    """Return the name of a gene without its allele."""
    return name.partition("*")[0]


def _logs(used: Counter[str]) -> dict[str, float]:
    total = used.total()
    return {gene: math.log10(n / total) for gene, n in used.items()}
