"""Memory that begins at a cache line, or lies in large pages: NumPy's begins at any 16 bytes."""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import overload

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray, ScalarT

LINE = 64  # bytes of a cache line
PAGE = 1 << 21  # bytes of a large page
FEWEST = 2 * PAGE  # bytes from which on there are large pages
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


def zeroed_pages(n_bytes: int) -> npt.NDArray[np.uint8]:
    """Return (n_bytes,) uint8 zeros, in large pages where the system has them and two are filled.

    They are for tables that are read all over: a processor knows the addresses of few pages, and
    looks up each other one before it reads. NumPy asks for large pages where it does not zero.
    """
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if advice is None or n_bytes < FEWEST:
        return np.zeros(n_bytes, np.uint8)
    # what is reserved before the first page and behind the last one is never touched: no memory
    reserved = paged_bytes(n_bytes) + PAGE
    pages = mmap.mmap(-1, reserved, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # of a system that was built without them
        pages.madvise(advice)
    raw = np.frombuffer(pages, np.uint8)
    start = -address_of(raw) % PAGE
    return raw[start : start + n_bytes]


def paged_bytes(n_bytes: int) -> int:
    """Return the memory that `zeroed_pages` takes at most: whole pages, where they are large."""
    return n_bytes if n_bytes < FEWEST else -(-n_bytes // PAGE) * PAGE


def address_of(array: NumpyArray) -> int:
    """Return where the first item of an array lies; keep the array alive yourself."""
    address: int = array.__array_interface__["data"][0]
    return address
