"""What a job costs beside its chunks: scheduling, journal, manifest; the chunks are no-ops.

    python tests/benchmarks/bench_scheduling.py [--chunks 1000 10000 100000] [--json FILE]

Batches are as large as the job engine makes them for small chunks. The time per batch does not grow
with the number of chunks, so the largest run is extrapolated to a million.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from distributed import Client
from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.local import start
from gangsaw.tasks.engine import run
from gangsaw.tasks.journal import Job, Journal, batch_chunks
from gangsaw.tasks.manifest import fold, read_manifest, write_manifest
from gangsaw.tasks.place import open_place
from gangsaw.tasks.records import ROW, Records

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
class Row:
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


def measure(client: Client, folder: Path, n_chunks: int) -> Row:
    """Run a job of no-ops."""
    place = open_place(folder / f"{n_chunks}.zarr", writable=True) / "data"
    job = Job("none", "none", n_chunks, batch_chunks(n_chunks, CHUNK_BYTES))
    journal = Journal(place, job.fingerprint, job.batch_chunks)
    entries: dict[range, Records] = {}
    clock = [time.perf_counter()]
    run(NoOp(journal), job.batches, entries.__setitem__, client=client)
    clock.append(time.perf_counter())
    assert len(journal.read_all(job.batches)) == len(job.batches)
    clock.append(time.perf_counter())
    write_manifest(place, fold(job.fingerprint, entries.values()))
    journal.remove()
    manifest = read_manifest(place)
    assert manifest is not None
    assert len(manifest.rows) == n_chunks
    clock.append(time.perf_counter())
    return Row(n_chunks, len(job.batches), *np.diff(clock).tolist())


def table(rows: list[Row]) -> str:
    """Return Markdown, with a last line that extrapolates by the growth of the last two runs."""
    lines = [
        "| chunks | batches | schedule s | resume s | manifest s | ms per batch |",
        "|---" * 6 + "|",
    ]
    for row in rows:
        lines.append(
            f"| {row.chunks:,} | {row.batches:,} | {row.schedule:.2f} | {row.resume:.2f} "
            f"| {row.manifest:.2f} | {1e3 * row.schedule / row.batches:.2f} |"
        )
    return "\n".join([*lines, "", f"A million chunks: {million(rows):.0f} s"])


def million(rows: list[Row]) -> float:
    """Seconds of a job of a million chunks: linear through the last two runs, never below."""
    last = rows[-1]
    slope = last.total / last.batches
    if len(rows) > 1:
        before = rows[-2]
        slope = max(slope, (last.total - before.total) / (last.batches - before.batches))
    return slope * -(-MILLION // batch_chunks(MILLION, CHUNK_BYTES))


def main() -> None:
    """Measure, print the table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, nargs="+", default=[10**3, 10**4, 10**5])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    config = ClusterConfig(workers=2, threads=1, dashboard=False)
    with tempfile.TemporaryDirectory() as folder, start(config) as client:
        measure(client, Path(folder), 256)  # imports on the workers
        rows = [measure(client, Path(folder), n) for n in arguments.chunks]
    sys.stdout.write(table(rows) + "\n")
    if arguments.json:
        found = {"rows": [asdict(row) for row in rows], "million_seconds": million(rows)}
        arguments.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
