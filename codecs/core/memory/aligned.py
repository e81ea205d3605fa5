"""Memory aligned to cache lines or large pages: NumPy aligns to 16 bytes only."""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import overload

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray, ScalarT

LINE = 64  # bytes of a cache line
PAGE = 1 << 21  # bytes of a large page
FEWEST = 2 * PAGE  # smallest size in bytes for large pages
LONG = 1 << 22  # bytes: exceeds a core's second-level cache, so that the data do not stay in it


@overload
def empty_aligned(size: int, dtype: type[ScalarT]) -> npt.NDArray[ScalarT]: ...


@overload
def empty_aligned(size: int, dtype: npt.DTypeLike) -> NumpyArray: ...


def empty_aligned(size: int, dtype: npt.DTypeLike) -> NumpyArray:
    """Return (size,) uninitialised items, aligned to a cache line: no vector crosses two lines."""
    item = np.dtype(dtype).itemsize
    raw = np.empty(size + LINE // item, dtype)
    start = -address_of(raw) % LINE // item
    return raw[start : start + size]


@overload
def aligned_zeros(size: int, dtype: type[ScalarT]) -> npt.NDArray[ScalarT]: ...


@overload
def aligned_zeros(size: int, dtype: npt.DTypeLike) -> NumpyArray: ...


def aligned_zeros(size: int, dtype: npt.DTypeLike) -> NumpyArray:
    """Return (size,) zeros, aligned as by `empty_aligned`."""
    array = empty_aligned(size, dtype)
    array[:] = 0
    return array


def zeroed_pages(n_bytes: int) -> npt.NDArray[np.uint8]:
    """Return (n_bytes,) uint8 zeros, in large pages if the system has them and they fill two.

    They are for tables with random access: a processor caches the addresses of few pages, and must
    look up all others. NumPy requests large pages only for memory that it does not zero.
    """
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if advice is None or n_bytes < FEWEST:
        return np.zeros(n_bytes, np.uint8)
    # reserved bytes before the first page and after the last one are never touched: no memory
    reserved = paged_bytes(n_bytes) + PAGE
    pages = mmap.mmap(-1, reserved, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # raised by a system that was built without them
        pages.madvise(advice)
    raw = np.frombuffer(pages, np.uint8)
    start = -address_of(raw) % PAGE
    return raw[start : start + n_bytes]


def paged_bytes(n_bytes: int) -> int:
    """Return a bound on the memory of `zeroed_pages`: whole pages if they are large."""
    return n_bytes if n_bytes < FEWEST else -(-n_bytes // PAGE) * PAGE


def address_of(array: NumpyArray) -> int:
    """Return the memory address of an array's first item; the caller keeps the array alive."""
    address: int = array.__array_interface__["data"][0]
    return address
