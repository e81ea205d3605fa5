"""Jobs on a store far away: an S3 server on this machine, behind a proxy that delays requests."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from helpers.s3 import BUCKET, Bucket, serving

import gangsaw
from gangsaw.tasks.bench.table import Row, say, seconds_in_turn
from gangsaw.tasks.hyperspectral.synthetic import make_scene

SHAPE, CHUNKS = (224, 512, 512), (224, 64, 64)  # 64 chunks of 1.8 MB
N_CHUNKS = 64
DELAYS = (0, 50, 200)  # ms
ASKED = {50: "<= 1.3", 200: "<= 2"}
ROUNDS = 2

Work = Callable[[], object]


def rows() -> Iterator[Row]:
    """Yield each job's seconds without delay, then with a delay as often that."""
    with tempfile.TemporaryDirectory() as folder, serving() as bucket:
        jobs = _jobs(bucket, Path(folder))
        works = [partial(_delayed, bucket, ms, job) for job in jobs.values() for ms in DELAYS]
        say(f"{len(works)} jobs in turn")
        seconds = np.array(seconds_in_turn(works, ROUNDS)).reshape(len(jobs), len(DELAYS), -1)
        for name, spans in zip(jobs, seconds, strict=True):
            yield from _rows(name, spans)


def _jobs(bucket: Bucket, folder: Path) -> dict[str, Work]:
    """Return what is timed, by name; all after compress are on one store."""
    options = {"storage_options": bucket.options}
    raw, numbers = folder / "scene.raw", itertools.count()
    make_scene(*SHAPE, bit_depth=14).cube.tofile(raw)

    def compress() -> str:
        store = f"s3://{BUCKET}/{next(numbers)}.zarr"
        how = {"shape": SHAPE, "dtype": "uint16", "chunks": CHUNKS}
        gangsaw.compress(str(raw), store, **how, **options)
        return store

    store = compress()
    return {
        "compress": compress,
        "verify": partial(gangsaw.verify, store, **options),
        "info": partial(gangsaw.info, store, **options),
        "decompress": lambda: gangsaw.decompress(
            store, str(folder / f"{next(numbers)}.zarr"), **options
        ),
    }


def _delayed(bucket: Bucket, ms: int, job: Work) -> None:
    bucket.faults(ms=ms)
    job()
    bucket.faults()


def _rows(name: str, spans: npt.NDArray[np.float64]) -> Iterator[Row]:
    """Yield the rows of one job; `spans` (delays, rounds) are seconds."""
    at_once, *delayed = spans
    yield Row(f"{name}, {N_CHUNKS} chunks, no delay", float(np.median(at_once)), "s")
    for ms, each in zip(DELAYS[1:], delayed, strict=True):
        in_a_row = np.median(each - at_once) / (ms / 1000)
        yield Row(
            f"{name}, {ms} ms",
            float(np.median(each / at_once)),
            "times",
            ASKED[ms],
            f"{np.median(each):.2f} s: as if {in_a_row:.0f} requests were one behind the other",
        )
