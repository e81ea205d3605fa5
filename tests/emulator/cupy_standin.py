"""A stand-in for CuPy: host memory and emulated kernels behind the names that this project uses.

`installed()` puts it in place of `cupy`; tests have it by the fixture `cupy`.
What CuPy refuses it refuses too; what it does not know raises, instead of doing something else.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pytest

from emulator import pools, streams
from emulator.compiling import in_place_of_nvrtc, loaded
from emulator.device_ndarray import MemoryPointer, applied, ndarray, unwrapped, wrapped
from emulator.host_module import HostKernel

VERSION = "14.2.0"
STATIC_SHARED = 48 * 1024  # beyond it a kernel has to ask: max_dynamic_shared_size_bytes
NO_DEVICE = 100  # cudaErrorNoDevice


class CUDARuntimeError(RuntimeError):
    """`cupy.cuda.runtime.CUDARuntimeError`."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(f"cudaError {status}")


class CUDADriverError(CUDARuntimeError):
    """`cupy.cuda.driver.CUDADriverError`."""


class CompileException(Exception):
    """`cupy.cuda.compiler.CompileException`."""

    def __init__(
        self, msg: str, source: str, name: str, options: Sequence[str], backend: str = "nvrtc"
    ) -> None:
        self._msg, self.source, self.name, self.options = msg, source, name, options
        super().__init__(msg)

    def get_message(self) -> str:
        return self._msg


class RawKernel:
    """`cupy.RawKernel` of a `RawModule`."""

    def __init__(self, kernel: HostKernel) -> None:
        self._kernel = kernel
        self.name = kernel.name
        self.max_dynamic_shared_size_bytes = STATIC_SHARED

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        *,
        shared_mem: int = 0,
        stream: Any = None,
    ) -> None:
        for value in args:
            if isinstance(value, np.ndarray):
                refuse_passed(value)
        if shared_mem > self.max_dynamic_shared_size_bytes:
            raise CUDARuntimeError(1)  # cudaErrorInvalidValue
        launched = [value.host if isinstance(value, ndarray) else value for value in args]
        self._kernel.check(launched)
        keep = [*args]  # device memory lives until the stream has come here
        streams.chosen(stream).add(
            lambda: (self._kernel(grid, block, launched, shared_mem=shared_mem), keep)
        )


def refuse_passed(array: np.ndarray[Any, Any]) -> None:
    """Raise as CuPy does where a kernel gets a host array; one of one item it passes by value."""
    if array.size != 1:
        raise TypeError(
            f"You are trying to pass a numpy.ndarray of shape {array.shape} as a kernel parameter. "
            "Only numpy.ndarrays of size one can be passed by value. If you meant to pass a "
            "pointer to __global__ memory, you need to pass a cupy.ndarray instead."
        )
    raise NotImplementedError("host arrays of one item: pass NumPy scalars")


class RawModule:
    """`cupy.RawModule` of a file that `emulator.compiling` made; it compiles nothing itself."""

    def __init__(
        self,
        *,
        code: str | None = None,
        path: str | None = None,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Any = None,
        jitify: bool = False,
    ) -> None:
        if code is not None or path is None:
            raise NotImplementedError("CuPy would compile with -ftz=true: use core's `load_module`")
        self.file_path = path
        self._module = loaded(path)

    def compile(self, log_stream: Any = None) -> None:
        self._module.compile()

    def get_function(self, name: str) -> RawKernel:
        self.compile()
        return RawKernel(self._module.get_function(name))


class Devices:
    """How many devices there are: set `count` to 0 for a machine without."""

    count = 1


devices = Devices()


def get_device_count() -> int:
    """`cupy.cuda.runtime.getDeviceCount`."""
    if not devices.count:
        raise CUDARuntimeError(NO_DEVICE)
    return devices.count


