"""Which axis is spectral where no name says so: the one along which a sample is predicted best."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.axes import axes_with, image_axes, named_axis
from gangsaw.codecs.core.suits import ArrayFacts

GAIN = 0.98  # of the bytes by position: fewer than that, or noise would decide


def axes_of(array: ArrayFacts) -> str:
    """Return what the last three axes are: by their names, by a sample, else by their places."""
    if named_axis(array.dims) is not None or array.cube is None or len(array.shape) < 3:
        return image_axes(array.dims)
    cube = np.ascontiguousarray(array.cube())
    return _best(cube.tobytes(), cube.dtype.str, cube.shape[-3:])


@lru_cache(maxsize=4)  # asked for chunks, parameters and trials
def _best(data: bytes, dtype: str, shape: tuple[int, int, int]) -> str:
    cube = np.frombuffer(data, dtype).reshape(shape)
    sizes = [_encoded(cube, axes_with(place)) for place in range(3)]
    best = min(range(3), key=sizes.__getitem__)
    return axes_with(best if sizes[best] < GAIN * sizes[0] else 0)


def _encoded(cube: NumpyArray, axes: str) -> int:
    """Return the bytes of a sample with such axes; the bands of one block learn together."""
    from gangsaw.codecs.ccsds123.codec import Ccsds123

    return len(Ccsds123(axes=axes, block=(0, 0, 0)).encode_chunk(cube))
