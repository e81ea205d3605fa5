"""Kernels touch nothing outside of what they are given: arrays end, and begin, at a page without
access, so that one byte too far is a segmentation fault and not a lucky guess."""

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

from gangsaw.codecs.ccsds123 import Params, cpu
from gangsaw.codecs.ccsds123.samples import noise
from gangsaw.codecs.core.blocks import Blocks
from gangsaw.codecs.core.errors import CorruptChunk

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect as Linux has it")

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


@pytest.mark.parametrize("at_end", [True, False])
@pytest.mark.parametrize("axes", [(0, 1, 2), (1, 2, 0), (2, 1, 0)])
@pytest.mark.parametrize("shape", [(1, 1, 9), (5, 3, 1), (17, 2, 19), (33, 3, 16)])
@pytest.mark.parametrize(
    "choices",
    [{}, {"unary_limit": 32, "order": "bi"}, {"coder": "block"}],
    ids=["lanes", "interleaved", "block"],
)
def test_nothing_outside_is_touched(
    choices: dict[str, Any], shape: tuple[int, int, int], axes: tuple[int, int, int], at_end: bool
) -> None:
    params = Params(**choices)
    image = noise(shape, "u2")
    back = np.argsort(axes)
    source = fenced(np.ascontiguousarray(image.transpose(axes)), at_end).transpose(back)
    blocks = cpu.encode([source], params)
    coded = Blocks.cut(fenced(blocks.payload, at_end), blocks.lengths, blocks.lane_bits)
    blank = np.zeros([shape[axis] for axis in axes], "u2")
    target = fenced(blank, at_end).transpose(back)
    cpu.decode(coded, [target], params)
    np.testing.assert_array_equal(target, image)
    coded.payload[19:] ^= 0x5A
    with pytest.raises(CorruptChunk):
        cpu.decode(coded, [target], params)