def get_device_properties(device: int) -> dict[str, Any]:
    """`cupy.cuda.runtime.getDeviceProperties`: the few that are asked for."""
    return {
        "name": b"emulated device",
        "totalGlobalMem": pools.device_memory.total,
        "multiProcessorCount": 2,
        "major": 9,
        "minor": 0,
        "sharedMemPerBlock": STATIC_SHARED,
        "sharedMemPerBlockOptin": 227 * 1024,
        "warpSize": 32,
        "maxThreadsPerBlock": 1024,
        "clockRate": 0,
        "memoryClockRate": 0,
        "memoryBusWidth": 0,
        "l2CacheSize": 0,
    }


def memcpy_async(dst: int, src: int, size: int, kind: int, stream: int) -> None:
    """`cupy.cuda.runtime.memcpyAsync` is left out: addresses say nothing of what was written."""
    raise NotImplementedError("use ndarray.set and ndarray.get")


def asarray(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    copy: bool | None = None,
    blocking: bool = False,
) -> ndarray:
    """`cupy.asarray`."""
    if isinstance(a, ndarray):
        same = dtype is None or np.dtype(dtype) == a.dtype
        fits = order in (None, "K", "A") or a.flags[f"{order}_CONTIGUOUS"]
        return a if same and fits and not copy else wrapped(a.get().astype(dtype or a.dtype), order)
    if isinstance(a, (list, tuple)) and any(isinstance(one, ndarray) for one in a):
        a = [one.get() if isinstance(one, ndarray) else one for one in a]
    array: ndarray = wrapped(np.array(a, dtype=dtype, order=order or "K"))
    return array


