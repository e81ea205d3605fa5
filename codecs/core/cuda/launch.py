"""Shared parts of all GPU backends: kernels, launches, statuses, device memory.

Work uses the device and the stream that are current in the calling thread, as in all of CuPy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import prod
from typing import TypeVar, overload

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray, Run, ScalarT
from gangsaw.codecs.core.cuda import sources as kernels
from gangsaw.codecs.core.cuda.compiling import CompileError
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray, DeviceArrayOf, Kernel, KernelModule
from gangsaw.codecs.core.cuda.device import backend_name, cupy
from gangsaw.codecs.core.cuda.kernel_files import kernel_file
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, DeviceError, first_line

Result = TypeVar("Result")
OUT_OF_MEMORY = 2  # cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY
PLAIN_SHARED_BYTES = 48 << 10  # more shared memory must be requested before a launch

_modules: dict[tuple[object, ...], KernelModule] = {}
_compiling = threading.Lock()
around_launch: Callable[[], AbstractContextManager[None]] = nullcontext  # `timed_launches` sets it


def load_module(package: str, file: str, defines: Mapping[str, int | str]) -> KernelModule:
    """Return a CUDA source of a package, compiled for the current device, as a CuPy module.

    It is loaded once per process, device and `defines`. It is compiled only if no earlier process
    stored machine code for the same text, options, architecture and compiler (kernel_files.py).

    Raises
    ------
    DeviceError : it does not compile here, there is no device, or no folder is writable
    """
    cp, options = cupy(), kernels.options(defines)
    key = (cp, package, file, options, cp.cuda.runtime.getDevice())
    with _compiling:  # at the start of a job, many threads need the same kernel
        if key not in _modules:
            with device_errors(f"compiling {file}"):
                architecture = f"sm_{cp.cuda.Device().compute_capability}"
                path = kernel_file(kernels.source(package, file), options, architecture)
                module = cp.RawModule(path=str(path))  # with a path, CuPy compiles nothing
                module.compile()  # reads the file, which may be deleted later
            _modules[key] = module
        return _modules[key]


def forget_modules() -> None:
    """Clear the cache of compiled modules."""
    with _compiling:
        _modules.clear()


def launch(
    kernel: Kernel,
    grid: int,
    block: int,
    arguments: Sequence[object],
    shared_bytes: int = 0,
) -> None:
    """Launch a kernel on the current stream.

    Parameters
    ----------
    grid, block : thread blocks, and threads in each
    arguments : CuPy arrays and NumPy scalars of exactly the types that the kernel declares; CuPy
        would pass a Python integer as 64 bits, whatever the kernel reads
    shared_bytes : dynamic shared memory of a thread block

    Raises
    ------
    TypeError : an argument is neither of these
    DeviceError : the device rejects the launch; an error inside the kernel appears at the next copy
    """
    for place, argument in enumerate(arguments):
        if not isinstance(argument, np.generic) and not _on_device(argument):
            kind = type(argument).__name__
            raise TypeError(
                f"argument {place} of a kernel is {kind}, not a CuPy array or a NumPy scalar"
            )
    with device_errors("launching a kernel"), around_launch():
        if shared_bytes > PLAIN_SHARED_BYTES:
            kernel.max_dynamic_shared_size_bytes = shared_bytes
        kernel((grid,), (block,), tuple(arguments), shared_mem=shared_bytes)


def is_aligned(array: DeviceArray, item_bytes: int) -> bool:
    """Return True if a device can load and store items of item_bytes bytes in a CuPy array."""
    places = (int(array.data.ptr), *array.strides)
    return not any(place % item_bytes for place in places)


@contextmanager
def timed_launches() -> Iterator[Callable[[], float]]:
    """Time every launch in the body with events; yield a function for the seconds.

    It is meant for benchmarks: it measures all threads, but the sum is meaningful for one thread
    only.
    """
    global around_launch
    cuda, events = cupy().cuda, []

    @contextmanager
    def timed() -> Iterator[None]:
        pair = cuda.Event(), cuda.Event()
        events.append(pair)
        pair[0].record()
        yield
        pair[1].record()

    def seconds() -> float:
        for _, end in events:
            end.synchronize()
        return float(sum(cuda.get_elapsed_time(*pair) for pair in events)) / 1e3

    around_launch = timed
    try:
        yield seconds
    finally:
        around_launch = nullcontext


def _on_device(argument: object) -> bool:
    try:
        return backend_name(argument) == "gpu"
    except BadParams:  # not an array
        return False


@contextmanager
def device_errors(doing: str) -> Iterator[None]:
    """Convert CuPy's errors in the body to a `DeviceError` of one line, except out of memory.

    doing : description of the work, for the message
    """
    cuda = cupy().cuda
    try:
        yield
    except (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError) as error:
        if error.status == OUT_OF_MEMORY:
            raise MemoryError(first_line(error)) from error
        raise DeviceError(f"{doing} failed: {first_line(error)}") from error
    except (CompileError, cuda.compiler.CompileException) as error:
        raise DeviceError(f"{doing} failed: {first_line(error)}") from error


def corrupt_blocks(
    statuses: npt.NDArray[np.int64], reasons: Mapping[int, str]
) -> dict[int, CorruptChunk]:
    """Return the error of each block whose status is not 0.

    Parameters
    ----------
    statuses : (n_blocks,) integers on the host
    reasons : message for each status
    """
    wrong = np.flatnonzero(statuses).tolist()
    return {block: CorruptChunk(reasons[int(statuses[block])]) for block in wrong}


def in_runs(
    work: Callable[[Run], Result], n_blocks: int, needed: Callable[[Run], int]
) -> list[Result]:
    """Call `work` for all blocks at once, or for ever smaller ranges if the device lacks memory.

    Parameters
    ----------
    work : takes a slice of block numbers; block numbers in its CorruptChunk are relative to the
        slice
    needed : function that returns an upper bound on the bytes of device memory for a slice

    Raises
    ------
    DeviceError : not even one block fits, or the device failed
    """
    results: list[Result] = []
    waiting: list[Run] = [slice(0, n_blocks)]
    while waiting:
        run = waiting.pop()
        short = _attempt(work, run, needed(run), results)
        if not short:
            continue
        if run.stop - run.start == 1:
            raise DeviceError(f"too little memory on the GPU for block {run.start}: {short}")
        middle = (run.start + run.stop) // 2
        waiting += [slice(middle, run.stop), slice(run.start, middle)]
    return results


def _attempt(work: Callable[[Run], Result], run: Run, needed: int, results: list[Result]) -> str:
    """Append the result of `work` for a slice of blocks; else return why memory does not suffice.

    If it succeeds, it returns "".
    """
    free = free_device_bytes()
    if free is not None and needed > free:
        return f"{_mib(needed)} needed, {_mib(free)} free; use smaller blocks"
    try:
        with device_errors(f"blocks {run.start} to {run.stop - 1}"):
            results.append(work(run))
    except CorruptChunk as error:
        block = None if error.block is None else run.start + error.block
        raise CorruptChunk(error.reason, block=block) from error
    except MemoryError as error:  # other processes allocated memory meanwhile, or it is fragmented
        reason = first_line(error)
    else:
        return ""
    # after the except block: the error refers to the frames of `work`, and so to its arrays
    cupy().get_default_memory_pool().free_all_blocks()
    return f"{_mib(needed)} needed at most; {reason}"


def free_device_bytes() -> int | None:
    """Return the bytes that the current device can allocate, or None with a foreign allocator.

    A pool such as RMM's has nearly all memory from the start, so that the device's own number is
    meaningless. There an allocation fails instead.
    """
    cp = cupy()
    pool = cp.get_default_memory_pool()
    if cp.cuda.get_allocator() != pool.malloc:
        return None
    free, limit = cp.cuda.runtime.memGetInfo()[0] + pool.free_bytes(), pool.get_limit()
    return int(min(free, limit - pool.used_bytes()) if limit else free)


def _mib(n_bytes: int) -> str:
    return f"{n_bytes / (1 << 20):.1f} MiB"


@overload
def pinned(
    shape: tuple[int, ...], dtype: type[ScalarT] | np.dtype[ScalarT]
) -> npt.NDArray[ScalarT]: ...


@overload
def pinned(shape: tuple[int, ...], dtype: npt.DTypeLike) -> NumpyArray: ...


def pinned(shape: tuple[int, ...], dtype: npt.DTypeLike) -> NumpyArray:
    """Return an uninitialised host array in page-locked memory.

    Its memory is from CuPy's pool and returns there with the array: keep the array until a copy
    ended.
    """
    kind, count = np.dtype(dtype), prod(shape)
    memory = cupy().cuda.alloc_pinned_memory(max(1, count * kind.itemsize))
    return np.frombuffer(memory, kind, count).reshape(shape)


def pull(array: DeviceArrayOf[ScalarT]) -> npt.NDArray[ScalarT]:
    """Return a page-locked host copy of a contiguous device array, made after all work on it."""
    host = pinned(array.shape, array.dtype)
    array.get(out=host)
    return host
