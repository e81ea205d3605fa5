"""A table of forty million rows, as of a whole study: memory, and speed over many minutes."""

from __future__ import annotations

from collections.abc import Iterator

from bench_tcr_job import warm_job

from gangsaw.tasks.bench.table import Row

ROWS = 40_000_000  # gzip -1: 1 GB; staged and counted 9 GB of disk


def rows() -> Iterator[Row]:
    """Yield the most memory that it took."""
    with warm_job() as job:
        yield job.memory_row(ROWS)
