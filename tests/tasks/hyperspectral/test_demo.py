"""The demo's figures are those of the job: nothing is compiled while it is timed."""

from __future__ import annotations

import numpy as np
from helpers import compiled
from numcodecs import Zstd

from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.hyperspectral.commands.demo import zstd_ratio

SCRIPT = """
import numpy as np
from helpers.compiled import kernels

from gangsaw.tasks.hyperspectral.commands.demo import warm_up
from gangsaw.tasks.jobs.choice.choose import choose_layout
from gangsaw.tasks.formats.flat.memory_array import MemoryArray

for shape in ((24, 140, 300), (24, 40, 50)):  # several blocks, one
    image = MemoryArray(np.ones(shape, np.uint16), ("band", "y", "x"))
    warm_up(image)()
    warm = kernels()
    codec = choose_layout(image, "auto", None).codec
    codec.decode_chunk(np.frombuffer(codec.encode_chunk(image.values), np.uint8), image.values)
    print(len(warm) > 0, kernels() - warm)
"""


def test_warming_up_compiles_all_that_the_job_needs() -> None:
    assert compiled.run(SCRIPT) == "True set()\n" * 2


def test_the_ratio_of_zstandard_is_of_the_samples() -> None:
    cube = np.random.default_rng(1).integers(0, 99, (5, 30, 40)).astype("uint16")
    image = MemoryArray(cube, ("band", "y", "x"))
    assert zstd_ratio(image) == round(cube.nbytes / len(Zstd(level=3).encode(cube)), 3)
