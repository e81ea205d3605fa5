"""Unused heap memory: its transfer from the allocator back to the system.

The C library allocates arrays of up to 32 MiB from its heaps once some of them were freed. It
returns only the memory at the end of a heap to the system. If small objects are between arrays,
each chunk of a long job leaves more free memory: 0.9 GB were free but not returned for 2 GB of
reads.
"""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache

# bytes that may stay free in heaps: the next chunk uses them without a page fault
MOST_FREE = 128 << 20


class _HeapFigures(ctypes.Structure):
    """Struct that `mallinfo2` of the GNU C library returns."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )
    fordblks: int


def return_memory(most_free: int = MOST_FREE) -> None:
    """Return free heap memory to the system if it exceeds `most_free` bytes.

    It does nothing with another C library, or one older than 2.33.
    """
    library = _library()
    if library is not None and free_heap_bytes(library) > most_free:
        library.malloc_trim(0)


def has_heaps() -> bool:
    """Return True if the C library can report the free memory of its heaps (`mallinfo2`)."""
    return _library() is not None


def free_heap_bytes(library: ctypes.CDLL) -> int:
    """Return the free bytes of all heaps."""
    figures: _HeapFigures = library.mallinfo2()
    return int(figures.fordblks)


@lru_cache(1)
def _library() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    if not (hasattr(library, "mallinfo2") and hasattr(library, "malloc_trim")):
        return None
    library.mallinfo2.restype = _HeapFigures
    library.malloc_trim.argtypes = (ctypes.c_size_t,)
    return library
