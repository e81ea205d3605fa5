"""Codec settings measured by `gangsaw bench`."""

from __future__ import annotations

from collections.abc import Sequence

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.visibility.axes import visibility_axes


def settings(array: NumpyArray, dims: Sequence[str]) -> dict[str, dict[str, object]]:
    """Return codec parameters by setting name; an empty dict if the dtype is not supported."""
    if array.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        return {}
    axes = visibility_axes(dims)
    return {
        f"visibility {effort}": {"axes": axes, "effort": effort} for effort in ("fast", "dense")
    }
