"""Device memory of the emulation: which bytes a kernel may touch, and which were ever written."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

ALIGNMENT = 256  # of what cudaMalloc returns


class Allocation(ctypes.Structure):
    """`Allocation` of host/launch.h."""

    _fields_ = (
        ("begin", ctypes.c_size_t),
        ("end", ctypes.c_size_t),
        ("written", ctypes.c_void_p),
    )


_lock = threading.RLock()  # a finalizer may run anywhere, while the lock is held too
_known: dict[int, tuple[int, int | None]] = {}  # by address: size, address of the marks


def _register(owner: object, address: int, size: int, marks: int | None) -> None:
    with _lock:
        _known[address] = (size, marks)
    weakref.finalize(owner, _known.pop, address, None)


def device_array(array: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return a copy of the array that kernels may reach through its address too."""
    host = np.asarray(array)
    memory = np.empty(max(host.nbytes, 1), np.uint8)  # the base of all its views
    _register(memory, memory.ctypes.data, host.nbytes, None)
    copy = memory[: host.nbytes].view(host.dtype).reshape(host.shape)
    copy[...] = host
    return copy


class Memory:
    """Device memory that knows which of its bytes were written.

    `bytes` and `written`, (size,) uint8: their values; whether they were written
    """

    def __init__(self, size: int, poison: int) -> None:
        storage = np.full(size + ALIGNMENT, poison, np.uint8)
        skipped = -storage.ctypes.data % ALIGNMENT
        self.bytes = storage[skipped : skipped + size]
        self.written = np.zeros(size, np.uint8)
        self.size = size
        self.ptr = self.bytes.ctypes.data
        _register(self, self.ptr, size, self.written.ctypes.data)

    def mark(self, array: npt.NDArray[Any]) -> None:
        """Mark the bytes of a view of this memory as written."""
        place = array.ctypes.data - self.ptr
        marks = np.ndarray(
            (*array.shape, array.itemsize),
            np.uint8,
            self.written,
            place if array.size else 0,
            (*array.strides, 1),
        )
        marks[...] = 1


def allocations(args: Sequence[Any]) -> ctypes.Array[Allocation]:
    """Return, by address, all registered memory and the arrays among the arguments."""
    with _lock:
        known = dict(_known)
    for array in args:
        if isinstance(array, np.ndarray) and not _inside(array, known):
            first, end = np.lib.array_utils.byte_bounds(array)
            known[first] = (end - first, None)
    rows = [(begin, begin + size, marks) for begin, (size, marks) in sorted(known.items())]
    return (Allocation * len(rows))(*rows)


def _inside(array: npt.NDArray[Any], known: dict[int, Any]) -> bool:
    address = array.ctypes.data
    return any(begin <= address < begin + size for begin, (size, _) in known.items())