def array(
    obj: Any,
    dtype: Any = None,
    copy: bool = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> ndarray:
    """`cupy.array`."""
    host = obj.get() if isinstance(obj, ndarray) else obj
    made: ndarray = wrapped(np.array(host, dtype=dtype, order=order, ndmin=ndmin))
    return made


def ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    """`cupy.ascontiguousarray`."""
    return asarray(a, dtype, "C")


def asnumpy(
    a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True
) -> Any:
    """`cupy.asnumpy`."""
    if isinstance(a, ndarray):
        return a.get(stream, order, out, blocking)
    return np.asarray(a, order=order)


def empty(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    """`cupy.empty`: poisoned, and kernels that read unwritten bytes fail."""
    return ndarray(shape, dtype, order=order)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> ndarray:
    """`cupy.full`."""
    made = empty(shape, np.asarray(unwrapped(fill_value)).dtype if dtype is None else dtype, order)
    made.fill(fill_value)
    return made


def zeros(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    """`cupy.zeros`."""
    return full(shape, 0, dtype, order)


def ones(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    """`cupy.ones`."""
    return full(shape, 1, dtype, order)


def empty_like(
    prototype: ndarray, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None
) -> ndarray:
    """`cupy.empty_like`."""
    fortran = prototype.flags.f_contiguous and not prototype.flags.c_contiguous
    layout = "F" if order == "F" or (order == "K" and fortran) else "C"
    return empty(shape or prototype.shape, dtype or prototype.dtype, layout)


def zeros_like(
    a: ndarray, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None
) -> ndarray:
    """`cupy.zeros_like`."""
    made = empty_like(a, dtype, order, subok, shape)
    made.fill(0)
    return made


def frombuffer(*args: Any, **kwargs: Any) -> ndarray:
    """`cupy.frombuffer`: a copy on the device."""
    made: ndarray = wrapped(np.frombuffer(*args, **kwargs))
    return made


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> ndarray:
    """`cupy.arange`."""
    bounds = (0, start) if stop is None else (start, stop)
    made: ndarray = wrapped(np.arange(*bounds, step, dtype=dtype))
    return made


def _of_numpy(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        return applied(getattr(np, name), args, kwargs)

    function.__name__ = name
    return function


LIKE_NUMPY = (
    "concatenate", "stack", "broadcast_to", "cumsum", "array_equal", "any", "all", "sum", "max",
    "min", "where", "repeat", "pad", "add", "subtract", "multiply", "bitwise_and", "bitwise_or",
    "bitwise_xor", "left_shift", "right_shift", "equal", "not_equal", "minimum", "maximum",
    "nonzero", "flatnonzero", "count_nonzero", "diff", "moveaxis", "transpose", "argsort",
    "searchsorted",
)  # fmt: skip


def copyto(dst: ndarray, src: Any, casting: str = "same_kind", where: Any = None) -> None:
    """`cupy.copyto`."""
    applied(np.copyto, (dst, src), {"casting": casting, "where": True if where is None else where})
    dst.memory.mark(dst.host)


def _module(name: str, **names: Any) -> types.ModuleType:
    module = types.ModuleType(name)
    vars(module).update(names)
    return module


def _cuda() -> types.ModuleType:
    runtime = _module(
        "cupy.cuda.runtime",
        CUDARuntimeError=CUDARuntimeError,
        getDeviceCount=get_device_count,
        getDeviceProperties=get_device_properties,
        memGetInfo=lambda: streams.Device().mem_info,
        runtimeGetVersion=lambda: 13000,
        driverGetVersion=lambda: 13000,
        getDevice=lambda: 0,
        setDevice=lambda device: None,
        deviceSynchronize=lambda: streams.Device().synchronize(),
    )
    return _module(
        "cupy.cuda",
        runtime=runtime,
        driver=_module(
            "cupy.cuda.driver", CUDADriverError=type("CUDADriverError", (RuntimeError,), {})
        ),
        memory=_module("cupy.cuda.memory", OutOfMemoryError=pools.OutOfMemoryError),
        compiler=_module("cupy.cuda.compiler", CompileException=CompileException),
        Stream=streams.Stream,
        Event=streams.Event,
        Device=streams.Device,
        get_current_stream=streams.current,
        get_elapsed_time=streams.get_elapsed_time,
        get_device_id=lambda: 0,
        is_available=lambda: devices.count > 0,
        MemoryPointer=MemoryPointer,
        MemoryPool=pools.MemoryPool,
        PinnedMemoryPool=pools.PinnedMemoryPool,
        PinnedMemoryPointer=pools.PinnedMemoryPointer,
        alloc_pinned_memory=pools.alloc_pinned_memory,
        set_allocator=pools.set_allocator,
        get_allocator=pools.get_allocator,
        using_allocator=pools.using_allocator,
    )


@cache
def module() -> types.ModuleType:
    """Return the stand-in for the module `cupy`: one per process, as the package keeps it."""
    own = (
        asarray, array, ascontiguousarray, asnumpy, empty, full, zeros, ones, empty_like,
        zeros_like, frombuffer, arange, copyto, ndarray, RawModule, RawKernel,
    )  # fmt: skip
    return _module(
        "cupy",
        __version__=VERSION,
        asanyarray=asarray,
        cuda=_cuda(),
        is_available=lambda: devices.count > 0,
        get_default_memory_pool=lambda: pools.default_pool,
        get_default_pinned_memory_pool=lambda: pools.default_pinned_pool,
        uint8=np.uint8,
        int32=np.int32,
        uint32=np.uint32,
        int64=np.int64,
        **{one.__name__: one for one in own},
        **{name: _of_numpy(name) for name in LIKE_NUMPY},
    )


@contextmanager
def installed() -> Iterator[types.ModuleType]:
    """Put the stand-in in place of `cupy` in the body, also for zarr's buffers."""
    from zarr.core.buffer import gpu

    cupy = module()
    names = {name: vars(cupy.cuda)[name] for name in ("runtime", "driver", "memory", "compiler")}
    modules = {f"cupy.cuda.{name}": one for name, one in names.items()}
    with pytest.MonkeyPatch.context() as patch:
        # not patch.dict, which forgets all modules that are first imported in the body: Numba's
        # cannot be imported twice
        for name, one in {"cupy": cupy, "cupy.cuda": cupy.cuda, **modules}.items():
            patch.setitem(sys.modules, name, one)
        patch.setattr(gpu, "cp", cupy)
        in_place_of_nvrtc(patch)
        yield cupy
