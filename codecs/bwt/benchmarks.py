"""What `gangsaw bench` measures of this codec."""

from __future__ import annotations

from collections.abc import Sequence

from gangsaw.codecs.bwt.params import EFFORTS
from gangsaw.codecs.core.arrays import NumpyArray


def settings(array: NumpyArray, dims: Sequence[str]) -> dict[str, dict[str, object]]:
    """Return parameters by name for bytes on one axis; none for others, which it is not for."""
    if array.ndim != 1 or array.dtype.itemsize != 1:
        return {}
    return {f"bwt {effort}": {"effort": effort} for effort in EFFORTS}
