"""The codec compared with its peers: ratio and speed of one thread, on synthetic and real data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from bench_blocks import Cube, real_scenes

from gangsaw.tasks.bench.data import synthetic_sample
from gangsaw.tasks.bench.host import benchmark
from gangsaw.tasks.bench.table import Row, say


def rows() -> Iterator[Row]:
    """Yield bits/sample of each codec on each scene, with its speeds as the remark."""
    yield from _scene("synthetic 224x256x262", synthetic_sample((224, 256, 262)).values)
    for name, cube in real_scenes():
        yield from _scene(name, np.ascontiguousarray(cube))


def _scene(scene: str, cube: Cube) -> Iterator[Row]:
    say(scene)
    for result in benchmark(cube, ("band", "y", "x"), rounds=3):
        encode, decode = result.encode_rate / 1e6, result.decode_rate / 1e6
        speeds = f"encode {encode:.1f}, decode {decode:.1f} Msamples/s"
        note = f"ratio {result.ratio:.3f}; {speeds}"
        yield Row(f"{scene}, {result.name}", result.bits_per_sample, "bits/sample", note=note)
