"""The scene that `gangsaw bench` makes where none is named, and the form of those that are."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.bench.data import Synthetic, middle
from gangsaw.tasks.formats.axes import image_dims
from gangsaw.tasks.formats.memory import MemoryArray
from gangsaw.tasks.hyperspectral.synthetic import make_scene
from gangsaw.tasks.source import SourceArray

BIT_DEPTH = 14
DIMS = ("band", "y", "x")


def make(extents: tuple[int, ...]) -> MemoryArray:
    """Return a seeded scene of (bands, rows, columns)."""
    if len(extents) != 3:
        raise BadParams(f"a scene is bands,rows,columns, got {extents}")
    return MemoryArray(make_scene(*extents, bit_depth=BIT_DEPTH).cube, DIMS)


def part(array: SourceArray) -> MemoryArray | None:
    """Return the middle of an image of integers, all bands, as (bands, rows, columns)."""
    if array.dtype.kind not in "iu" or len(array.dims) not in (2, 3):
        return None
    band, y, x = image_dims(array)
    order = [array.dims.index(name) for name in (band, y, x) if name is not None]
    samples = middle(array, (y, x)).values.transpose(order)
    return MemoryArray(np.ascontiguousarray(samples[(None,) * (3 - samples.ndim)]), DIMS)


# on a GPU a scene of AVIRIS
SCENE = Synthetic({"cpu": (64, 256, 256), "gpu": (224, 512, 614)}, make, part)
