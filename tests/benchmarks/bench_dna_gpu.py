"""The codec of nucleotides on a GPU: kernels by events, on random bases, A and T more often."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import numpy as np

from gangsaw.codecs import Dna
from gangsaw.tasks.bench.device import ChunkBench, Timing
from gangsaw.tasks.bench.table import Measurement, Row

TITLE = "Nucleotides on a GPU"
LETTERS = 1 << 25  # of a chunk
SHARES = (0.35, 0.15, 0.15, 0.35)  # of A, C, G, T: less than two bits a base
CASES = {"pack": ">= 1000", "gencodex": "", "dense": ">= 1"}  # modes, and Gbases/s that are asked
DIRECTIONS = ("compress", "decompress")


def tasks(rounds: int) -> list[Measurement]:
    """Return a task for each row; both directions of a mode are measured at once."""

    @cache
    def bench(mode: str) -> ChunkBench:
        letters = np.frombuffer(b"ACGT", np.uint8)
        text = np.random.default_rng(0).choice(letters, LETTERS, p=SHARES)
        return ChunkBench(Dna(mode=mode).coder(text.shape, text.dtype), [text], rounds)

    def measured(row: Row, mode: str, direction: int) -> Row:
        return _measured(row, bench(mode).batch[direction])

    return [
        Measurement(row, partial(measured, row, mode, i), quick=i > 0)
        for mode, target in CASES.items()
        for i, direction in enumerate(DIRECTIONS)
        for row in [Row(f"{direction}, {mode}", None, "Gbases/s", target)]
    ]


def _measured(row: Row, timing: Timing) -> Row:
    return replace(row, value=timing.rate, note=timing.note("Gbases"))
