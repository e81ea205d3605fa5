"""Two cores: the codec on two threads, and the whole job from ENVI on disk to a verified store."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from table import Row, say, wall_seconds

import gangsaw
from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.local import start
from gangsaw.codecs import Ccsds123
from gangsaw.codecs.core.threads import set_thread_limit
from gangsaw.tasks.sources.envi_header import header_text
from gangsaw.tasks.synthetic import make_scene

Cube = npt.NDArray[Any]
STRIP = (224, 1024, 512)
SHAPE = (224, 4096, 512)  # 470 Msamples, 940 MB, 32 chunks: a flight line of four equal strips
DEPTH = 14
CHUNKS = (224, 256, 256)


def rows() -> Iterator[Row]:
    """Yield scaling over threads, then the job's share of the codec's own speed."""
    strip = make_scene(*STRIP, bit_depth=DEPTH).cube
    scene = np.tile(strip, (1, SHAPE[1] // STRIP[1], 1))
    one, two = (_codec_seconds(scene, threads) for threads in (1, 2))
    for what, before, after in zip(("encode", "decode"), one, two, strict=True):
        speed = f"{scene.size / after / 1e6:.0f} Msamples/s on two"
        yield Row(f"two threads against one, {what}", before / after, "times", ">= 1.7", speed)
    with tempfile.TemporaryDirectory() as folder:
        yield from _job(scene, Path(folder), *two)


def _codec_seconds(scene: Cube, threads: int) -> tuple[float, float]:
    """Wall-clock seconds to encode and to decode the scene in memory, chunk by chunk."""
    set_thread_limit(threads)
    chunks = [
        np.ascontiguousarray(scene[:, y : y + CHUNKS[1], x : x + CHUNKS[2]])
        for y in range(0, SHAPE[1], CHUNKS[1])
        for x in range(0, SHAPE[2], CHUNKS[2])
    ]
    coder = Ccsds123().coder(CHUNKS, scene.dtype)
    frames = [coder.encode(chunk) for chunk in chunks]
    out = np.empty(CHUNKS, scene.dtype)
    say(f"codec on {threads} threads")
    encode = wall_seconds(lambda: [coder.encode(chunk) for chunk in chunks], rounds=3)
    decode = wall_seconds(lambda: [coder.decode(frame, out) for frame in frames], rounds=3)
    set_thread_limit(None)
    return encode, decode


def _job(scene: Cube, folder: Path, encode: float, decode: float) -> Iterator[Row]:
    source, store = _write_envi(scene, folder), folder / "scene.zarr"
    with start(ClusterConfig(workers=2, threads=1, dashboard=False)) as client:

        def compress() -> None:
            shutil.rmtree(store, ignore_errors=True)
            gangsaw.compress(source, store, chunks=CHUNKS, client=client)

        def compress_and_verify() -> None:
            compress()
            assert gangsaw.verify(store, client=client).ok

        def speed(work: Callable[[], None], own: float, what: str) -> Row:
            say(what)
            seconds = wall_seconds(work, rounds=3)
            note = f"{scene.size / seconds / 1e6:.0f} Msamples/s"
            return Row(what, 100 * own / seconds, "%", ">= 70", note)

        yield speed(compress, encode, "job ENVI to store, of the codec's encode on two threads")
        what = "job ENVI to verified store, of the codec's encode and decode on two threads"
        yield speed(compress_and_verify, encode + decode, what)


def _write_envi(scene: Cube, folder: Path) -> Path:
    scene.tofile(folder / "scene.img")
    bands, lines, samples = (str(n) for n in scene.shape)
    fields = {"samples": samples, "lines": lines, "bands": bands, "header offset": "0"}
    fields |= {"data type": "12", "interleave": "bsq", "byte order": "0"}
    header = folder / "scene.hdr"
    header.write_text(header_text(fields))
    return header
