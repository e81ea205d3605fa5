"""Memory that begins at a cache line: NumPy's own begins at any 16 bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

LINE = 64  # bytes of a cache line
LONG = 1 << 22  # bytes: longer than the second-level cache of a core, and so of no use to it later


def aligned(size: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """(size,) items of no meaning that begin at a line, so that a vector never touches two."""
    item = np.dtype(dtype).itemsize
    raw = np.empty(size + LINE // item, dtype)
    start = -address_of(raw) % LINE // item
    return raw[start : start + size]


def aligned_zeros(size: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """(size,) zeros, as `aligned`."""
    array = aligned(size, dtype)
    array[:] = 0
    return array


def address_of(array: npt.NDArray[Any]) -> int:
    """Return where the first item of an array lies; keep the array alive yourself."""
    address: int = array.__array_interface__["data"][0]
    return address
