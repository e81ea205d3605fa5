"""The stand-in's pool of device memory keeps, cuts and joins chunks by CuPy's rules."""

from __future__ import annotations

import gc
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from emulator.host_module import KernelFault
from emulator.pools import MemoryPool, OutOfMemoryError, default_pool, device_memory

from gangsaw.codecs.core.cuda.kernel_files import kernel_file

KIB = 1024
MARK = r"""
extern "C" __global__ void mark(int* x, int n) {
  if (threadIdx.x < n) x[threadIdx.x] = 1;
}
"""


@pytest.fixture
def pool(cupy: ModuleType) -> Any:
    """A pool of its own: all that is in it comes from the test."""
    return cupy.cuda.MemoryPool()


def figures(pool: Any) -> tuple[int, int, int, int]:
    """Bytes in use, bytes that are free, all bytes, free chunks."""
    return pool.used_bytes(), pool.free_bytes(), pool.total_bytes(), pool.n_free_blocks()


def row(pool: Any, *sizes: int) -> list[Any]:
    """Return memory of these sizes, cut from one piece in this order."""
    whole = pool.malloc(sum(sizes))
    del whole
    return [pool.malloc(size) for size in sizes]


def collect() -> None:
    """Let pools of other tests give theirs back: first what holds chunks goes, then the chunks."""
    gc.collect()
    gc.collect()
    default_pool.free_all_blocks()


def test_sizes_are_rounded(pool: Any) -> None:
    kept = [pool.malloc(1), pool.malloc(513), pool.malloc(0)]
    assert figures(pool) == (1536, 0, 1536, 0)
    del kept


def test_what_is_freed_is_kept_and_given_again(pool: Any) -> None:
    first = pool.malloc(4 * KIB)
    del first
    assert figures(pool) == (0, 4 * KIB, 4 * KIB, 1)
    again = pool.malloc(4 * KIB)
    assert figures(pool) == (4 * KIB, 0, 4 * KIB, 0)
    del again
    pool.free_all_blocks()
    assert figures(pool) == (0, 0, 0, 0)


def test_the_smallest_that_fits_is_cut(pool: Any) -> None:
    large, small = pool.malloc(8 * KIB), pool.malloc(2 * KIB)
    del large, small
    kept = [pool.malloc(KIB)]
    assert figures(pool) == (KIB, 9 * KIB, 10 * KIB, 2)
    kept.append(pool.malloc(8 * KIB))
    assert figures(pool) == (9 * KIB, KIB, 10 * KIB, 1)


def test_what_was_cut_stays_until_all_of_it_is_free(pool: Any) -> None:
    first, second = row(pool, KIB, 3 * KIB)
    del second
    pool.free_all_blocks()
    assert figures(pool) == (KIB, 3 * KIB, 4 * KIB, 1)
    del first
    assert figures(pool) == (0, 4 * KIB, 4 * KIB, 1)
    pool.free_all_blocks()
    assert figures(pool) == (0, 0, 0, 0)


@pytest.mark.parametrize("order", [(0, 2, 1), (0, 1, 2), (2, 1, 0), (1, 0, 2)], ids=str)
def test_neighbours_join(pool: Any, order: tuple[int, ...]) -> None:
    parts: list[Any] = row(pool, KIB, 2 * KIB, 3 * KIB)
    last = pool.malloc(KIB)  # of another piece: it has no neighbours
    for i in order:
        parts[i] = None
    assert figures(pool) == (KIB, 6 * KIB, 7 * KIB, 1)
    again = pool.malloc(6 * KIB)
    assert pool.total_bytes() == 7 * KIB
    del again, last


def test_a_stream_has_chunks_of_its_own(cupy: ModuleType, pool: Any) -> None:
    with cupy.cuda.Stream(non_blocking=True) as stream:
        first = pool.malloc(KIB)
        del first
    second = pool.malloc(KIB)
    assert figures(pool) == (KIB, KIB, 2 * KIB, 1)
    del second
    pool.free_all_blocks(stream)
    assert figures(pool) == (0, KIB, KIB, 1)


def test_a_limit_counts_memory_in_pieces(cupy: ModuleType, pool: Any) -> None:
    first, second, third = row(pool, KIB, KIB, KIB)
    del first, third
    pool.set_limit(size=4 * KIB)
    with pytest.raises(cupy.cuda.memory.OutOfMemoryError, match="2,048 bytes"):
        pool.malloc(2 * KIB)
    kept = [pool.malloc(KIB) for _ in range(3)]
    assert figures(pool) == (4 * KIB, 0, 4 * KIB, 0)
    del kept, second


def test_a_limit_of_nothing_is_none(pool: Any) -> None:
    pool.set_limit(size=KIB)
    assert pool.get_limit() == KIB
    pool.set_limit()
    assert pool.get_limit() == 0
    with pytest.raises(ValueError, match="size and fraction"):
        pool.set_limit(size=KIB, fraction=0.5)


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
def test_what_is_kept_goes_before_memory_runs_out(pool: Any) -> None:
    """So does CuPy 14.2, while 14.0 does it only where the device has no more."""
    pool.set_limit(size=4 * KIB)
    first = pool.malloc(3 * KIB)
    del first
    whole = pool.malloc(4 * KIB)
    assert figures(pool) == (4 * KIB, 0, 4 * KIB, 0)
    del whole
    cycle: list[Any] = [pool.malloc(2 * KIB)]
    cycle.append(cycle)
    del cycle
    whole = pool.malloc(4 * KIB)
    assert pool.total_bytes() == 4 * KIB
    del whole


@pytest.mark.full
def test_the_device_runs_out_of_memory() -> None:
    collect()
    pool = MemoryPool()
    with device_memory.of(device_memory.used + 4 * KIB) as memory:
        before = memory.used
        first = pool.malloc(3 * KIB)
        del first
        kept = pool.malloc(4 * KIB)
        with pytest.raises(OutOfMemoryError):
            pool.malloc(1)
        assert (pool.total_bytes(), memory.used) == (4 * KIB, before + 4 * KIB)
        del kept


@pytest.mark.full
def test_a_pool_that_is_gone_gives_all_back() -> None:
    collect()
    before, pool = device_memory.used, MemoryPool()
    parts = row(pool, KIB, KIB, KIB)
    del parts[1], pool
    assert device_memory.used == before + 3 * KIB
    del parts
    gc.collect()
    assert device_memory.used == before


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
def test_a_kernel_does_not_reach_the_neighbour(cupy: ModuleType, pool: Any) -> None:
    """Neither do bytes that were written come again with a chunk."""
    kernel = cupy.RawModule(path=str(kernel_file(MARK, (), "sm_90"))).get_function("mark")
    with cupy.cuda.using_allocator(pool.malloc):
        whole = cupy.zeros(1024, np.uint8)
        del whole
        first, second = cupy.empty(128, np.int32), cupy.empty(128, np.int32)
    assert pool.total_bytes() == 1024
    kernel((1,), (128,), (first, np.int32(128)))
    assert not second.memory.written.any()
    with pytest.raises(KernelFault, match="offset 512 of an array of 512 bytes"):
        kernel((1,), (160,), (first, np.int32(129)))
