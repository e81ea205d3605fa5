"""The scene that `gangsaw bench` makes where none is named."""

from __future__ import annotations

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.bench.data import Synthetic
from gangsaw.tasks.formats.memory import MemoryArray
from gangsaw.tasks.hyperspectral.synthetic import make_scene

BIT_DEPTH = 14


def make(extents: tuple[int, ...]) -> MemoryArray:
    """Return a seeded scene of (bands, rows, columns)."""
    if len(extents) != 3:
        raise BadParams(f"a scene is bands,rows,columns, got {extents}")
    return MemoryArray(make_scene(*extents, bit_depth=BIT_DEPTH).cube, ("band", "y", "x"))


SCENE = Synthetic({"cpu": (64, 256, 256), "gpu": (224, 512, 614)}, make)
