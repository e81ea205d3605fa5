"""The visibility codec on a GPU: kernels by events, and the way from host arrays and back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial

import visibility_data

from gangsaw.tasks.bench.device import ChunkBench, Timing
from gangsaw.tasks.bench.table import Measurement, Row

TITLE = "Lossless visibilities on a GPU"
HOSTED = ">= 42.95"  # 40 GiB/s, asked by the founding paper
DIRECTIONS = {
    True: ("compress", "decompress"),
    False: ("host arrays to frames", "frames to arrays"),
}


@dataclass(frozen=True)
class Case:
    """Both directions of an effort: kernels, or also the copies; and GB/s that are asked."""

    effort: str
    kernels: bool
    target: str


CASES = (
    Case("fast", True, ">= 500"),
    Case("dense", True, ">= 150"),
    Case("fast", False, HOSTED),
    Case("dense", False, HOSTED),
)


def tasks(rounds: int) -> list[Measurement]:
    """Return a task for each row; what both directions and several rows need is made once."""

    @cache
    def bench(effort: str) -> ChunkBench:
        cube = visibility_data.synthetic()
        return ChunkBench(visibility_data.coder_of(cube, effort=effort), [cube], rounds)

    def measured(row: Row, case: Case, direction: int) -> Row:
        own = bench(case.effort)
        timing = (own.batch if case.kernels else own.hosted)[direction]
        return _measured(row, timing, own.chunks[0].itemsize)

    return [
        Measurement(row, partial(measured, row, case, i), quick=i > 0)
        for case in CASES
        for i, direction in enumerate(DIRECTIONS[case.kernels])
        for row in [Row(f"{direction}, {case.effort}", None, "GB/s", case.target)]
    ]


def _measured(row: Row, timing: Timing, itemsize: int) -> Row:
    """Return GB/s of raw data, and in the remark what the whole call reaches."""
    return replace(row, value=timing.rate * itemsize, note=timing.note("GB", itemsize))
