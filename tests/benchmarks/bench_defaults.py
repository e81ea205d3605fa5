"""How the default parameters were chosen: bits/sample on real scenes, one step at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from bench_blocks import Cube, depth, real_scenes
from helpers.backends import encoded

from gangsaw.codecs.ccsds123 import cpu
from gangsaw.codecs.ccsds123.params import LOCAL_SUMS, Params
from gangsaw.tasks.bench.table import Row

STEPS: list[list[dict[str, Any]]] = [
    [{"mode": m, "local_sum": s} for m, s in product(("reduced", "full"), LOCAL_SUMS)],
    [{"prediction_bands": p} for p in (1, 2, 3, 4, 5, 8, 15)],
    [{"weight_resolution": omega} for omega in (8, 10, 12, 13, 14)],
    [
        {"weight_min": low, "weight_max": high}
        for low, high in product((-2, -1, 0, 1), (3, 4, 5, 6))
    ],
    [{"weight_interval": t} for t in (16, 32, 64, 128, 256)],
    [{"rescale": g} for g in (4, 5, 6, 7, 8)],
    [{"accumulator_init": k} for k in (2, 3, 5, 7)],
    [{"unary_limit": u} for u in (12, 16, 18, 24, 32)],
    [{"block": (0, n, n)} for n in (32, 64, 128, 256)],
]


def bits_per_sample(cube: Cube, params: Params) -> float:
    """Bits/sample of the cube in blocks of `params`, without index."""
    _, by, bx = (extent or max(cube.shape) for extent in params.block)
    tiles = [
        cube[:, y : y + by, x : x + bx]
        for y in range(0, cube.shape[1], by)
        for x in range(0, cube.shape[2], bx)
    ]
    coded = encoded(cpu, tiles, replace(params, bit_depth=depth(cube)))
    return 8 * coded.joined_payload().size / cube.size


def rows() -> Iterator[Row]:
    """Yield mean bits/sample over the real scenes for each value; the others stay at default."""
    cubes = dict(real_scenes())
    for changes in (change for step in STEPS for change in step):
        params = replace(Params(), **changes)
        each = {name: bits_per_sample(cube, params) for name, cube in cubes.items()}
        mark = " (default)" if params == Params() else ""
        what = ", ".join(f"{name} {value}" for name, value in changes.items())
        note = ", ".join(f"{name.split('-')[0]} {bits:.3f}" for name, bits in each.items())
        if each:
            yield Row(what + mark, sum(each.values()) / len(each), "bits/sample", note=note)
