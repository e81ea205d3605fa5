"""Whole repertoires on two workers, from packed tables to a store: speed, and memory."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
from distributed import Client

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers.local import start
from gangsaw.tasks.bench.table import Row, say
from gangsaw.tasks.tcr.counting.paths.synthetic import random_batch
from gangsaw.tasks.tcr.germline import Germline, open_germline
from gangsaw.tasks.tcr.model import Model
from gangsaw.tasks.tcr.repertoire.cleaning.clean import Limits
from gangsaw.tasks.tcr.repertoire.inputs import open_inputs
from gangsaw.tasks.tcr.store.job import count_repertoires
from gangsaw.tasks.tcr.store.setup import Setup
from gangsaw.tasks.tcr.store.summary import CountSummary

FAST_ROWS, LARGE_ROWS = 1_000_000, 10_000_000
BLOCK = 100_000  # rows that are made and written at once
EVERYTHING = Limits(keep_out_of_frame=True, keep_unproductive=True)  # random joins know no frame
SAMPLE_SECONDS = 0.05  # between two looks at the memory


def rows() -> Iterator[Row]:
    """Yield speed on a table of random references, on real samples, and memory on a large table."""
    with warm_job() as job:
        say(f"{FAST_ROWS:,} rows")
        done = job.count([job.write("fast", FAST_ROWS)])
        what = f"gz TSV of {done.kept:,} references to Zarr, both models, 3 D genes"
        note = f"{done.run.seconds:.1f} s, {done.run.read_seconds:.1f} of them to read"
        yield Row(what, done.run.references_per_second, "references/s", ">= 60000", note)
        yield from _real(job)
        yield job.memory_row(LARGE_ROWS)


def _real(job: Job) -> Iterator[Row]:
    shared = Path(os.environ.get("GANGSAW_SHARED", "../shared")) / "data" / "tcr" / "human_TRB"
    tables = sorted(shared.glob("*.txt.gz"))
    if tables:
        done = job.count(tables, Setup(job.germline, Model("both")))
        what = f"all {len(tables)} human samples in one run, {done.kept:,} references"
        note = f"{done.run.references_per_second:,.0f} references/s, workers started before"
        yield Row(what, done.run.seconds, "s", "<= 10", note)


class Job:
    """A folder, a client, and jobs from the one with the other; all genes are human."""

    def __init__(self, folder: Path, client: Client) -> None:
        self.folder, self.client = folder, client
        self.germline = open_germline("olga", locus="TRB", species="human").checked(4)

    def write(self, name: str, n: int) -> Path:
        """Write a packed AIRR table of n random references."""
        path = self.folder / f"{name}.tsv.gz"
        with gzip.open(path, "wt", compresslevel=1) as file:
            file.write("sequence_id\tjunction\tv_call\tj_call\tduplicate_count\n")
            for first in range(0, n, BLOCK):
                file.writelines(_lines(self.germline, first, min(BLOCK, n - first)))
        return path

    def count(self, tables: Sequence[Path], setup: Setup | None = None) -> CountSummary:
        """Count tables, by both models and every row unless said; the store is gone afterwards."""
        setup = setup or Setup(self.germline, Model("both"), EVERYTHING)
        done = count_repertoires(
            open_inputs(tables), self.folder / "counts.zarr", setup, client=self.client
        )
        shutil.rmtree(done.store)
        Path(done.table).unlink()
        return done

    def memory_row(self, n: int) -> Row:
        """Count n rows in one table; return the most memory that this took."""
        say(f"{n:,} rows")
        large = self.write("large", n)
        with _peak_memory() as peak:
            done = self.count([large])
        what = f"memory of client and two workers, gz TSV of {done.kept:,} references"
        run = done.run
        note = f"{run.references_per_second:,.0f} references/s, {run.seconds:,.0f} s"
        return Row(what, peak[0] / 1e9, "GB", "<= 2", note)


@contextmanager
def warm_job() -> Iterator[Job]:
    """Yield a job on two workers that have compiled, and loaded what is compiled."""
    with (
        tempfile.TemporaryDirectory() as folder,
        start(ClusterConfig(workers=2, threads=1, dashboard=False)) as client,
    ):
        job = Job(Path(folder), client)
        job.count([job.write("warm", BLOCK)])
        yield job


def _lines(germline: Germline, first: int, n: int) -> Iterator[str]:
    parts = {name: [part.sequence for part in getattr(germline, name)] for name in "vdj"}
    batch = random_batch(parts["v"], parts["d"], parts["j"], n, seed=first)
    letters = np.array(list("?AT?C???G"))[batch.references.data]
    text, starts = "".join(letters), batch.references.offsets.tolist()
    genes = zip(batch.v_of.tolist(), batch.j_of.tolist(), strict=True)
    for i, (v, j) in enumerate(genes):
        junction = f"TGT{text[starts[i] : starts[i + 1]]}TTT"
        names = f"{germline.v[v].name}\t{germline.j[j].name}"
        yield f"s{first + i}\t{junction}\t{names}\t{i % 7 + 1}\n"


@contextmanager
def _peak_memory() -> Iterator[list[int]]:
    """Yield a list whose only number is the most bytes that this process and its children held."""
    own, peak, stop = psutil.Process(), [0], threading.Event()

    def resident(process: psutil.Process) -> int:
        try:
            found: int = process.memory_info().rss
        except psutil.NoSuchProcess:
            return 0
        return found

    def look() -> None:
        while not stop.wait(SAMPLE_SECONDS):
            family = [own, *own.children(recursive=True)]
            peak[0] = max(peak[0], sum(map(resident, family)))

    watching = threading.Thread(target=look)
    watching.start()
    try:
        yield peak
    finally:
        stop.set()
        watching.join()
