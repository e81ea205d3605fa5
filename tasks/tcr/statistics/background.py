"""What a nucleotype's chances depend on besides its paths: its genes' usage, and depth."""

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
    """Figures of a whole table of `share`.

    Attributes
    ----------
    depths : (individuals,) nucleotypes that each has
    usage : v, j -> gene, without allele -> log10 of the share of nucleotypes that have it
    """

    depths: tuple[int, ...]
    usage: dict[str, dict[str, float]] = field(hash=False)

    @property
    def individuals(self) -> int:
        """How many have a nucleotype of the table, or are listed."""
        return len(self.depths)

    @property
    def log_depths(self) -> tuple[float, ...]:
        """(individuals,) log10 of nucleotypes; of those without any, who own none, 0."""
        return tuple(math.log10(max(depth, 1)) for depth in self.depths)

    def log_usage(self, end: str, genes: pa.ChunkedArray) -> pa.Array:
        """Return (n,) log10 usage of each gene."""
        coded = genes.combine_chunks().dictionary_encode()
        logs = [self.usage[end][gene_of(name)] for name in coded.dictionary.to_pylist()]
        return pa.array(logs, pa.float64()).take(coded.indices)


def background(shared: Path, individuals: int) -> Background:
    """Read the columns of a table that count genes and owners, a batch at a time.

    Parameters
    ----------
    individuals : listed in the table's metadata; 0 where another tool dropped them
    """
    depths = np.zeros(individuals, np.int64)
    used = {end: Counter[str]() for end in ENDS}
    with pq.ParquetFile(shared) as file:
        for batch in file.iter_batches(columns=["v", "j", "owners"], use_threads=False):
            some = np.bincount(batch["owners"].flatten().to_numpy(), minlength=len(depths))
            depths = some + np.pad(depths, (0, len(some) - len(depths)))
            for end in ENDS:
                for each in pc.value_counts(batch[end]).to_pylist():
                    used[end][gene_of(each["values"])] += each["counts"]
    usage = {end: _logs(of) for end, of in used.items()}
    return Background(tuple(depths.tolist()), usage)


def gene_of(name: str) -> str:
    """Return a gene without its allele."""
    return name.partition("*")[0]


def _logs(used: Counter[str]) -> dict[str, float]:
    total = used.total()
    return {gene: math.log10(n / total) for gene, n in used.items()}
