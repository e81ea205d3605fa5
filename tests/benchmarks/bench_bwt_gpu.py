"""The Burrows-Wheeler codec on a GPU: kernels by events, on a made log."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from gangsaw.codecs import Bwt
from gangsaw.tasks.bench.device import ChunkBench
from gangsaw.tasks.bench.table import Measurement, Row

TITLE = "The Burrows-Wheeler codec on a GPU"
TEXT_BYTES = 1 << 26  # of a chunk
EFFORTS = "dense", "fast"
DIRECTIONS = "compress", "decompress"
KINDS = tuple((effort, i) for effort in EFFORTS for i in range(len(DIRECTIONS)))  # of rows


def made_log(n_bytes: int) -> npt.NDArray[np.uint8]:
    """Return lines of a log, (n_bytes,)."""
    n = n_bytes // 24 + 1
    fields = np.random.default_rng(1).integers(0, (250, 900, 5), (n, 3))
    lines = (f"10.0.3.{host} GET /page/{page} {200 + code}\n" for host, page, code in fields)
    return np.frombuffer("".join(lines).encode(), np.uint8)[:n_bytes]


def tasks(rounds: int) -> list[Measurement]:
    """Return a task for each row."""

    @cache
    def bench(effort: str) -> ChunkBench:
        text = made_log(TEXT_BYTES)
        return ChunkBench(Bwt(effort=effort).coder(text.shape, text.dtype), [text], rounds)

    def measured(row: Row, effort: str, direction: int) -> Row:
        timing = bench(effort).batch[direction]
        return replace(row, value=timing.rate, note=timing.note("GB"))

    return [
        Measurement(row, partial(measured, row, effort, i))
        for effort, i in KINDS
        for row in [Row(f"{DIRECTIONS[i]}, {effort}", None, "GB/s")]
    ]
