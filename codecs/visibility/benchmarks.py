"""What `gangsaw bench` measures of this codec."""

from __future__ import annotations

from collections.abc import Sequence

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.visibility.axes import visibility_axes


def settings(array: NumpyArray, dims: Sequence[str]) -> dict[str, dict[str, object]]:
    """Return parameters by name for floats and complex numbers; none for what it cannot code."""
    if array.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        return {}
    axes = visibility_axes(dims)
    return {
        f"visibility {effort}": {"axes": axes, "effort": effort} for effort in ("fast", "dense")
    }
