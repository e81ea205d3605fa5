"""What blocks and their index cost in bytes, against one stream per scene."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.codec import Ccsds123
from gangsaw.tasks.bench.table import Row
from gangsaw.tasks.hyperspectral.synthetic import make_scene

Cube = npt.NDArray[Any]


def scenes() -> Iterator[tuple[str, Cube]]:
    """Yield a synthetic scene of AVIRIS size and the real scenes, where they are at hand."""
    yield "synthetic 224x512x614", make_scene(224, 512, 614).cube
    yield from real_scenes()


def real_scenes() -> Iterator[tuple[str, Cube]]:
    """Yield the (z, y, x) scenes with ENVI headers of the shared data; none where it is absent."""
    import spectral

    shared = Path(os.environ.get("GANGSAW_SHARED", Path(__file__).parents[3] / "shared"))
    for header in sorted(shared.glob("data/hyperspectral/issue1/*.hdr")):
        opened = spectral.envi.open(str(header), str(header.with_suffix(".raw")))
        yield header.stem, np.moveaxis(opened.open_memmap(), -1, 0)


def depth(cube: Cube) -> int:
    """Bits that the cube's largest sample needs."""
    return max(2, int(cube.max()).bit_length())


def rows() -> Iterator[Row]:
    """Yield, per scene, the cost of default blocks and of header and index in percent."""
    for name, cube in scenes():
        default = Ccsds123(bit_depth=depth(cube)).coder(cube.shape, cube.dtype)
        whole = Ccsds123(bit_depth=depth(cube), block=(0, 0, 0)).coder(cube.shape, cube.dtype)
        blocked, stream = len(default.encode(cube)), len(whole.encode(cube))
        one_stream = stream - whole.layout.index_size
        bits = f"{8 * blocked / cube.size:.3f} bits/sample in {default.grid.n_blocks} blocks"
        yield Row(f"default blocks, {name}", 100 * (blocked / one_stream - 1), "%", "<= 1", bits)
        index = 100 * default.layout.index_size / blocked
        yield Row(f"header and index, {name}", index, "%", "<= 0.5")
