"""One job of no-ops in a process of its own, so that its memory is what the job takes.

python tests/benchmarks/scale_job.py SCHEDULER CHUNKS FOLDER
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from distributed import Client
from scale_cluster import peak_mb

from gangsaw.tasks.engine.run.run import run_batches
from gangsaw.tasks.engine.scheduling.lazy import BatchRanges
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.state.journal import Job, Journal, batch_chunks, unit_chunks
from gangsaw.tasks.store.state.ledger import Ledger
from gangsaw.tasks.store.state.manifest import open_manifest
from gangsaw.tasks.store.state.records import ROW, Records

CHUNK_BYTES = 1 << 20  # of a chunk of moderate size; large jobs have batches of 64


@dataclass(frozen=True)
class NoOp:
    """Does nothing for a chunk but what the engine does for it: a row in a journal entry."""

    journal: Journal
    peak_bytes: int = 0
    name: str = "noop"
    waits: bool = False

    def __call__(self, batch: range) -> Records:
        """Return records of the batch."""
        return Records(self.journal.job, batch.start, 0, np.zeros(len(batch), ROW))

    def commit(self, _: object, results: list[Records]) -> None:
        """Journal batches, one entry a task."""
        self.journal.write(*results)


def measure(client: Client, folder: Path, n_chunks: int) -> dict[str, float]:
    """Run a job of no-ops; return seconds of its steps, entries of its journal, memory in MB."""
    place = open_prefix(folder / f"{n_chunks}.zarr", writable=True) / "data"
    job = Job("none", "none", n_chunks, batch_chunks(n_chunks, CHUNK_BYTES))
    journal = Journal(place, job.fingerprint, job.batch_chunks)
    units = BatchRanges((range(n_chunks),), unit_chunks(n_chunks, CHUNK_BYTES))
    clock, cpu = [time.perf_counter()], time.process_time()
    _scheduled(client, journal, units)
    clock.append(time.perf_counter())
    cpu = time.process_time() - cpu
    again = Ledger(journal, n_chunks)
    for records in journal.entries():
        again.add(records)
    clock.append(time.perf_counter())
    n_entries = sum(1 for _ in (place / ".gangsaw/journal").walk())
    began = time.perf_counter()
    again.finish()
    assert open_manifest(place) is not None
    finish = time.perf_counter() - began
    schedule, resume = np.diff(clock).tolist()
    return {
        "batches": len(units),
        "entries": n_entries,
        "schedule": schedule,
        "cpu": cpu,
        "resume": resume,
        "finish": finish,
        "peak_mb": peak_mb("self"),
    }


def _scheduled(client: Client, journal: Journal, units: BatchRanges) -> None:
    """Do the batches on workers, and take their records as a job does."""
    ledger = Ledger(journal, units.ranges[-1].stop)
    run_batches(NoOp(journal), units, lambda _, records: ledger.add(records), client=client)
    assert not ledger.gaps


def main() -> None:
    """Measure and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scheduler", help="address")
    parser.add_argument("chunks", type=int)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    with Client(given.scheduler) as client:
        measure(client, given.folder, 256)  # imports on the workers
        found = measure(client, given.folder, given.chunks)
    sys.stdout.write(f"{json.dumps(found)}\n")


if __name__ == "__main__":
    main()
