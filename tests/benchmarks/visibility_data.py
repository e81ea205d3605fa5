"""What the visibility codec is measured on, and the codec itself as one of the measured."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.visibility.codec import Visibility
from gangsaw.tasks.bench.host import bound
from gangsaw.tasks.bench.peers import Peer
from gangsaw.tasks.radio.synthetic import make_visibilities

Cube = npt.NDArray[Any]  # (time, frequency, rest) complex
EFFORTS = ("dense", "fast")
SYNTHETIC = "synthetic 8 s"
FINE = "synthetic 8 s, full mantissas"


def real_set() -> dict[str, Path]:
    """Return every array of the shared data by its name; none where it is absent."""
    shared = Path(os.environ.get("GANGSAW_SHARED", Path(__file__).parents[3] / "shared"))
    return {path.stem: path for path in sorted(shared.glob("data/visibilities/*.npy"))}


def real_cubes() -> Iterator[tuple[str, Cube]]:
    """Yield the arrays of the real set, one at a time."""
    return ((name, np.load(path)) for name, path in real_set().items())


@cache
def synthetic(sample_bits: int = 8) -> Cube:
    """Return 16 steps of 64 channels, 66 MB."""
    return make_visibilities(16, 64, sample_bits=sample_bits).data


def coder_of(cube: Cube, **parameters: Any) -> ChunkCoder:
    """Return the coder of a cube as one chunk."""
    return Visibility(**parameters).coder(cube.shape, cube.dtype)


def ours(name: str, cube: Cube, **parameters: Any) -> Peer:
    """Return the codec, bound to cubes like this one, as one of the measured."""
    return bound(name, coder_of(cube, **parameters), cube)


def efforts(cube: Cube) -> list[Peer]:
    """Return both efforts as two of the measured."""
    return [ours(effort, cube, effort=effort) for effort in EFFORTS]
