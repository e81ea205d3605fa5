"""Speed of the CCSDS-123 kernels on one core: arrays in memory to blocks and back.

CPU seconds of the one thread that works, so that other programs on the machine count little.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from helpers.backends import encoded

from gangsaw.codecs.ccsds123 import Params, cpu
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.tasks.bench.table import Row, cpu_seconds, say
from gangsaw.tasks.hyperspectral.synthetic import make_scene

Cube = npt.NDArray[Any]
SHAPE = (224, 512, 262)  # 30 Msamples


@dataclass(frozen=True)
class Case:
    """One row: a choice of the predictor, a depth, a block, and what is asked in Msamples/s."""

    name: str
    params: Params
    depth: int = 16
    tile: tuple[int, int] = (128, 128)
    encode: str = ""
    decode: str = ""


DEFAULT = Params()
REDUCED = replace(DEFAULT, mode="reduced", local_sum="wide_column")
FULL = replace(DEFAULT, mode="full", local_sum="wide_neighbor")
FIFTEEN = replace(FULL, prediction_bands=15)
WHOLE = SHAPE[1:]
R, F, P15 = (">= 250", ">= 150"), (">= 200", ">= 120"), (">= 100", ">= 70")  # encode, decode
CASES = (
    Case("P=3 reduced, wide column", REDUCED, 16, (128, 128), *R),
    Case("P=3 reduced, wide column", REDUCED, 14, (128, 128), *R),
    Case("P=3 reduced, wide column", REDUCED, 12, (128, 128), *R),
    Case("P=3 reduced, wide column", REDUCED, 16, WHOLE, *R),
    Case("P=3 full, wide neighbor", FULL, 16, (128, 128), *F),
    Case("P=3 full, wide neighbor", FULL, 14, (128, 128), *F),
    Case("P=3 full, wide neighbor", FULL, 12, (128, 128), *F),
    Case("P=3 full, wide neighbor", FULL, 16, WHOLE, *F),
    Case("P=15 full, wide neighbor", FIFTEEN, 16, (128, 128), *P15),
    Case("P=15 full, wide neighbor", FIFTEEN, 12, (128, 128), *P15),
    Case("P=15 full, wide neighbor", FIFTEEN, 16, WHOLE, *P15),
    Case("store default", DEFAULT, 16, DEFAULT.block[1:]),
    Case("store default", DEFAULT, 14, DEFAULT.block[1:]),
    Case("store default", DEFAULT, 12, DEFAULT.block[1:]),
    Case("store default, BIP order", replace(DEFAULT, order="bi"), 14, DEFAULT.block[1:]),
    Case("store default, block-adaptive", replace(DEFAULT, coder="block"), 14, DEFAULT.block[1:]),
)


def tiles(cube: Cube, tile: tuple[int, int]) -> list[Cube]:
    """Return the spatial blocks of a cube, as views."""
    rows, columns = tile
    return [
        cube[:, y : y + rows, x : x + columns]
        for y in range(0, cube.shape[1], rows)
        for x in range(0, cube.shape[2], columns)
    ]


def rows() -> Iterator[Row]:
    """Yield speeds in Msamples/s of one core."""
    set_thread_limit(1)
    cubes = {depth: make_scene(*SHAPE, bit_depth=depth).cube for depth in (12, 14, 16)}
    for case in CASES:
        yield from _measured(case, tiles(cubes[case.depth], case.tile))
    set_thread_limit(None)


def _measured(case: Case, sources: list[Cube]) -> Iterator[Row]:
    params = replace(case.params, bit_depth=case.depth)
    n_samples = sum(source.size for source in sources)
    coded = encoded(cpu, sources, params)
    bits = f"{8 * coded.joined_payload().size / n_samples:.2f} bits/sample"
    what = f"{case.name}, {case.depth} bits, blocks {case.tile[0]} x {case.tile[1]}"
    say(what)
    seconds = cpu_seconds(lambda: encoded(cpu, sources, params))
    yield Row(f"encode {what}", n_samples / seconds / 1e6, "Msamples/s", case.encode, bits)
    targets = [np.empty_like(source) for source in sources]
    seconds = cpu_seconds(lambda: cpu.BACKEND.decode(coded, targets, params))
    yield Row(f"decode {what}", n_samples / seconds / 1e6, "Msamples/s", case.decode)
