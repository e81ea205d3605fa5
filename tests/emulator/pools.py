"""Memory of the emulated device: its size, CuPy's pools, pinned host memory."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from emulator.arenas import Arena, Chunk
from emulator.host_module import current_schedule
from emulator.memory import Memory

ROUND = 512  # CuPy's pools give multiples of this; kernels may touch what was asked for, no more


class OutOfMemoryError(MemoryError):
    """`cupy.cuda.memory.OutOfMemoryError`."""

    def __init__(self, size: int, total: int, limit: int = 0) -> None:
        self._size, self._total, self._limit = size, total, limit
        bound = f", limit set to: {limit:,} bytes" if limit else ""
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
        default_pool.free_all_blocks()
        before, self.total, self.peak = self.total, total, self.used
        try:
            yield self
        finally:
            self.total = before


device_memory = DeviceMemory()


class Taken:
    """Memory in one piece that is the device's again when nobody holds it."""

    def __init__(self, size: int) -> None:
        device_memory.take(size)
        weakref.finalize(self, device_memory.give_back, size)


class MemoryPool:
    """`cupy.cuda.MemoryPool`: it keeps what is freed, and counts it against its limit.

    It lets go of what it keeps before it runs out, as CuPy 14.2 does; 14.0 does so only where the
    device has no more. But the bytes of an array lie beside no other's, so that a kernel that
    leaves them is found.
    """

    def __init__(self, allocator: Any = None) -> None:
        self._used = self._total = self._limit = 0
        self._arenas: dict[int, Arena] = {}
        self._lock = threading.Lock()

    def malloc(self, size: int) -> Any:
        from emulator.device_ndarray import MemoryPointer

        return MemoryPointer(self.memory(size), 0)

    def memory(self, size: int) -> Memory:
        if not size:
            return Memory(0, current_schedule().poison)
        chunk = self._chunk(-(-size // ROUND) * ROUND)
        memory = Memory(size, current_schedule().poison)
        self._used += chunk.size
        weakref.finalize(memory, self._free, chunk)
        return memory

    def _chunk(self, size: int) -> Chunk:
        from emulator import streams

        with self._lock:
            arena = self._arenas.setdefault(streams.current().ptr, Arena())
            chunk = arena.best_fit(size)
        return chunk or Chunk(self._taken(size), size, arena)

    def _taken(self, size: int) -> Taken:
        """Take memory from the device; where there is none, after letting go of what is kept."""
        for let_go in (self.free_all_blocks, self._let_go_of_garbage, None):
            try:
                return self._try(size)
            except OutOfMemoryError:
                if let_go is None:
                    raise
                let_go()
        raise AssertionError("the last try returns or raises")

    def _try(self, size: int) -> Taken:
        with self._lock:
            if self._limit and self._total + size > self._limit:
                raise OutOfMemoryError(size, self._total, self._limit)
            taken = Taken(size)
            self._total += size
        return taken

    def _let_go_of_garbage(self) -> None:
        gc.collect()
        self.free_all_blocks()

    def _free(self, chunk: Chunk) -> None:
        """Free a chunk; a finalizer may run anywhere, while the lock is held too."""
        self._used -= chunk.size
        if self._lock.acquire(blocking=False):
            try:
                chunk.arena.insert(chunk)
            finally:
                self._lock.release()
        else:
            chunk.arena.pending.append(chunk)

    def used_bytes(self) -> int:
        return self._used

    def free_bytes(self) -> int:
        return self._total - self._used

    def total_bytes(self) -> int:
        return self._total

    def n_free_blocks(self) -> int:
        with self._lock:
            return sum(len(arena.free) for arena in self._arenas.values())

    def free_all_blocks(self, stream: Any = None) -> None:
        """Let go of what is free and was never cut, or is joined again: of a stream, or of all."""
        with self._lock:
            for owner, arena in self._arenas.items():
                if stream is None or owner == stream.ptr:
                    self._total -= arena.let_go()

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        if size is not None and fraction is not None:
            raise ValueError("size and fraction cannot be specified at one time")
        self._limit = int(device_memory.total * (fraction or 0)) if size is None else size

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
