"""Memory of arrays, host or device: this module alone chooses a backend and imports CuPy."""

from __future__ import annotations

import importlib
import importlib.util
import os
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import cast

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Array, ArrayOf, ScalarT
from gangsaw.codecs.core.cuda.cupy_types import DeviceArrayOf
from gangsaw.codecs.core.errors import BadParams, DeviceError, first_line

BACKENDS = {"numpy": "cpu", "cupy": "gpu"}
NO_DEVICE, OLD_DRIVER = 100, 35  # cudaErrorNoDevice, cudaErrorInsufficientDriver


def backend_name(array: object) -> str:
    """Return the backend for the memory of `array`: "cpu" or "gpu".

    Raises
    ------
    BadParams : it is no array of a known library
    """
    for base in type(array).__mro__:  # subclasses (memmap, masked, a user's own) count as NumPy
        if name := BACKENDS.get(base.__module__.partition(".")[0]):
            return name
    known = " or ".join(BACKENDS)
    raise BadParams(f"{type(array).__name__} is no array of {known}; convert it to one")


def backend(array: object, package: str) -> ModuleType:
    """Return the backend module of the codec in `package` for the memory of `array`.

    Raises
    ------
    BadParams : the codec has no such backend
    """
    return _backend(package, backend_name(array))


@cache  # the search goes through the file system
def _backend(package: str, name: str) -> ModuleType:
    module = f"{package}.{name}"
    if importlib.util.find_spec(module) is None:
        raise BadParams(
            f"{package} has no {name} backend yet: pass NumPy arrays, "
            "and turn zarr.config.enable_gpu() off"
        )
    return importlib.import_module(module)


def to_host(array: ArrayOf[ScalarT]) -> npt.NDArray[ScalarT]:
    """Return the array in host memory, without a copy if it is there."""
    if backend_name(array) == "cpu":
        return np.asarray(array)
    return cast(DeviceArrayOf[ScalarT], array).get()


def empty_in_memory_of(
    array: object, shape: tuple[int, ...], dtype: npt.DTypeLike, order: str
) -> Array:
    """Return an uninitialised array in the same kind of memory as `array`."""
    library = np if backend_name(array) == "cpu" else cupy()
    empty: Array = library.empty(shape, dtype, order)
    return empty


@cache
def cupy() -> ModuleType:
    """Return CuPy after a check that it has a usable device.

    Raises
    ------
    DeviceError : names the missing one of CuPy, driver and GPU
    """
    _spare_read_only_homes()
    try:
        module = importlib.import_module("cupy")
    except ModuleNotFoundError as missing:
        if missing.name != "cupy":
            raise
        raise DeviceError(
            'CuPy is not installed: pip install "gangsaw[gpu]" for CUDA 13, "gangsaw[gpu12]" for '
            "CUDA 12; or use NumPy arrays"
        ) from None
    except ImportError as error:
        raise DeviceError(f"CuPy is installed but cannot be loaded: {first_line(error)}") from error
    _check_device(module.cuda.runtime)
    return module


def _check_device(runtime: ModuleType) -> None:
    if runtime.driverGetVersion() == 0:
        raise DeviceError("there is no NVIDIA driver on this machine; use NumPy arrays")
    try:
        count = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        if error.status == OLD_DRIVER:
            raise DeviceError(
                "the NVIDIA driver is too old for this CuPy: update the driver, or install "
                '"gangsaw[gpu12]", made for CUDA 12'
            ) from error
        if error.status != NO_DEVICE:
            raise DeviceError(f"the GPU cannot be used: {first_line(error)}") from error
        count = 0
    if count == 0:
        raise DeviceError(
            "the NVIDIA driver finds no GPU here (see nvidia-smi and CUDA_VISIBLE_DEVICES); "
            "use NumPy arrays"
        )


def _spare_read_only_homes() -> None:
    """Turn off CuPy's cache of kernels on disk if its folder is not writable.

    CuPy creates the folder at import, and writes its own kernels there (copies of strided arrays,
    sums): both raise errors. Kernels of Gangsaw are stored elsewhere, see kernel_files.py.
    """
    folder = Path(os.environ.get("CUPY_CACHE_DIR") or Path("~/.cupy/kernel_cache").expanduser())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        os.environ["CUPY_CACHE_DIR"] = tempfile.gettempdir()
        os.environ["CUPY_CACHE_IN_MEMORY"] = "1"
