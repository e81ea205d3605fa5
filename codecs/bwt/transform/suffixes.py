"""The suffix array of a block, by divsufsort (Mori, 2008), the library in pydivsufsort."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.transform.rows import Bytes
from gangsaw.codecs.core.memory.aligned import address_of

SCRATCH = 1 << 19  # bytes that the library takes: counts of pairs of bytes


def suffix_array(block: Bytes) -> npt.NDArray[np.int32]:
    """Return (n,) int32, the positions of the suffixes of (n,) uint8 in order; the GIL is released.

    Raises
    ------
    MemoryError : the library has none
    """
    suffixes = np.empty(block.size, np.int32)
    with _one_thread():
        status = _divsufsort()(address_of(block), address_of(suffixes), block.size)
    if status:
        raise MemoryError("no memory to sort suffixes")
    return suffixes


@cache
def _library() -> ctypes.CDLL:
    from pydivsufsort.dll import libdivsufsort

    assert isinstance(libdivsufsort, ctypes.CDLL)
    return libdivsufsort


@cache
def _divsufsort() -> ctypes._NamedFuncPointer:
    """Return the function itself: through Cython it would hold the GIL."""
    function = _library()["divsufsort"]  # not the attribute, whose types others set
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32]
    function.restype = ctypes.c_int32
    return function


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep the library to this thread where it was built with OpenMP: blocks share the cores."""
    library = _library()
    if not hasattr(library, "omp_set_num_threads"):
        yield
        return
    threads = library.omp_get_max_threads()
    library.omp_set_num_threads(1)  # of this thread alone
    try:
        yield
    finally:
        library.omp_set_num_threads(threads)
