"""The stand-in for CuPy: it does and refuses what CuPy does and refuses, on a device too."""

from __future__ import annotations

import gc
from types import ModuleType

import numpy as np
import pytest
import zarr
from helpers.clean_pool import clean_pool

from gangsaw.codecs.core.cuda import compiling
from gangsaw.codecs.core.cuda.compiling import CompileError
from gangsaw.codecs.core.cuda.kernel_files import kernel_file

SCALE = r"""
extern "C" __global__ void scale(const int* x, int* y, int factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}
"""


def test_host_and_device_memory_do_not_mix(cupy: ModuleType) -> None:
    there = cupy.asarray(np.arange(6).reshape(2, 3))
    with pytest.raises(TypeError, match="Implicit conversion"):
        np.asarray(there)
    with pytest.raises(TypeError, match="Unsupported type"):
        there + np.ones(3)
    with pytest.raises(ValueError, match=r"non-scalar numpy\.ndarray"):
        there[0] = np.ones(3)
    np.testing.assert_array_equal((there[1:] * 2).get(), [[6, 8, 10]])


def test_views_share_memory_and_keep_it(cupy: ModuleType) -> None:
    whole = cupy.zeros((4, 4), np.int16)
    part = whole[1:3, ::2]
    part[...] = 5
    address = whole.data.ptr
    assert part.data.ptr == address + 8
    assert part.__cuda_array_interface__["data"] == (address + 8, False)
    assert int(whole.sum()) == 20
    del whole
    gc.collect()
    assert int(part.sum()) == 20


def test_foreign_byte_order(cupy: ModuleType) -> None:
    foreign = np.arange(6, dtype=">u2").reshape(2, 3)
    assert cupy.asarray(foreign).dtype == np.dtype("<u2")
    typed = cupy.asarray(foreign.view("<u2")).view(">u2")
    np.testing.assert_array_equal(typed.get(), foreign)


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
def test_foreign_byte_order_is_moved_and_not_computed_with(cupy: ModuleType) -> None:
    """CuPy would do it, and take foreign bytes for native ones."""
    typed = cupy.zeros(6, "<u2").view(">u2")
    for wrong in (
        lambda: typed.__setitem__(..., cupy.arange(6, dtype="<u2")),
        lambda: typed + typed,
        lambda: typed.sum(),
        lambda: cupy.arange(6, dtype="<u2").astype(">u2"),
    ):
        with pytest.raises(NotImplementedError, match="kernels of ours alone"):
            wrong()


@pytest.mark.gpu
def test_why_foreign_byte_order_is_refused() -> None:
    """CuPy copies by element as if both were native: the bytes are, the numbers are others."""
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    typed = cupy.zeros(6, "<u2").view(">u2")
    typed[...] = cupy.arange(6, dtype="<u2")
    assert typed.view("<u2").get().tolist() == [*range(6)]
    assert typed.get().tolist() == [256 * i for i in range(6)]


def test_a_kernel_on_a_stream(cupy: ModuleType) -> None:
    path = kernel_file(SCALE, ("-std=c++17",), f"sm_{cupy.cuda.Device().compute_capability}")
    kernel = cupy.RawModule(path=str(path)).get_function("scale")
    x = np.arange(1000, dtype=np.int32)
    y = cupy.empty(1000, np.int32)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        kernel((8,), (128,), (cupy.asarray(x), y, np.int32(3), np.int32(1000)))
        done = stream.record()
    done.synchronize()
    np.testing.assert_array_equal(y.get(), 3 * x)
    with pytest.raises(TypeError, match=r"numpy\.ndarray of shape \(1000,\)|Unsupported type"):
        kernel((8,), (128,), (x, y, np.int32(3), np.int32(1000)))


@pytest.mark.usefixtures("cupy")
def test_a_source_that_does_not_compile() -> None:
    with pytest.raises(CompileError):
        compiling.compile_kernel('extern "C" __global__ void f() { no }', (), "sm_90")


def test_pinned_memory(cupy: ModuleType) -> None:
    memory = cupy.cuda.alloc_pinned_memory(24)
    host = np.frombuffer(memory, np.float64, 3)
    cupy.asarray(np.arange(3.0)).get(out=host)
    assert host.tolist() == [0, 1, 2]


@pytest.mark.full
def test_a_limited_pool_runs_out_and_recovers(cupy: ModuleType) -> None:
    pool = clean_pool(cupy)
    before = pool.get_limit()
    pool.set_limit(size=pool.total_bytes() + (1 << 20))
    try:
        with pytest.raises(cupy.cuda.memory.OutOfMemoryError):
            cupy.empty(1 << 21, np.uint8)
        assert int(cupy.zeros(1 << 19, np.uint8).sum()) == 0
    finally:
        pool.set_limit(size=before)


def test_zarr_keeps_arrays_on_the_device(cupy: ModuleType) -> None:
    cube = np.arange(600, dtype=np.int32).reshape(20, 30)
    with zarr.config.enable_gpu():
        stored = zarr.create_array({}, shape=cube.shape, chunks=(7, 9), dtype=cube.dtype)
        stored[:] = cupy.asarray(cube)
        window = stored[3:, 4:]
    assert type(window) is cupy.ndarray
    np.testing.assert_array_equal(window.get(), cube[3:, 4:])


@pytest.mark.parametrize("ordered", [False, True])
def test_a_missing_wait_between_streams_shows(ordered: bool) -> None:
    from emulator.cupy_standin import module

    cupy = module()
    first, second = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    there, out = cupy.zeros(3, np.int32), np.empty(3, np.int32)
    there.set(np.full(3, 7, np.int32), first)
    if ordered:
        second.wait_event(first.record())
    there.get(second, out=out)
    assert (out == 7).all() == ordered


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
def test_floats_are_moved_and_not_computed_with(cupy: ModuleType) -> None:
    """CuPy would do it, and take denormals for 0."""
    tiny = cupy.asarray(np.full(3, 1e-40, "f4"))
    for wrong in (
        lambda: tiny + tiny,
        lambda: tiny == 0,
        lambda: tiny.sum(),
        lambda: tiny.astype("f8"),
    ):
        with pytest.raises(NotImplementedError, match="in kernels of ours"):
            wrong()
    assert cupy.concatenate([tiny, tiny.copy()])[::2].get().tobytes() == tiny.get().tobytes()
