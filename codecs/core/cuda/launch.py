"""What the GPU backends of all codecs share: kernels, launches, statuses, device memory.

Work goes to the device and the stream that are current in the calling thread, as with all of CuPy.
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
PLAIN_SHARED_BYTES = 48 << 10  # a kernel that wants more shared memory has to ask for it

_modules: dict[tuple[object, ...], KernelModule] = {}
_compiling = threading.Lock()
around_launch: Callable[[], AbstractContextManager[None]] = nullcontext  # `timed_launches` sets it


def load(package: str, file: str, defines: Mapping[str, int | str]) -> KernelModule:
    """Return a CUDA source of a package, compiled for the current device, as a CuPy module.

    It is loaded once per process, device and `defines`, and compiled only where no process before
    left the machine code of this text, these options, architecture and compiler (kernel_files.py).

    Raises
    ------
    DeviceError : it does not compile here, there is no device, or no folder can be written
    """
    cp, options = cupy(), kernels.options(defines)
    key = (cp, package, file, options, cp.cuda.runtime.getDevice())
    with _compiling:  # many threads want the same kernel at once, when a job begins
        if key not in _modules:
            with device_errors(f"compiling {file}"):
                architecture = f"sm_{cp.cuda.Device().compute_capability}"
                path = kernel_file(kernels.source(package, file), options, architecture)
                module = cp.RawModule(path=str(path))  # with a path it compiles nothing
                module.compile()  # which reads the file: later it may be gone
            _modules[key] = module
        return _modules[key]


def forget_modules() -> None:
    """Let go of all compiled modules."""
    with _compiling:
        _modules.clear()


def launch(
    kernel: Kernel,
    grid: int,
    block: int,
    arguments: Sequence[object],
    shared_bytes: int = 0,
) -> None:
    """Start a kernel on the current stream.

    Parameters
    ----------
    grid, block : thread blocks, and threads in each
    arguments : CuPy arrays and NumPy scalars of exactly the types that the kernel declares; CuPy
        would pass a Python integer as 64 bits, whatever the kernel reads
    shared_bytes : dynamic shared memory of a thread block

    Raises
    ------
    TypeError : an argument is neither of these
    DeviceError : the device refuses the launch; a fault inside the kernel shows at the next copy
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


def aligned(array: DeviceArray, item_bytes: int) -> bool:
    """Tell whether a device can load and store items of so many bytes of a CuPy array."""
    places = (int(array.data.ptr), *array.strides)
    return not any(place % item_bytes for place in places)


@contextmanager
def timed_launches() -> Iterator[Callable[[], float]]:
    """Time every launch of the body by events; yields what waits for their end and adds them up.

    For benchmarks: it holds for all threads, and the sum, in seconds, is meant for one.
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
    except BadParams:  # no array at all
        return False


@contextmanager
def device_errors(doing: str) -> Iterator[None]:
    """Turn CuPy's errors into `DeviceError` of one line; but running out of memory stays so."""
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
    reasons : what each status means
    """
    wrong = np.flatnonzero(statuses).tolist()
    return {block: CorruptChunk(reasons[int(statuses[block])]) for block in wrong}


def in_runs(
    work: Callable[[Run], Result], n_blocks: int, needed: Callable[[Run], int]
) -> list[Result]:
    """Work on all blocks at once, or where the device has too little memory on halves of them.

    Parameters
    ----------
    work : takes a run of blocks; a CorruptChunk from it counts them from the run's first
    needed : bytes of device memory that a run takes at most

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
    """Append the result of a run, or return why there is too little memory for it."""
    free = free_bytes()
    if free is not None and needed > free:
        return f"{_mib(needed)} needed, {_mib(free)} free; use smaller blocks"
    try:
        with device_errors(f"blocks {run.start} to {run.stop - 1}"):
            results.append(work(run))
    except CorruptChunk as error:
        block = None if error.block is None else run.start + error.block
        raise CorruptChunk(error.reason, block=block) from error
    except MemoryError as error:  # others took memory meanwhile, or it lies in pieces
        reason = first_line(error)
    else:
        return ""
    # only now: the error held the frames of `work`, and so its arrays
    cupy().get_default_memory_pool().free_all_blocks()
    return f"{_mib(needed)} needed at most; {reason}"


def free_bytes() -> int | None:
    """Return what can be allocated on the current device, or None under a foreign allocator.

    A pool such as RMM's holds nearly all memory from the start, so that the device's own figure
    says nothing; there running out is noticed when it happens.
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
    """Return an uninitialised host array that the device copies from and to by itself.

    Its memory comes from CuPy's pool and returns there with the array: keep it until a copy ended.
    """
    kind, count = np.dtype(dtype), prod(shape)
    memory = cupy().cuda.alloc_pinned_memory(max(1, count * kind.itemsize))
    return np.frombuffer(memory, kind, count).reshape(shape)


def pull(array: DeviceArrayOf[ScalarT]) -> npt.NDArray[ScalarT]:
    """Return a contiguous device array in page-locked host memory, when all work on it is done."""
    host = pinned(array.shape, array.dtype)
    array.get(out=host)
    return host
