"""Arrays between pages without access: a byte too far is a segmentation fault, no lucky guess."""

from __future__ import annotations

import ctypes
import math
import mmap
import sys
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

needs_fences = pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect as Linux has it")

PAGE, NO_ACCESS = mmap.PAGESIZE, 0
Array = npt.NDArray[Any]


def fenced(values: Array, at_end: bool) -> Array:
    """Copy a C-contiguous array to between two pages without access, flush with one of them."""
    pages = math.ceil(values.nbytes / PAGE)
    memory = mmap.mmap(-1, (pages + 2) * PAGE)
    anchor = ctypes.c_char.from_buffer(memory)
    address = ctypes.addressof(anchor)
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for fence in (address, address + (pages + 1) * PAGE):
        assert protect(fence, PAGE, NO_ACCESS) == 0, ctypes.get_errno()
    offset = (pages + 1) * PAGE - values.nbytes if at_end else PAGE
    out = np.frombuffer(memory, values.dtype, values.size, offset).reshape(values.shape)
    out[...] = values
    weakref.finalize(out, lambda kept: None, anchor)
    return out
