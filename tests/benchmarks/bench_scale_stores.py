"""Stores of many tiny chunks: to compress, verify and describe them."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from distributed import Client
from scale_cluster import cluster
from zarr.codecs import ZstdCodec

import gangsaw
from gangsaw.codecs import Ccsds123
from gangsaw.tasks.bench.table import Row
from gangsaw.tasks.formats.raw.source import RawSource, open_raw
from gangsaw.tasks.jobs.compress import compress
from gangsaw.tasks.jobs.verification.verify import verify
from gangsaw.tasks.store.arrays.layout import Codec

SIDE = 50  # chunks: time and processor time grow with their number
EDGE = 8  # samples of a chunk
SCALE = 10**5 / SIDE**2
WANTED = {"compress": "<= 60", "verify": "<= 30", "info": "<= 5"}
CODECS: dict[str, Codec] = {"zstd": ZstdCodec(level=1), "ccsds123": Ccsds123()}


def scene(folder: Path) -> RawSource:
    """Return an image of SIDE x SIDE chunks."""
    shape = (1, SIDE * EDGE, SIDE * EDGE)
    values = np.arange(shape[1] * shape[2], dtype="<u4") // 50
    values.astype("<u2").tofile(folder / "scene.raw")
    return open_raw(str(folder / "scene.raw"), shape, "<u2")


def timed(call: Callable[[], object]) -> tuple[float, float]:
    """Return clock and processor seconds of a call in this process."""
    clock, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - clock, time.process_time() - cpu


def rows() -> Iterator[Row]:
    """Yield processor time in one process, and the clock's on one worker and two."""
    with tempfile.TemporaryDirectory() as folder:
        source = scene(Path(folder))
        for name, codec in CODECS.items():
            store = Path(folder, f"{name}.zarr")
            job = partial(compress, source, codec=codec, chunks=(1, EDGE, EDGE))
            job(store.with_suffix(".warm"))
            steps: dict[str, Callable[[], object]] = {
                "compress": partial(job, store),
                "verify": partial(verify, store),
                "info": partial(gangsaw.info, store),
            }
            for step, call in steps.items():
                clock, cpu = timed(call)
                note = f"by {SIDE**2:,} chunks of 128 bytes: {cpu:.2f} s, {clock:.2f} on the clock"
                title = f"{step}, {name}: 100,000 chunks, processor time"
                yield Row(title, SCALE * cpu, "s", WANTED[step], note)
        yield from _weak(source, Path(folder))


def _weak(source: RawSource, folder: Path) -> Iterator[Row]:
    """Yield chunks a second where each worker has as many."""
    found = [_seconds(source, folder, n) for n in (1, 2)]
    for n, seconds in zip((1, 2), found, strict=True):
        n_chunks = SIDE**2 * n // 2
        note = f"{n_chunks:,} chunks in {seconds:.1f} s on the clock"
        name = f"compress, {n} worker{'s' * (n > 1)}"
        yield Row(name, n_chunks / seconds, "chunks/s", note=note)
    note = "as much for each worker: 1 were perfect; the machine is shared"
    yield Row("weak scaling from 1 worker to 2", found[0] / found[1], "", note=note)


def _seconds(source: RawSource, folder: Path, n: int) -> float:
    """Return what a job takes on n workers, whose chunks are as many times as many."""
    chunks = (1, EDGE, EDGE * 2 // n)
    with cluster(n, n) as served, Client(served.address) as client:
        job = partial(compress, source, codec=CODECS["zstd"], chunks=chunks, client=client)
        job(folder / f"warm{n}.zarr")
        return timed(partial(job, folder / f"{n}.zarr"))[0]
