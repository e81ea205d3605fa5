"""Genomes: two threads, one read from a store that was just opened, and estimates for a GPU."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import zarr
from bench_dna import large, masked

from gangsaw.codecs import Dna
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.codecs.dna.params import MODES
from gangsaw.tasks.bench.table import Row, say, seconds_in_turn

CALLS = 5
COLD, READ, READS = "<= 20", 1000, 12  # ms, letters, times
BANDWIDTH = {"A100 80 GB": 2.04e12, "H100": 3.35e12, "H200": 4.8e12}  # bytes a second, by the maker
# bytes of device memory that a base needs: the text, and what is packed
BYTES = {"pack": 1.25}


def rows() -> Iterator[Row]:
    """Yield all rows."""
    yield from _threads()
    yield from _cold_read()
    yield from _estimates()


def _threads() -> Iterator[Row]:
    """Yield how many times as fast two threads are: wall clock, in turn, medians of the rounds."""
    text, out = large(), np.empty(large().size, np.uint8)
    for mode in (mode for mode in MODES if mode != "dense"):
        say(f"{mode}, two threads")
        codec = Dna(mode=mode)
        frame = codec.encode_chunk(text)
        works = {"encode": partial(codec.encode_chunk, text)}
        works["decode"] = partial(codec.decode_chunk, frame, out)
        for word, work in works.items():
            one, two = seconds_in_turn([_limited(n, work) for n in (1, 2)])
            gain = statistics.median(a / b for a, b in zip(one, two, strict=True))
            note = (
                f"wall clock; {CALLS * text.size / statistics.median(two) / 1e9:.3g} GB/s of text"
            )
            yield Row(f"two threads against one, {mode}, {word}", gain, "times", "", note)


def _limited(n: int, work: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        set_thread_limit(n)
        for _ in range(CALLS):
            work()
        set_thread_limit(None)

    return run


def _cold_read() -> Iterator[Row]:
    """Yield the time of a read of 1 kb by a store that was just opened, its files out of cache."""
    text = np.concatenate([large(), masked()])
    for mode in (mode for mode in MODES if mode != "dense"):
        say(f"{mode}, one read")
        with tempfile.TemporaryDirectory() as folder:
            whole = zarr.create_array(
                folder,
                shape=text.shape,
                chunks=(text.size // 2,),
                dtype=np.uint8,
                serializer=Dna(mode=mode),
                compressors=None,
            )
            whole[:] = text
            spans = [_read(folder, text, at) for at in _places(text.size)]
        note = f"wall clock; at most {max(spans[1:]):.1f} ms; files dropped from the system's cache"
        what = f"one read of {READ} letters of 64 Mi, {mode}, cold"
        yield Row(what, statistics.median(spans[1:]), "ms", COLD, note)


def _places(size: int) -> list[int]:
    return [int(at) for at in np.random.default_rng(4).integers(0, size - READ, READS + 1)]


def _read(folder: str, text: np.ndarray, at: int) -> float:
    """Return milliseconds of opening a store and reading a range of it."""
    _forget(folder)
    began = time.perf_counter()
    found = zarr.open_array(folder, mode="r")[at : at + READ]
    spent = 1e3 * (time.perf_counter() - began)
    assert (np.asarray(found) == text[at : at + READ]).all()
    return spent


def _forget(folder: str) -> None:
    """Have the system drop what it caches of files; they are written to the disk first."""
    for path in (path for path in Path(folder).rglob("*") if path.is_file()):
        number = os.open(path, os.O_RDONLY)
        os.fsync(number)
        os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(number)


def _estimates() -> Iterator[Row]:
    """Yield what a device's memory allows: bytes over bandwidth, nothing measured."""
    for mode, per_base in BYTES.items():
        for device, bandwidth in BANDWIDTH.items():
            note = f"estimate: {per_base} bytes a base over {bandwidth / 1e12:.3g} TB/s"
            yield Row(
                f"{mode} on {device}, at most", bandwidth / per_base / 1e9, "Gbases/s", "", note
            )
