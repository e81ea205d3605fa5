"""Codec settings measured by `gangsaw bench`."""

from __future__ import annotations

from collections.abc import Sequence

from gangsaw.codecs.bwt.params import EFFORTS
from gangsaw.codecs.core.arrays import NumpyArray


def settings(array: NumpyArray, dims: Sequence[str]) -> dict[str, dict[str, object]]:
    """Return codec parameters to benchmark, by name, for bytes on one axis; {} for other arrays."""
    if array.ndim != 1 or array.dtype.itemsize != 1:
        return {}
    return {f"bwt {effort}": {"effort": effort} for effort in EFFORTS}
