"""Memory that begins at a cache line: NumPy's own begins at any 16 bytes."""

from __future__ import annotations

from typing import overload

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray, ScalarT

LINE = 64  # bytes of a cache line
LONG = 1 << 22  # bytes: longer than the second-level cache of a core, and so of no use to it later


@overload
def aligned(size: int, dtype: type[ScalarT]) -> npt.NDArray[ScalarT]: ...


@overload
def aligned(size: int, dtype: npt.DTypeLike) -> NumpyArray: ...


def aligned(size: int, dtype: npt.DTypeLike) -> NumpyArray:
    """Return (size,) items with any content, aligned to a line: a vector never touches two."""
    item = np.dtype(dtype).itemsize
    raw = np.empty(size + LINE // item, dtype)
    start = -address_of(raw) % LINE // item
    return raw[start : start + size]


@overload
def aligned_zeros(size: int, dtype: type[ScalarT]) -> npt.NDArray[ScalarT]: ...


@overload
def aligned_zeros(size: int, dtype: npt.DTypeLike) -> NumpyArray: ...


def aligned_zeros(size: int, dtype: npt.DTypeLike) -> NumpyArray:
    """Return (size,) zeros, aligned as by `aligned`."""
    array = aligned(size, dtype)
    array[:] = 0
    return array


def address_of(array: NumpyArray) -> int:
    """Return where the first item of an array lies; keep the array alive yourself."""
    address: int = array.__array_interface__["data"][0]
    return address
