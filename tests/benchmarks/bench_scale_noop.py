"""The cost of a job without its chunks, by their number: time and memory of client and scheduler.

Client and scheduler are processes of their own, and so are two workers of one thread.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scale_cluster import cluster

from gangsaw.tasks.bench.table import Row

COUNTS = (10**3, 10**4, 10**5, 10**6)
JOB = Path(__file__).with_name("scale_job.py")


def rows(counts: tuple[int, ...] = COUNTS) -> Iterator[Row]:
    """Yield processor time and memory of jobs of no-ops."""
    for n_chunks in counts:
        with tempfile.TemporaryDirectory() as folder, cluster(2, 2) as served:
            before = served.cpu_seconds
            command = [sys.executable, str(JOB), served.address, str(n_chunks), folder]
            found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            after, peak_mb = served.cpu_seconds, served.peak_mb
        yield from _rows(n_chunks, found, after - before, peak_mb)


def _rows(
    n_chunks: int, found: dict[str, float], scheduler: float, scheduler_mb: float
) -> Iterator[Row]:
    name = f"{n_chunks:,} no-op chunks"
    each = 1e6 * found["cpu"] / n_chunks
    counts = f"{found['batches']:,.0f} batches, {found['entries']:,.0f} entries of the journal"
    note = f"processor time; {counts}; schedule {found['schedule']:.1f} s on the clock"
    yield Row(f"{name}: client", each, "us/chunk", note=note)
    note = f"processor time, {scheduler:.1f} s with the start of workers and client"
    yield Row(f"{name}: scheduler", 1e6 * scheduler / n_chunks, "us/chunk", note=note)
    most = "< 300" if n_chunks == max(COUNTS) else ""
    note = f"journal read in {found['resume']:.1f} s, manifest written in {found['finish']:.2f} s"
    yield Row(f"{name}: client's memory", found["peak_mb"], "MB", most, note)
    yield Row(f"{name}: scheduler's memory", scheduler_mb, "MB", most)
