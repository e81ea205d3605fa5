"""Short runs of indexes, which compile what a user's first needs."""

from __future__ import annotations

from gangsaw.tasks.genomes.first_runs import write_genome
from gangsaw.tasks.kernels.first_runs import FirstRun, FirstRuns
from gangsaw.tasks.text.first_runs import write_text


def _runs() -> tuple[FirstRun, ...]:
    """Return indexes of a text and of a genome, and searches by them."""
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
