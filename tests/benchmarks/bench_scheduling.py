"""The cost of a job without its chunks: scheduling, journal, manifest; the chunks are no-ops.

Batches are as large as the job engine makes them for small chunks. The time per batch does not grow
with the number of chunks, so the largest run is extrapolated to a million.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from distributed import Client

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers.local import start
from gangsaw.tasks.bench.table import Row
from gangsaw.tasks.engine.run.run import run_batches
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.state.journal import Job, Journal, batch_chunks
from gangsaw.tasks.store.state.manifest import fold_parts, read_manifest, write_manifest
from gangsaw.tasks.store.state.records import ROW, Records

MILLION = 10**6
CHUNK_BYTES = 1 << 20  # of a chunk of moderate size; batches then hold 64


@dataclass(frozen=True)
class NoOp:
    """Does nothing for a chunk but what the engine does for it: a record in a journal entry."""

    journal: Journal
    peak_bytes: int = 0
    name: str = "noop"

    def __call__(self, batch: range) -> Records:
        """Journal the batch."""
        records = Records(self.journal.job, batch.start, 0, np.zeros(len(batch), ROW))
        self.journal.write(records)
        return records


@dataclass(frozen=True)
class Spans:
    """Seconds of one run.

    Attributes
    ----------
    chunks, batches : of the job
    schedule : from first submit to last result, journal entries written on the way
    resume : to read the whole journal, as a resume does
    manifest : to fold, write and read back the manifest, and to remove the journal
    """

    chunks: int
    batches: int
    schedule: float
    resume: float
    manifest: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.schedule + self.resume + self.manifest

    def row(self) -> Row:
        """Return the total as a row, its parts as the remark."""
        parts = f"schedule {self.schedule:.2f}, resume {self.resume:.2f}"
        each = f"{1e3 * self.schedule / self.batches:.2f} ms a batch of {self.batches:,}"
        note = f"{parts}, manifest {self.manifest:.2f}; {each}"
        return Row(f"{self.chunks:,} no-op chunks", self.total, "s", note=note)


def measure(client: Client, folder: Path, n_chunks: int) -> Spans:
    """Run a job of no-ops."""
    place = open_prefix(folder / f"{n_chunks}.zarr", writable=True) / "data"
    job = Job("none", "none", n_chunks, batch_chunks(n_chunks, CHUNK_BYTES))
    journal = Journal(place, job.fingerprint, job.batch_chunks)
    entries: dict[range, Records] = {}
    clock = [time.perf_counter()]
    run_batches(NoOp(journal), job.batches, entries.__setitem__, client=client)
    clock.append(time.perf_counter())
    assert len(journal.read_all(job.batches)) == len(job.batches)
    clock.append(time.perf_counter())
    write_manifest(place, fold_parts(job.fingerprint, entries.values()))
    journal.remove()
    manifest = read_manifest(place)
    assert manifest is not None
    assert len(manifest.rows) == n_chunks
    clock.append(time.perf_counter())
    return Spans(n_chunks, len(job.batches), *np.diff(clock).tolist())


def million(runs: list[Spans]) -> float:
    """Seconds of a job of a million chunks: linear through the last two runs, never below."""
    last = runs[-1]
    slope = last.total / last.batches
    if len(runs) > 1:
        before = runs[-2]
        slope = max(slope, (last.total - before.total) / (last.batches - before.batches))
    return slope * -(-MILLION // batch_chunks(MILLION, CHUNK_BYTES))


def rows(counts: tuple[int, ...] = (10**3, 10**4, 10**5)) -> Iterator[Row]:
    """Yield the seconds of jobs of no-ops, then what their growth gives for a million chunks."""
    config = ClusterConfig(workers=2, threads=1, dashboard=False)
    runs: list[Spans] = []
    with tempfile.TemporaryDirectory() as folder, start(config) as client:
        measure(client, Path(folder), 256)  # imports on the workers
        for count in counts:
            runs.append(measure(client, Path(folder), count))
            yield runs[-1].row()
    note = "by the growth of the last two"
    yield Row("a million chunks, extrapolated", million(runs), "s", "<= 600", note)
