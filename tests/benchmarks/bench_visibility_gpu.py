"""The visibility codec on a GPU: kernels by events, and the way from host arrays and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec

import visibility_data

from gangsaw.tasks.bench.device import ChunkBench, Timing
from gangsaw.tasks.bench.table import Row, say

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


def rows(rounds: int | None) -> Iterator[Row]:
    """Yield every row; rounds : None where there is no device, so that none is measured."""
    there = rounds is not None and find_spec("gangsaw.codecs.visibility.gpu") is not None
    cube = visibility_data.synthetic() if there else None
    for effort in dict.fromkeys(case.effort for case in CASES):
        bench = None
        if cube is not None and rounds is not None:
            bench = ChunkBench(visibility_data.coder_of(cube, effort=effort), [cube], rounds)
        for case in (case for case in CASES if case.effort == effort):
            yield from _rows(case, bench)


def _rows(case: Case, bench: ChunkBench | None) -> Iterator[Row]:
    for i, direction in enumerate(DIRECTIONS[case.kernels]):
        row = Row(f"{direction}, {case.effort}", None, "GB/s", case.target)
        say(row.what)
        if bench is not None:
            timing = (bench.batch if case.kernels else bench.hosted)[i]
            row = _measured(row, timing, bench.chunks[0].itemsize)
        yield row


def _measured(row: Row, timing: Timing, itemsize: int) -> Row:
    """Return GB/s of raw data, and in the remark what the whole call reaches."""
    raw = timing.samples * itemsize / 1e9
    note = "wall clock"
    if timing.kernels is not None:
        note = f"kernels by events, on {raw:.3g} GB; {raw / timing.whole:.4g} GB/s the whole call"
    return replace(row, value=raw / (timing.kernels or timing.whole), note=note)
