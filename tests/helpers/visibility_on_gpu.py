"""Both backends of visibilities on the same blocks and bytes: what they give has to be the same."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility import cpu, gpu
from gangsaw.codecs.visibility.integers import cpu as integers
from gangsaw.codecs.visibility.integers.sample import Signs
from gangsaw.codecs.visibility.params import Params
from helpers.backends import encoded
from helpers.clean_pool import clean_pool

Block = npt.NDArray[Any]
ANY = Params()  # a reader needs to know no more


def leave_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let both encoders of `dense` take real floats for no integers."""
    monkeypatch.setattr(integers, "find_signs", lambda _: Signs(None, False, False))
    monkeypatch.setattr(gpu, "may_hold_integers", lambda _: False)


def check(cupy: ModuleType, blocks: Sequence[Block], params: Params) -> Runs:
    """Encode on both sides to the same bytes, decode on both sides what both have encoded."""
    expected = encoded(cpu, blocks, params)
    coded = encoded(gpu, [cupy.asarray(block) for block in blocks], params)
    for part, right in zip(coded.payloads, expected.payloads, strict=True):
        np.testing.assert_array_equal(part, right)
    there = [cupy.zeros(block.shape, block.dtype) for block in blocks]
    here = [np.zeros_like(block) for block in blocks]
    gpu.BACKEND.decode(expected, there, params)
    cpu.BACKEND.decode(coded, here, params)
    for block, one, other in zip(blocks, there, here, strict=True):
        assert one.get().tobytes() == block.tobytes() == other.tobytes()
    return coded


class Foreign:
    """A CuPy array taken for one of another dtype, which CuPy would refuse."""

    def __init__(self, array: Any, dtype: np.dtype[Any]) -> None:
        self.array, self.dtype = array, dtype

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)


def check_views(cupy: ModuleType, host: Block, params: Params, coded_as: int) -> None:
    """Strided, reversed and transposed views of any byte order; nothing beside them is written.

    host : (14, 9, 13, 6) of the byte order to test; it has to be coded as that kind of block
    """
    kind, plain = host.dtype, host.dtype.newbyteorder("=")
    cut = (slice(None, None, -1), slice(1, 8, 2), slice(0, 12), slice(0, 6, 2))
    view = host.transpose(1, 0, 2, 3)[cut]
    chunk = cupy.asarray(host.view(plain))
    expected = encoded(cpu, [view], params)
    coded = encoded(gpu, [Foreign(chunk.transpose(1, 0, 2, 3)[cut], kind)], params)
    assert coded.payloads[0][0] == coded_as
    np.testing.assert_array_equal(coded.payloads[0], expected.payloads[0])
    out = cupy.zeros(host.shape, plain)
    gpu.BACKEND.decode(expected, [Foreign(out.transpose(1, 0, 2, 3)[cut], kind)], params)
    right = np.zeros_like(host)
    right.transpose(1, 0, 2, 3)[cut] = view
    assert out.get().tobytes() == right.tobytes()


def check_memory(cupy: ModuleType, block: Block, params: Params) -> None:
    """Code a block with no more device memory than is promised, to the CPU's bytes and back."""
    pool = clean_pool(cupy)
    source, target = cupy.asarray(block), cupy.zeros(block.shape, block.dtype)
    pool.set_limit(size=pool.total_bytes() + gpu.encoder_bytes(block, params))
    try:
        coded = encoded(gpu, [source], params)
        gpu.BACKEND.decode(coded, [target], params)
    finally:
        pool.set_limit(size=0)
    np.testing.assert_array_equal(coded.payloads[0], encoded(cpu, [block], params).payloads[0])
    assert target.get().tobytes() == block.tobytes()


def outcome(decode: Any, data: Any, target: Any) -> str:
    try:
        decode(Runs((data,)), [target], ANY)
    except CorruptChunk as error:
        return str(error)
    return "decoded"


def check_wrong(cupy: ModuleType, data: Any, block: Block) -> str:
    """Decode on both sides, with the same outcome, be it wrong words."""
    here, there = np.zeros_like(block), cupy.zeros(block.shape, block.dtype)
    what = outcome(cpu.BACKEND.decode, data, here)
    assert outcome(gpu.BACKEND.decode, data, there) == what
    if what == "decoded":
        assert there.get().tobytes() == here.tobytes()
    return what
