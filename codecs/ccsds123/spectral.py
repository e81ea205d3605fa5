"""Choice of the spectral axis without a name: the axis whose samples compress best."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.axes import axes_with, image_axes, named_axis
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.selection import ArrayFacts

GAIN = 0.98  # of the bytes with the default axes; a smaller gain may be noise


def spectral_axes(array: ArrayFacts) -> str:
    """Return "zyx" in the order of the last three axes: by names, by a sample, or by position."""
    if named_axis(array.dims) is not None or array.cube is None or len(array.shape) < 3:
        return image_axes(array.dims)
    cube = np.ascontiguousarray(array.cube())
    return _best(cube.tobytes(), cube.dtype.str, cube.shape[-3:])


@lru_cache(maxsize=4)  # called again for chunks, parameters and trials
def _best(data: bytes, dtype: str, shape: tuple[int, int, int]) -> str:
    cube = np.frombuffer(data, dtype).reshape(shape)
    try:
        sizes = [_encoded(cube, axes_with(place)) for place in range(3)]
    except BadParams:  # samples of 64 bits that do not fit in 32: the job names their chunk
        return axes_with(0)
    best = min(range(3), key=sizes.__getitem__)
    return axes_with(best if sizes[best] < GAIN * sizes[0] else 0)


def _encoded(cube: NumpyArray, axes: str) -> int:
    """Return the bytes of a sample with these axes (a permutation of "zyx"), as a single block."""
    from gangsaw.codecs.ccsds123.codec import Ccsds123

    return len(Ccsds123(axes=axes, block=(0, 0, 0)).encode_chunk(cube))
