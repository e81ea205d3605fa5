"""Both backends of visibilities on the same blocks and bytes: what they give has to be the same."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.blocks import Blocks
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility import cpu, gpu
from gangsaw.codecs.visibility.params import Params

Block = npt.NDArray[Any]
ANY = Params()  # a reader needs to know no more


def check(cupy: ModuleType, blocks: Sequence[Block], params: Params) -> Blocks:
    """Encode on both sides to the same bytes, decode on both sides what both have encoded."""
    expected = cpu.encode(blocks, params)
    coded = gpu.encode([cupy.asarray(block) for block in blocks], params)
    for part, right in zip(coded.parts, expected.parts, strict=True):
        np.testing.assert_array_equal(part, right)
    there = [cupy.zeros(block.shape, block.dtype) for block in blocks]
    here = [np.zeros_like(block) for block in blocks]
    gpu.decode(expected, there, params)
    cpu.decode(coded, here, params)
    for block, one, other in zip(blocks, there, here, strict=True):
        assert one.get().tobytes() == block.tobytes() == other.tobytes()
    return coded


class Foreign:
    """A CuPy array taken for one of another dtype, which CuPy would refuse."""

    def __init__(self, array: Any, dtype: np.dtype[Any]) -> None:
        self.array, self.dtype = array, dtype

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)


def outcome(decode: Any, data: Any, target: Any) -> str:
    try:
        decode(Blocks((data,)), [target], ANY)
    except CorruptChunk as error:
        return str(error)
    return "decoded"


def check_wrong(cupy: ModuleType, data: Any, block: Block) -> str:
    """Decode on both sides, with the same outcome, be it wrong words."""
    here, there = np.zeros_like(block), cupy.zeros(block.shape, block.dtype)
    what = outcome(cpu.decode, data, here)
    assert outcome(gpu.decode, data, there) == what
    if what == "decoded":
        assert there.get().tobytes() == here.tobytes()
    return what
