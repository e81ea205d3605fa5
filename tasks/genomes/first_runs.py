"""Short runs of genomes, which compile what a user's first needs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gangsaw.codecs.core.nucleotides.letters import BASES
from gangsaw.tasks.kernels.first_runs import FirstRun, FirstRuns

N_BASES = 48_000
WIDTH = 60


def _runs() -> tuple[FirstRun, ...]:
    """Return a genome in and out, and a part of it."""
    return (
        FirstRun(
            "genome",
            lambda folder: write_genome(folder / "genome.fa"),
            (
                ("compress", "genome.fa", "genome.zarr", "--workers", "0"),
                ("verify", "genome.zarr", "--workers", "0"),
                ("decompress", "genome.zarr", "out.fa", "--workers", "0"),
                ("extract", "genome.zarr", "one:100-900", "-o", "part.fa"),
            ),
        ),
    )


def write_genome(path: Path) -> None:
    """Write two records, with lower case and N."""
    rng = np.random.default_rng(5)
    text = rng.choice(list(BASES), N_BASES).astype(np.uint8)
    text[20_000:21_000] += ord("a") - ord("A")
    text[30_000:30_500] = ord("N")
    lines = [b">one of two"]
    lines += [text[at : at + WIDTH].tobytes() for at in range(0, 36_000, WIDTH)]
    lines += [b">two"]
    lines += [text[at : at + WIDTH].tobytes() for at in range(36_000, N_BASES, WIDTH)]
    path.write_bytes(b"\n".join(lines) + b"\n")


FIRST_RUNS = FirstRuns(_runs())
