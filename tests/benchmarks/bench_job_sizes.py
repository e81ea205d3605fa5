"""Whole jobs in one process, as shares of the codec's own speed on two threads, by chunk size."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import gangsaw
from gangsaw.codecs import Ccsds123
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.tasks.bench.table import Row, say
from gangsaw.tasks.formats.envi.text import header_text
from gangsaw.tasks.hyperspectral.synthetic import make_scene

Cube = npt.NDArray[Any]
Work = Callable[[], object]
STRIP = (256, 128, 512)
SHAPE = (256, 1024, 512)  # 134 Msamples, 268 MB; each chunk below divides it, none is padded
SIZES = {  # extents of a chunk, and of the speed of the codec what is asked
    "32 MiB": ((256, 256, 256), ">= 85"),
    "16 MiB": ((256, 128, 256), ">= 85"),
    "4 MiB": ((256, 64, 128), ""),
    "0.5 MiB": ((256, 32, 32), ">= 40"),
}
BATCH = 64 << 20  # bytes of chunks that the codec is given at once
ROUNDS = 3
THREADS = 2


def rows() -> Iterator[Row]:
    """Yield what a job takes before its first chunk, then the shares by chunk size."""
    set_thread_limit(THREADS)
    with tempfile.TemporaryDirectory() as folder:
        yield from _starts(Path(folder))
        scene = np.tile(make_scene(*STRIP, bit_depth=14).cube, (1, SHAPE[1] // STRIP[1], 1))
        source = _write_envi(scene, Path(folder, "scene"))
        for name, (chunks, asked) in SIZES.items():
            say(f"jobs in chunks of {name}")
            yield from _shares(name, asked, _codec(scene, chunks), _job(source, chunks))
    set_thread_limit(None)


def _starts(folder: Path) -> Iterator[Row]:
    """Yield the time of jobs over next to nothing: what they read, look up, write and sync once."""
    source = _write_envi(np.zeros((16, 16, 16), np.uint16), folder / "tiny")
    jobs = _job(source, (16, 16, 16))
    spans = _in_turn(list(jobs.values()))
    for name, span in zip(jobs, spans, strict=True):
        yield Row(f"{name}, one chunk of 8 KiB", float(np.median(span[:, 0])), "s")


def _shares(name: str, asked: str, codec: Sequence[Work], jobs: dict[str, Work]) -> Iterator[Row]:
    """Yield shares of the codec's speed, by the wall clock and by processor time."""
    encode, decode, *spans = _in_turn([*codec, *jobs.values()])
    own = {"compress": encode}
    for job, span in zip(jobs, spans, strict=True):
        ratio = own.get(job, decode) / span
        wall, processor = (100 * float(np.median(ratio[:, clock])) for clock in (0, 1))
        speed = np.prod(SHAPE) / np.median(span[:, 0]) / 1e6
        note = f"{processor:.0f} % by processor time; {speed:.0f} Msamples/s"
        yield Row(f"{job}, chunks of {name}", wall, "%", asked, note, {"processor": processor})


def _in_turn(works: Sequence[Work]) -> list[npt.NDArray[np.float64]]:
    """Return (rounds, 2) seconds of each, wall clock and processor; the first round is left out."""
    spans = np.array([[_span(work) for work in works] for _ in range(ROUNDS + 1)])
    return [spans[1:, i] for i in range(len(works))]


def _span(work: Work) -> tuple[float, float]:
    began = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began[0], time.process_time() - began[1]


def _codec(scene: Cube, chunks: tuple[int, ...]) -> tuple[Work, Work]:
    """Return encoding and decoding all chunks, which lie in memory, as do the results."""
    parts = [
        np.ascontiguousarray(scene[:, y : y + chunks[1], x : x + chunks[2]])
        for y in range(0, SHAPE[1], chunks[1])
        for x in range(0, SHAPE[2], chunks[2])
    ]
    coder = Ccsds123().coder(chunks, scene.dtype)
    at_once = max(THREADS, BATCH // parts[0].nbytes)
    batches = [parts[i : i + at_once] for i in range(0, len(parts), at_once)]
    frames = [coder.encode_all(batch) for batch in batches]
    outs = [np.zeros(chunks, scene.dtype) for _ in range(at_once)]

    def encode() -> None:
        for batch in batches:
            coder.encode_all(batch)

    def decode() -> None:
        for batch in frames:
            coder.fill([coder.whole(data) for data in batch], outs[: len(batch)])

    return encode, decode


def _job(source: Path, chunks: tuple[int, ...]) -> dict[str, Work]:
    """Return the jobs by name, without a client: each leaves what the next one needs."""
    store, copy = source.with_suffix(".zarr"), source.with_name("copy.hdr")

    def compress() -> None:
        shutil.rmtree(store, ignore_errors=True)
        gangsaw.compress(source, store, codec="ccsds123", chunks=chunks)

    def verify() -> None:
        assert gangsaw.verify(store).ok

    def decompress() -> None:
        gangsaw.decompress(store, copy, overwrite=True)

    return {"compress": compress, "verify": verify, "decompress": decompress}


def _write_envi(scene: Cube, stem: Path) -> Path:
    scene.tofile(stem.with_suffix(".img"))
    bands, lines, samples = (str(n) for n in scene.shape)
    fields = {"samples": samples, "lines": lines, "bands": bands, "header offset": "0"}
    fields |= {"data type": "12", "interleave": "bsq", "byte order": "0"}
    header = stem.with_suffix(".hdr")
    header.write_text(header_text(fields))
    return header
