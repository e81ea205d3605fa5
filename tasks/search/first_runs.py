"""Warm-up runs of indexes, which compile the kernels of a user's first run."""

from __future__ import annotations

from gangsaw.tasks.genomics.genomes.first_runs import write_genome
from gangsaw.tasks.precompile.first_runs import FirstRun, FirstRuns
from gangsaw.tasks.text.first_runs import write_text


def _runs() -> tuple[FirstRun, ...]:
    """Return the warm-up runs of search: index and search a text and a genome."""
    return (
        FirstRun(
            "index of a text",
            lambda folder: write_text(folder / "lines.txt"),
            (
                ("compress", "lines.txt", "lines.zarr", "--workers", "0"),
                ("index", "lines.zarr", "--workers", "0"),
                ("search", "lines.zarr", "host3 connection"),
            ),
        ),
        FirstRun(
            "index of a genome",
            lambda folder: write_genome(folder / "genome.fa"),
            (
                ("compress", "genome.fa", "genome.zarr", "--workers", "0"),
                ("index", "genome.zarr", "--workers", "0"),
                ("search", "genome.zarr", "GATTA"),
            ),
        ),
    )


FIRST_RUNS = FirstRuns(_runs())
