"""The whole job from FASTQ.gz to a store on two threads and two workers, beside its stages."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
from distributed import Client
from two_cores import two_cores

import gangsaw
from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers.local import start
from gangsaw.codecs import Reads
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.tasks.bench.table import Row, say, seconds_in_turn
from gangsaw.tasks.compressed_text.text import read_blocks
from gangsaw.tasks.genomics.reads.files.fastq import FastqFile
from gangsaw.tasks.genomics.reads.stream.stream import ReadStream
from gangsaw.tasks.genomics.reads.stream.writer import CHUNK
from gangsaw.tasks.jobs.streams.regroup import read_sample, regroup, row_bytes
from gangsaw.tasks.sources.source import optional_names
from gangsaw.tasks.store.objects.prefix import open_prefix

Seconds = npt.NDArray[np.float64]  # of each round
ROUNDS = 2
COPIES = 8  # of a file, one behind the other: several chunks of each array
SETS = {
    "hiv1 250": ("hiv1_miseq250_R1",),
    "shigella 150": ("shigella_ERR6005894_R1", "shigella_ERR6005894_R2"),
}
# reading, each with those before it; then two apart
MOST_SPEED = 10_000  # MB/s: a stage that seems faster was not measured
STAGES = ("gz decoding", "parsing", "arrays and sum of records", "chunks", "encoding", "storing")
READING = 4


def rows() -> Iterator[Row]:
    """Yield the job's share of what its stages allow, and what each stage takes of their sum."""
    shared = Path(os.environ.get("GANGSAW_SHARED", "../shared")) / "data/genomes/reads"
    if not shared.is_dir():
        return
    with (
        tempfile.TemporaryDirectory() as scratch,
        start(ClusterConfig(workers=2, threads=1, dashboard=False)) as client,
    ):
        for name, files in SETS.items():
            paths = [Path(scratch, f"{file}.fastq.gz") for file in files]
            for path in paths:
                path.write_bytes((shared / path.name).read_bytes() * COPIES)
            say(f"{name}: stages and jobs in turn")
            yield from _rows(name, [str(path) for path in paths], Path(scratch), client)
    yield two_cores()


def _rows(name: str, paths: Sequence[str], folder: Path, client: Client) -> Iterator[Row]:
    mega = sum(len(block) for path in paths for block in read_blocks(path)) / 1e6
    works = [*_stages(paths, folder), *_jobs(paths, folder, client)]
    *stages, encoding, threads, workers = np.array(seconds_in_turn(works, ROUNDS))
    alone = np.diff(stages[:READING], axis=0, prepend=0.0).clip(0)
    alone = np.concatenate([alone, stages[READING:]])
    whole = alone.sum(axis=0)
    allowed = (whole - alone[READING]) / 2 + encoding
    for what, job in (("threads", threads), ("workers", workers)):
        share = 100 * float(np.median(allowed / job))
        note = f"{mega / np.median(job):.0f} MB/s of text"
        yield Row(
            f"{name}, FASTQ.gz to store, two {what}, of the stages", share, "%", ">= 70", note
        )
    for stage, seconds in zip(STAGES, alone, strict=True):
        # of reading, what a stage adds to those before it, which go on meanwhile
        speed = mega / max(1e-9, float(np.median(seconds)))
        note = "too short to tell" if speed > MOST_SPEED else f"{speed:,.0f} MB/s of text"
        share = 100 * float(np.median(seconds / whole))
        yield Row(f"{name}, {stage}", share, "% of the stages", note=note)


def _stages(paths: Sequence[str], folder: Path) -> Iterator[Callable[[], None]]:
    """Yield four stages of reading, encoding, storing, and encoding on two threads."""
    steps = list(_steps(paths))
    frames = [codec.encode_chunk(samples) for codec, samples in steps]
    place = open_prefix(folder / "frames", writable=True)

    def encode(threads: int) -> None:
        set_thread_limit(threads)
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda step: step[0].encode_chunk(step[1]), steps))
        set_thread_limit(None)

    def store() -> None:
        for i, frame in enumerate(frames):
            place.put(str(i), bytes(frame))
        place.flush(map(str, range(len(frames))))

    yield lambda: _drain(block for path in paths for block in read_blocks(path))
    yield lambda: _drain(records for path in paths for records in FastqFile(path).records())
    yield lambda: _drain(ReadStream(tuple(paths)).pieces())
    yield lambda: _drain(_steps(paths))
    yield from (lambda: encode(1), store, lambda: encode(2))


def _steps(paths: Sequence[str]) -> Iterator[tuple[Reads, npt.NDArray[np.uint8]]]:
    """Yield the chunks of the arrays, with the codec of each."""
    stream = ReadStream(tuple(paths))
    lengths = {array.name: CHUNK // row_bytes(array) for array in stream.arrays}
    rows, pieces = read_sample(stream, lengths)
    odd = optional_names(stream.arrays)
    for name, _, samples in regroup(rows, pieces, lengths):
        if name not in odd:
            yield Reads(kind="offset" if name.endswith("_offset") else name), samples


def _jobs(paths: Sequence[str], folder: Path, client: Client) -> Iterator[Callable[[], None]]:
    """Yield the job on two threads of this process, and on two workers."""
    store = folder / "reads.zarr"

    def compress(client: Client | None) -> None:
        set_thread_limit(2)
        shutil.rmtree(store, ignore_errors=True)
        gangsaw.compress(paths, store, client=client)
        set_thread_limit(None)

    yield from (lambda: compress(None), lambda: compress(client))


def _drain(items: Iterator[object]) -> None:
    for _ in items:
        pass
