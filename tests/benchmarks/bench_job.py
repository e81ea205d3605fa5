"""Two cores: the codec on two threads, and the whole job from ENVI on disk to a verified store."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from distributed import Client
from two_cores import two_cores

import gangsaw
from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers.local import start
from gangsaw.codecs import Ccsds123
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.tasks.bench.table import Row, say, seconds_in_turn
from gangsaw.tasks.formats.envi.text import header_text
from gangsaw.tasks.hyperspectral.synthetic import make_scene

Cube = npt.NDArray[Any]
Seconds = npt.NDArray[np.float64]  # of each round
STRIP = (224, 1024, 512)
SHAPE = (224, 4096, 512)  # 470 Msamples, 940 MB, 32 chunks: a flight line of four equal strips
DEPTH = 14
CHUNKS = (224, 256, 256)
BATCH = 8  # chunks at once: a chunk has but two blocks, so that one alone waits for the slower one


def rows() -> Iterator[Row]:
    """Yield scaling over threads, then the job's share of the codec's own speed."""
    strip = make_scene(*STRIP, bit_depth=DEPTH).cube
    scene = np.tile(strip, (1, SHAPE[1] // STRIP[1], 1))
    with (
        tempfile.TemporaryDirectory() as folder,
        start(ClusterConfig(workers=2, threads=1, dashboard=False)) as client,
    ):
        works = [*_codec(scene), *_job(scene, Path(folder), client)]
        encode, encode2, decode, decode2, compress, verify = _timed(works)
    for what, one, two in (("encode", encode, encode2), ("decode", decode, decode2)):
        yield Row(
            f"two threads against one, {what}", _ratio(one, two), "times", ">= 1.7", _speed(two)
        )
    yield two_cores()
    own, job = encode2 + decode2, compress + verify
    what = "job ENVI to store, of the codec's encode on two threads"
    yield Row(what, 100 * _ratio(encode2, compress), "%", ">= 70", _speed(compress))
    what = "job ENVI to verified store, of the codec's encode and decode on two threads"
    yield Row(what, 100 * _ratio(own, job), "%", ">= 70", _speed(job))


def _timed(works: Sequence[Callable[[], object]]) -> npt.NDArray[np.float64]:
    say("codec and job in turn")
    return np.array(seconds_in_turn(works))


def _ratio(a: Seconds, b: Seconds) -> float:
    return float(np.median(a / b))


def _speed(seconds: Seconds) -> str:
    return f"{math.prod(SHAPE) / np.median(seconds) / 1e6:.0f} Msamples/s"


def _codec(scene: Cube) -> Iterator[Callable[[], None]]:
    """Yield encoding on one thread and on two, decoding on one and on two; all in memory."""
    chunks = [
        np.ascontiguousarray(scene[:, y : y + CHUNKS[1], x : x + CHUNKS[2]])
        for y in range(0, SHAPE[1], CHUNKS[1])
        for x in range(0, SHAPE[2], CHUNKS[2])
    ]
    coder = Ccsds123().coder(CHUNKS, scene.dtype)
    batches = [chunks[i : i + BATCH] for i in range(0, len(chunks), BATCH)]
    frames = [coder.encode_all(batch) for batch in batches]
    outs = [np.empty(CHUNKS, scene.dtype) for _ in range(BATCH)]

    def decode(batch: Sequence[memoryview]) -> None:
        coder.fill([coder.whole(data) for data in batch], outs)

    yield from (partial(_on_threads, n, coder.encode_all, batches) for n in (1, 2))
    yield from (partial(_on_threads, n, decode, frames) for n in (1, 2))


def _on_threads(n: int, work: Callable[[Any], object], batches: Sequence[Any]) -> None:
    set_thread_limit(n)
    for batch in batches:
        work(batch)
    set_thread_limit(None)


def _job(scene: Cube, folder: Path, client: Client) -> Iterator[Callable[[], None]]:
    """Yield the job and its verification, on two workers."""
    source, store = _write_envi(scene, folder), folder / "scene.zarr"

    def compress() -> None:
        shutil.rmtree(store, ignore_errors=True)
        gangsaw.compress(source, store, chunks=CHUNKS, client=client)

    def verify() -> None:
        assert gangsaw.verify(store, client=client).ok

    yield from (compress, verify)


def _write_envi(scene: Cube, folder: Path) -> Path:
    scene.tofile(folder / "scene.img")
    bands, lines, samples = (str(n) for n in scene.shape)
    fields = {"samples": samples, "lines": lines, "bands": bands, "header offset": "0"}
    fields |= {"data type": "12", "interleave": "bsq", "byte order": "0"}
    header = folder / "scene.hdr"
    header.write_text(header_text(fields))
    return header
