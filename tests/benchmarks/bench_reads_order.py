"""Sequencing reads in other orders: bits, what a set costs in several chunks, binning, threads."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import zarr
from bench_reads import ENCODE, SETS, letters_of

import gangsaw
from gangsaw import reads
from gangsaw.codecs import Reads
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.codecs.reads.lines import Lines, find_lines
from gangsaw.tasks.bench.table import Row, cpu_seconds, say, seconds_in_turn
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.genomics.reads.files.kernels import LINES, copy_text_lines
from gangsaw.tasks.genomics.reads.files.records import FastqRecords
from gangsaw.tasks.genomics.reads.order.arrange import by_place
from gangsaw.tasks.genomics.reads.order.bins.signatures import sign_lines

ROUNDS = 3
LANE = 1 << 16
# bits a base in no order kept: what is asked, and other programs' (as SETS: not built here)
SORTED = {
    "hiv1 250": (0.114, "SPRING .198, PgRC2 .229, ORCOM .266"),
    "portiera 36": (0.223, "SPRING .233, PgRC2 .218, ORCOM .352"),
    "shigella 150": (1.009, "SPRING 1.274, PgRC2 1.418, ORCOM 1.499"),
    "human 101": (1.862, "SPRING 1.963, PgRC2 1.903, ORCOM 1.893"),
    "sars2 250": (0.038, "SPRING .066, ORCOM .069"),
    "gaii 79": (1.188, "SPRING 1.431, PgRC2 1.267, ORCOM 1.472"),
}
# bits a base in 4 and in 16 chunks, by bins: those of the prototype
CHUNKS = {
    "shigella 150": {4: 1.164, 16: 1.298},
    "portiera 36": {4: 0.317, 16: 0.411},
    "hiv1 250": {4: 0.155, 16: 0.192},
    "sars2 250": {4: 0.064, 16: 0.088},
}
SPARE = 1.03  # as often as these it may be
SIGN, THREADS, COLD = ">= 600", ">= 1.8", "<= 20"  # Mbases/s, times, ms
SIZES, LENGTHS = (16, 64, 256), (36, 100, 150, 250)  # 10^6 letters, letters of a read
LENGTH, SIZE = 100, 64  # of those where the other varies
GENOME = 5_000_000
NO_DEVICE = "no device"


def rows() -> Iterator[Row]:
    """Yield all rows; those of shared sets are absent without the shared folder."""
    folder = Path(os.environ.get("GANGSAW_SHARED", "../shared")) / "data/genomes/reads"
    if folder.is_dir():
        set_thread_limit(1)
        for name in SORTED:
            say(name)
            with _one_file(folder, SETS[name].files) as path:
                yield from _orders(name, path)
        yield from _cold_read(folder)
    set_thread_limit(1)
    yield from _binning()
    yield from _two_threads()


@contextmanager
def _one_file(folder: Path, files: tuple[str, ...]) -> Iterator[Path]:
    """Give a path of all files, one behind the other."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "all.fastq.gz")
        with path.open("wb") as out:
            for file in files:
                out.write((folder / f"{file}.fastq.gz").read_bytes())
        yield path


def _orders(name: str, path: Path) -> Iterator[Row]:
    """Yield what a set costs sorted, binned and in several chunks, and the speed of signatures."""
    kept, binned, in_order = (_sequences(path, order) for order in ("kept", "bins", "sorted"))
    for other in (binned, in_order):
        assert sorted(bytes(other).split(b"\n")) == sorted(bytes(kept).split(b"\n"))
    n = letters_of(kept)
    asked, others = SORTED[name]
    seconds = cpu_seconds(partial(_stored, in_order), ROUNDS)
    bits = 8 * _stored(in_order) / n
    yield Row(f"sequences sorted, {name}", bits, "bits a base", f"<= {asked}", others)
    yield Row(f"sequences sorted, {name}, encode", n / 1e6 / seconds, "Mbases/s", ENCODE)
    yield Row(f"sequences in bins, {name}", 8 * _stored(binned) / n, "bits a base")
    for parts, figure in CHUNKS.get(name, {}).items():
        came, best = (8 * _in_chunks(text, parts) / n for text in (kept, binned))
        what = f"sequences sorted in {parts} chunks, {name}"
        note = f"as they came {came:.3f}; the prototype {figure}, which flags no repeats"
        yield Row(what, best, "bits a base", f"<= {figure * SPARE:.4g}", note, {"came": came})
    lines = find_lines(kept, LANE)
    seconds = cpu_seconds(lambda: sign_lines(kept, lines.starts, lines.ends), 5 * ROUNDS)
    yield Row(f"signatures of both strands, {name}", n / 1e6 / seconds, "Mbases/s", SIGN)


def _sequences(path: Path, order: str) -> Text:
    """Return the sequences of a file in an order, as the job writes them."""
    store = path.with_name(f"{order}.zarr")
    gangsaw.compress(path, store, order=order, qualities="none", names="none")
    text: Text = zarr.open_group(store, mode="r")["sequence"][:]
    return text


