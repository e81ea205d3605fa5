"""Device memory of the emulation: which bytes a kernel may touch, and which were ever written."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]


class Allocation(ctypes.Structure):
    """`Allocation` of host/launch.h."""

    _fields_ = (
        ("begin", ctypes.c_size_t),
        ("end", ctypes.c_size_t),
        ("written", ctypes.c_void_p),
    )


_lock = threading.Lock()
_known: dict[int, tuple[int, Bytes | None]] = {}  # by address: size and marks of written bytes


def register(memory: Bytes, written: Bytes | None = None) -> None:
    """Let kernels touch `memory` as long as it lives.

    written : a byte for each of its bytes, 0 where nobody wrote yet; None: all is written
    """
    address = memory.ctypes.data
    with _lock:
        _known[address] = (memory.nbytes, written)
    weakref.finalize(memory, _known.pop, address, None)


def device_array(array: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return a copy of the array that kernels may reach through its address too."""
    host = np.asarray(array)
    memory = np.empty(max(host.nbytes, 1), np.uint8)
    register(memory)
    copy = memory[: host.nbytes].view(host.dtype).reshape(host.shape)
    copy[...] = host
    return copy


def allocations(args: Sequence[Any]) -> ctypes.Array[Allocation]:
    """Return, by address, all registered memory and the arrays among the arguments."""
    with _lock:
        known = dict(_known)
    for array in args:
        if isinstance(array, np.ndarray) and not _inside(array, known):
            first, end = np.lib.array_utils.byte_bounds(array)
            known[first] = (end - first, None)
    rows = [
        (begin, begin + size, None if written is None else written.ctypes.data)
        for begin, (size, written) in sorted(known.items())
    ]
    return (Allocation * len(rows))(*rows)


def _inside(array: npt.NDArray[Any], known: dict[int, Any]) -> bool:
    address = array.ctypes.data
    return any(begin <= address < begin + size for begin, (size, _) in known.items())
