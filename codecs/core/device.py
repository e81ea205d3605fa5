"""Where arrays live: the one place that chooses a backend."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams

BACKENDS = {"numpy": "cpu", "cupy": "gpu"}


def backend_name(array: Any) -> str:
    """Return "cpu" or "gpu": the backend for the memory that `array` lies in.

    Raises
    ------
    BadParams : it is no array of a known library
    """
    for base in type(array).__mro__:  # subclasses (memmap, masked, a user's own) count as NumPy
        if name := BACKENDS.get(base.__module__.partition(".")[0]):
            return name
    known = " or ".join(BACKENDS)
    raise BadParams(f"{type(array).__name__} is no array of {known}; convert it to one")


def backend(array: Any, package: str) -> ModuleType:
    """Return the module of the codec in `package` that works where `array` lies.

    Raises
    ------
    BadParams : the codec has no backend there
    """
    name = backend_name(array)
    module = f"{package}.{name}"
    if importlib.util.find_spec(module) is None:
        raise BadParams(
            f"{package} has no {name} backend yet: pass NumPy arrays, "
            "and turn zarr.config.enable_gpu() off"
        )
    return importlib.import_module(module)


def to_host(array: Any) -> npt.NDArray[Any]:
    """Return the array in host memory; no copy where it lies there already."""
    if backend_name(array) == "cpu":
        return np.asarray(array)
    host: npt.NDArray[Any] = array.get()
    return host
