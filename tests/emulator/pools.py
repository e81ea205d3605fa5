"""Memory of the emulated device: its size, CuPy's pools, pinned host memory."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from emulator.host_module import current_schedule
from emulator.memory import Memory

ROUND = 512  # CuPy's pools give multiples of this; kernels may touch what was asked for, no more


class OutOfMemoryError(MemoryError):
    """`cupy.cuda.memory.OutOfMemoryError`."""

    def __init__(self, size: int, total: int, limit: int = 0) -> None:
        self._size, self._total, self._limit = size, total, limit
        bound = f" (limit set to: {limit:,} bytes)" if limit else ""
        super().__init__(
            f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes{bound})."
        )


class DeviceMemory:
    """How much memory the device has, and uses: set `total` to make it small."""

    def __init__(self) -> None:
        self.total = 4 << 30
        self.used = 0
        self.peak = 0

    def take(self, size: int) -> None:
        if self.used + size > self.total:
            raise OutOfMemoryError(size, self.used)
        self.used += size
        self.peak = max(self.peak, self.used)

    def give_back(self, size: int) -> None:
        self.used -= size

    @contextmanager
    def of(self, total: int) -> Iterator[DeviceMemory]:
        """Let the device have `total` bytes in the body, and count its peak again."""
        before, self.total, self.peak = self.total, total, self.used
        try:
            yield self
        finally:
            self.total = before


device_memory = DeviceMemory()


class MemoryPool:
    """`cupy.cuda.MemoryPool`, that keeps nothing."""

    def __init__(self, allocator: Any = None) -> None:
        self._used = 0
        self._limit = 0

    def malloc(self, size: int) -> Any:
        from emulator.device_ndarray import MemoryPointer

        return MemoryPointer(self.memory(size), 0)

    def memory(self, size: int) -> Memory:
        taken = -(-size // ROUND) * ROUND
        if self._limit and self._used + taken > self._limit:
            raise OutOfMemoryError(taken, self._used, self._limit)
        device_memory.take(taken)
        self._used += taken
        memory = Memory(size, current_schedule().poison)
        weakref.finalize(memory, self._free, taken)
        return memory

    def _free(self, taken: int) -> None:
        self._used -= taken
        device_memory.give_back(taken)

    def used_bytes(self) -> int:
        return self._used

    def free_bytes(self) -> int:
        return 0

    def total_bytes(self) -> int:
        return self._used

    def n_free_blocks(self) -> int:
        return 0

    def free_all_blocks(self, stream: Any = None) -> None:
        """Do nothing: nothing is cached."""

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        if (size is None) == (fraction is None):
            raise ValueError("size and fraction cannot be specified at one time")
        self._limit = int(device_memory.total * fraction) if size is None else size

    def get_limit(self) -> int:
        return self._limit


default_pool = MemoryPool()
Allocator = Callable[[int], Any]
_allocator: Allocator = default_pool.malloc


def set_allocator(allocator: Allocator | None = None) -> None:
    """`cupy.cuda.set_allocator`."""
    global _allocator
    _allocator = default_pool.malloc if allocator is None else allocator


def get_allocator() -> Allocator:
    """`cupy.cuda.get_allocator`."""
    return _allocator


@contextmanager
def using_allocator(allocator: Allocator | None = None) -> Iterator[None]:
    """`cupy.cuda.using_allocator`."""
    before = _allocator
    set_allocator(allocator)
    try:
        yield
    finally:
        set_allocator(before)


def allocate(size: int) -> Memory:
    """Return new device memory from the allocator that is set."""
    memory: Memory = _allocator(size).mem
    return memory


class PinnedMemoryPointer(bytearray):
    """`cupy.cuda.PinnedMemoryPointer`: a buffer, rounded up, so that its users state the count."""

    @property
    def ptr(self) -> int:
        return np.frombuffer(self, np.uint8).ctypes.data

    def size(self) -> int:
        return len(self)


def alloc_pinned_memory(size: int) -> PinnedMemoryPointer:
    """`cupy.cuda.alloc_pinned_memory`."""
    return PinnedMemoryPointer(max(1, -(-size // ROUND)) * ROUND)


class PinnedMemoryPool:
    """`cupy.cuda.PinnedMemoryPool`, that keeps nothing."""

    def __init__(self, allocator: Any = None) -> None:
        pass

    def malloc(self, size: int) -> PinnedMemoryPointer:
        return alloc_pinned_memory(size)

    def free_all_blocks(self) -> None:
        """Do nothing: nothing is cached."""

    def n_free_blocks(self) -> int:
        return 0


default_pinned_pool = PinnedMemoryPool()
