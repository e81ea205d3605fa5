"""Sequencing reads on a GPU: kernels by events on each kind, and bins of reads by the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from gangsaw.codecs import Reads
from gangsaw.tasks.bench.device import ChunkBench
from gangsaw.tasks.bench.table import Measurement, Row
from gangsaw.tasks.genomics.reads.order.bins.gpu_signatures import bins_of_lines

TITLE = "Reads on a GPU"
TEXT_BYTES = 1 << 25  # of a chunk
LINE, COVERAGE = 151, 30  # letters of a read, reads over each base of the genome
Text = npt.NDArray[np.uint8]


def sequence() -> Text:
    """Return reads of a random genome."""
    rng = np.random.default_rng(1)
    n = TEXT_BYTES // (LINE + 1)
    genome = rng.choice(np.frombuffer(b"ACGT", np.uint8), LINE + n * LINE // COVERAGE)
    begins = rng.integers(0, genome.size - LINE + 1, n)
    return _lines(genome[begins[:, None] + np.arange(LINE)])


def quality() -> Text:
    """Return qualities that wander from 38 down and up."""
    rng = np.random.default_rng(2)
    shape = TEXT_BYTES // (LINE + 1), LINE
    steps = rng.integers(-3, 4, shape) * (rng.random(shape) < 0.3)
    return _lines((33 + np.clip(38 + np.cumsum(steps, axis=1), 2, 40)).astype(np.uint8))


def name() -> Text:
    """Return names that count tiles and places."""
    rng = np.random.default_rng(3)
    n = TEXT_BYTES // 32
    places = zip(np.sort(rng.integers(1000, 30000, n)), rng.integers(1000, 37000, n), strict=True)
    return np.frombuffer(
        "".join(f"A1:45:HX:1:1101:{x}:{y}\n" for x, y in places).encode(), np.uint8
    )


def _lines(letters: Text) -> Text:
    ends = np.full((len(letters), 1), ord("\n"), np.uint8)
    return np.concatenate([letters, ends], axis=1).reshape(-1)


KINDS: dict[str, Callable[[], Text]] = {"sequence": sequence, "quality": quality, "name": name}
BINS = Row("bins of reads, host arrays to host arrays", None, "GB/s")


def tasks(rounds: int) -> list[Measurement]:
    """Return a task for each row."""

    @cache
    def bench(kind: str) -> ChunkBench:
        text = KINDS[kind]()
        return ChunkBench(Reads(kind=kind).coder(text.shape, text.dtype), [text], rounds)

    def measured(row: Row, kind: str) -> Row:
        timing = bench(kind).batch_decoded
        return replace(row, value=timing.rate, note=timing.note("GB"))

    rows = {kind: Row(f"decompress, {kind}", None, "GB/s") for kind in KINDS}
    decoded = [Measurement(row, partial(measured, row, kind)) for kind, row in rows.items()]
    return [*decoded, Measurement(BINS, partial(_bins, rounds))]


def _bins(rounds: int) -> Row:
    text = sequence()
    begins = np.arange(0, text.size, LINE + 1)
    seconds = []
    for _ in range(rounds + 1):  # the first one compiles
        began = time.monotonic()
        bins_of_lines(text, begins, begins + LINE)
        seconds.append(time.monotonic() - began)
    return replace(BINS, value=text.size / float(np.median(seconds[1:])) / 1e9, note="wall clock")
