"""Blocks that are right but for one thing, which one check of a kernel alone refuses.

A kernel without the check accepts its example, or touches memory that is not its own.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pytest
from emulator.host_module import KernelFault, schedule

from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.cuda import launch as core_gpu
from gangsaw.codecs.core.cuda import sources as kernels
from gangsaw.codecs.core.errors import CorruptChunk


class Example(NamedTuple):
    """A block.

    Attributes
    ----------
    there, instead : text of a check, which stands in one place only, and what a mutant has there
    runs : the block's bytes
    size : items of it
    params : of the codec
    """

    there: str
    instead: str
    runs: Runs
    size: int
    params: Any

    def backend(self, name: str) -> Any:
        """Return "cpu" or "gpu" of the codec."""
        return import_module(f"{type(self.params).__module__.rpartition('.')[0]}.{name}")


def block_of(lanes: list[bytes]) -> Runs:
    """Return a block of these lanes."""
    bits = np.array([[8 * len(lane) for lane in lanes]], np.int64)
    return Runs((np.frombuffer(b"".join(lanes), np.uint8),), bits)


def outcome(backend: Any, library: Any, example: Example) -> bytes | None:
    """Return what is decoded; None where it is refused."""
    is_offset = getattr(example.params, "kind", "") == "offset"
    out = library.zeros(example.size, np.uint64 if is_offset else np.uint8)
    try:
        backend.BACKEND.decode(example.runs, [out], example.params)
    except CorruptChunk:
        return None
    return bytes(out.tobytes())


def check_both_refuse(example: Example, cupy: Any) -> None:
    """CPU and GPU refuse it."""
    assert outcome(example.backend("cpu"), np, example) is None
    with schedule(seed=3):
        assert outcome(example.backend("gpu"), cupy, example) is None


def check_mutant(example: Example, cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel without the check is noticed."""
    taken, texts = kernels.source, []

    def mutant(package: str, source: str) -> str:
        text = taken(package, source)
        texts.append(text.count(example.there))
        return text.replace(example.there, example.instead)

    monkeypatch.setattr(kernels, "source", mutant)
    monkeypatch.setattr(core_gpu, "_modules", {})
    try:
        with schedule(seed=3):
            found = outcome(example.backend("gpu"), cupy, example)
    except KernelFault:
        found = b""
    assert sum(texts) == 1
    assert found is not None