def _stored(text: Text) -> int:
    """Return the bytes of a chunk, which is decoded and compared."""
    codec, out = Reads(), np.empty_like(text)
    frame = codec.encode_chunk(text)
    codec.decode_chunk(frame, out)
    assert (out == text).all()
    return len(frame)


def _in_chunks(text: Text, parts: int) -> int:
    """Return the bytes of several chunks, the lines of each sorted."""
    lines = find_lines(text, LANE)
    edges = np.searchsorted(lines.starts, np.arange(parts + 1) * text.size / parts)
    return sum(_stored(_sorted(text, lines, slice(a, b))) for a, b in pairwise(edges.tolist()))


def _sorted(text: Text, lines: Lines, which: slice[int, int, None]) -> Text:
    """Return some lines in the order of their places."""
    begins, ends = (np.repeat(p[which, None], LINES, axis=1) for p in (lines.starts, lines.ends))
    (found,) = by_place((FastqRecords(text, begins, ends),))
    return _moved(text, found.begins[:, 0], found.ends[:, 0])


def _moved(text: Text, begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> Text:
    """Return lines in some order."""
    lengths = ends - begins + 1
    out = np.empty(int(lengths.sum()), np.uint8)
    begins, ends = np.ascontiguousarray(begins), np.ascontiguousarray(ends)
    copy_text_lines(text, begins, ends, np.cumsum(lengths) - lengths, out)
    return out


def _binning() -> Iterator[Row]:
    """Yield the time of the binning stage alone, by size and by length: reads of a made genome."""
    cases = [(size, LENGTH) for size in SIZES] + [(SIZE, n) for n in LENGTHS if n != LENGTH]
    for size, length in cases:
        say(f"binning, {size} MB of {length}")
        lines = find_lines(_made(size, length), LANE)
        steps = [step * 1e3 for step in _binning_seconds(lines)]
        what = f"binning alone, {size} MB of reads of {length}"
        note = "signatures {:.0f}, order {:.0f}, move {:.0f} ms".format(*steps)
        yield Row(f"{what}, CPU", sum(steps), "ms", note=note)
        yield Row(f"{what}, GPU", None, "ms", why=NO_DEVICE)


def _made(size: int, length: int) -> Text:
    """Return lines of reads without errors, with so many 10^6 letters."""
    rng = np.random.default_rng(1)
    genome = rng.choice(np.frombuffer(b"ACGT", np.uint8), GENOME)
    out = np.full((size * 1_000_000 // length, length + 1), 10, np.uint8)
    windows = np.lib.stride_tricks.sliding_window_view(genome, length)
    np.take(windows, rng.integers(0, len(windows), len(out)), axis=0, out=out[:, :-1])
    return out.reshape(-1)


def _binning_seconds(lines: Lines) -> tuple[float, float, float]:
    """Return medians of CPU seconds: signatures, the order by bin, lines moved there."""
    bins = sign_lines(lines.text, lines.starts, lines.ends).min(axis=1)
    order = np.argsort(bins, kind="stable")
    return (
        cpu_seconds(lambda: sign_lines(lines.text, lines.starts, lines.ends), ROUNDS),
        cpu_seconds(lambda: np.argsort(bins, kind="stable"), ROUNDS),
        cpu_seconds(lambda: _moved(lines.text, lines.starts[order], lines.ends[order]), ROUNDS),
    )


def _two_threads() -> Iterator[Row]:
    """Yield what a second thread gives: encode over two chunks, decode over lanes of one."""
    text, codec = _made(8, 150), Reads()
    frame, out = codec.encode_chunk(text), np.empty_like(text)

    def encode(threads: int) -> None:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(codec.encode_chunk, [text, text]))

    def decode(threads: int) -> None:
        set_thread_limit(threads)
        for _ in range(10):
            codec.decode_chunk(frame, out)
        set_thread_limit(1)

    yield _gain("encode over two chunks", encode)
    yield _gain("decode over lanes of a chunk", decode)


def _gain(what: str, work: Callable[[int], None]) -> Row:
    one, two = seconds_in_turn([partial(work, 1), partial(work, 2)])
    gain = statistics.median(a / b for a, b in zip(one, two, strict=True))
    return Row(f"sequences, two threads: {what}", gain, "times", THREADS, "wall clock")


def _cold_read(folder: Path) -> Iterator[Row]:
    """Yield the time of a read of a whole chunk, by a store that has just been opened."""
    files = tuple(file for name in SORTED for file in SETS[name].files)
    with _one_file(folder, files) as path:
        store = path.with_name("all.zarr")
        gangsaw.compress(path, store, qualities="none", names="none")
        n = len(reads.open(store))
        spans = []
        for i in np.linspace(0, n // 2, 12).astype(int).tolist():
            whole = reads.open(store)
            start = time.perf_counter()
            assert len(whole[i : i + 1]) == 1
            spans.append(1e3 * (time.perf_counter() - start))
    median, most = statistics.median(spans[1:]), max(spans[1:])
    note = f"wall clock, of {n} reads of all sets; at most {most:.0f} ms"
    yield Row("one read of a chunk of 32 MiB, cold", median, "ms", COLD, note)
