"""Data of `gangsaw bench` for image codecs: a synthetic scene, or a part of a user's image."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.bench.data import Synthetic, middle
from gangsaw.tasks.formats.contract.axes import image_dims
from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.hyperspectral.synthetic import make_scene
from gangsaw.tasks.sources.source import SourceArray

BIT_DEPTH = 14
DIMS = ("band", "y", "x")


def make_benchmark_scene(extents: tuple[int, ...]) -> MemoryArray:
    """Return a seeded scene: (bands, rows, columns) uint16."""
    if len(extents) != 3:
        raise BadParams(f"a scene is bands,rows,columns, got {extents}")
    return MemoryArray(make_scene(*extents, bit_depth=BIT_DEPTH).cube, DIMS)


def cut_window(array: SourceArray) -> MemoryArray | None:
    """Return all bands of a window in the middle of an integer image; None for other arrays."""
    if array.dtype.kind not in "iu" or len(array.dims) not in (2, 3):
        return None
    band, y, x = image_dims(array)
    order = [array.dims.index(name) for name in (band, y, x) if name is not None]
    samples = middle(array, (y, x)).values.transpose(order)
    return MemoryArray(np.ascontiguousarray(samples[(None,) * (3 - samples.ndim)]), DIMS)


# on a GPU with the extents of an AVIRIS scene
SCENE = Synthetic({"cpu": (64, 256, 256), "gpu": (224, 512, 614)}, make_benchmark_scene, cut_window)
