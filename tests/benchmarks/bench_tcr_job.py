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
from table import Row, say

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.local import start
from gangsaw.tasks.tcr.clean import Limits
from gangsaw.tasks.tcr.germline import Germline, open_germline
from gangsaw.tasks.tcr.inputs import open_inputs
from gangsaw.tasks.tcr.job import count
from gangsaw.tasks.tcr.model import Model
from gangsaw.tasks.tcr.setup import Setup
from gangsaw.tasks.tcr.summary import Summary
from gangsaw.tasks.tcr.synthetic import random_batch

FAST_ROWS, LARGE_ROWS = 1_000_000, 10_000_000
BLOCK = 100_000  # rows that are made and written at once
EVERYTHING = Limits(keep_out_of_frame=True, keep_unproductive=True)  # random joins know no frame
SAMPLE_SECONDS = 0.05  # between two looks at the memory


def rows() -> Iterator[Row]:
    """Yield speed on a table of random references, on real samples, and memory on a large table."""
    germline = open_germline("olga", locus="TRB", species="human").checked(4)
    everything = Setup(germline, Model("both"), EVERYTHING)
    with (
        tempfile.TemporaryDirectory() as folder,
        start(ClusterConfig(workers=2, threads=1, dashboard=False)) as client,
    ):
        job = _Bench(Path(folder), client)
        table = job.write("warm", germline, BLOCK)
        job.count([table], everything)  # compiles, and loads what is compiled
        say(f"{FAST_ROWS:,} rows")
        done = job.count([job.write("fast", germline, FAST_ROWS)], everything)
        what = f"gz TSV of {done.kept:,} references to Zarr, both models, 3 D genes"
        note = f"{done.run.seconds:.1f} s, {done.run.read_seconds:.1f} of them to read"
        yield Row(what, done.run.references_per_second, "references/s", ">= 60000", note)
        yield from _real(job, germline)
        say(f"{LARGE_ROWS:,} rows")
        large = job.write("large", germline, LARGE_ROWS)
        with _peak_memory() as peak:
            done = job.count([large], everything)
        what = f"memory of client and two workers, gz TSV of {done.kept:,} references"
        note = f"{done.run.references_per_second:,.0f} references/s"
        yield Row(what, peak[0] / 1e9, "GB", "<= 2", note)


def _real(job: _Bench, germline: Germline) -> Iterator[Row]:
    shared = Path(os.environ.get("GANGSAW_SHARED", "../shared")) / "data" / "tcr" / "human_TRB"
    tables = sorted(shared.glob("*.txt.gz"))
    if tables:
        done = job.count(tables, Setup(germline, Model("both")))
        what = f"all {len(tables)} human samples in one run, {done.kept:,} references"
        note = f"{done.run.references_per_second:,.0f} references/s, workers started before"
        yield Row(what, done.run.seconds, "s", "<= 10", note)


class _Bench:
    """A folder, a client, and jobs from the one with the other."""

    def __init__(self, folder: Path, client: Client) -> None:
        self.folder, self.client = folder, client

    def write(self, name: str, germline: Germline, n: int) -> Path:
        """Write a packed AIRR table of n random references."""
        path = self.folder / f"{name}.tsv.gz"
        with gzip.open(path, "wt", compresslevel=1) as file:
            file.write("sequence_id\tjunction\tv_call\tj_call\tduplicate_count\n")
            for first in range(0, n, BLOCK):
                file.writelines(_lines(germline, first, min(BLOCK, n - first)))
        return path

    def count(self, tables: Sequence[Path], setup: Setup) -> Summary:
        """Count tables; the store is gone afterwards."""
        done = count(open_inputs(tables), self.folder / "counts.zarr", setup, client=self.client)
        shutil.rmtree(done.store)
        Path(done.table).unlink()
        return done


def _lines(germline: Germline, first: int, n: int) -> Iterator[str]:
    parts = {name: [part.sequence for part in getattr(germline, name)] for name in "vdj"}
    batch = random_batch(parts["v"], parts["d"], parts["j"], n, seed=first)
    letters = np.array(list("?AT?C???G"))[batch.references.codes]
    text, starts = "".join(letters), batch.references.starts.tolist()
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
