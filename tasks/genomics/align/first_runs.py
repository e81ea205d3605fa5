"""Short runs of alignment, which compile what a user's first needs."""

from __future__ import annotations

from pathlib import Path

from gangsaw.tasks.genomics.genomes.first_runs import write_genome
from gangsaw.tasks.precompile.first_runs import FirstRun, FirstRuns

LENGTH, STEP = 120, 400


def _runs() -> tuple[FirstRun, ...]:
    """Return warm-up runs of the aligner: short queries against a genome, two output formats."""
    return (
        FirstRun(
            "alignment",
            _write,
            (
                ("compress", "genome.fa", "genome.zarr", "--workers", "0"),
                ("align", "queries.fa", "genome.zarr", "found.paf", "--workers", "0"),
                ("align", "queries.fa", "genome.zarr", "found.sam", "--workers", "0"),
            ),
        ),
    )


def _write(folder: Path) -> None:
    """Write FASTA files: a genome, and queries that match it exactly, with a gap, or not at all."""
    write_genome(folder / "genome.fa")
    record = (folder / "genome.fa").read_bytes().split(b">two")[0]
    text = b"".join(record.splitlines()[1:])
    lines = []
    for number, at in enumerate(range(0, 20_000, STEP)):
        query = text[at : at + LENGTH]
        gapped = query[:40] + query[43:80] + b"T" + query[81:]
        lines += [b">q%d" % number, gapped if number % 2 else query]
    (folder / "queries.fa").write_bytes(b"\n".join(lines) + b"\n")


FIRST_RUNS = FirstRuns(_runs())
