"""Backends are looked up by where an array lives."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gangsaw.codecs.core.cuda import device
from gangsaw.codecs.core.errors import BadParams


def on_a_gpu() -> object:
    """An array that says it is CuPy's, as far as the look-up can see."""
    return type("ndarray", (), {"__module__": "cupy", "get": lambda self: np.arange(3)})()


def test_numpy_and_its_subclasses_are_on_the_cpu(tmp_path: object) -> None:
    mapped = np.memmap(f"{tmp_path}/x", "u1", "w+", shape=3)
    own = np.zeros(3).view(type("Mine", (np.ndarray,), {}))
    for array in (np.zeros(3), np.ma.zeros(3), mapped, own):
        assert device.backend(array, "plain_codec").__name__ == "plain_codec.cpu"


def test_a_missing_backend_says_what_to_do() -> None:
    with pytest.raises(BadParams, match="reference has no gpu backend yet: pass NumPy arrays"):
        device.backend(on_a_gpu(), "reference")


def test_cupy_arrays_are_on_the_gpu(cupy: Any) -> None:
    array = cupy.asarray(np.arange(6))
    assert device.backend(array, "plain_codec").__name__ == "plain_codec.gpu"
    np.testing.assert_array_equal(device.to_host(array[::2]), [0, 2, 4])
    assert device.backend_name(device.empty_in_memory_of(array, (2, 3), "u2", "F")) == "gpu"


def test_what_is_no_array() -> None:
    with pytest.raises(BadParams, match="list is no array of numpy or cupy"):
        device.backend([1, 2], "plain_codec")


def test_to_host() -> None:
    here = np.arange(3)
    assert device.to_host(here) is here
    np.testing.assert_array_equal(device.to_host(on_a_gpu()), here)


STUB = """
class CUDARuntimeError(RuntimeError):
    status = {status}

class runtime:
    CUDARuntimeError = CUDARuntimeError
    driverGetVersion = staticmethod(lambda: {version})

    @staticmethod
    def getDeviceCount():
        if {status}:
            raise CUDARuntimeError("status {status}\\n  and a stack of hints")
        return 0

class cuda:
    runtime = runtime
"""
MISSING = {
    "CuPy": (None, 'CuPy is not installed: pip install "gangsaw[gpu]"'),
    "CuPy's libraries": (
        "raise ImportError('libnvrtc.so.13 not found\\nhints')",
        "CuPy is installed but cannot be loaded: libnvrtc.so.13 not found",
    ),
    "driver": (STUB.format(status=35, version=0), "there is no NVIDIA driver on this machine"),
    "new driver": (STUB.format(status=35, version=11040), "the NVIDIA driver is too old"),
    "GPU": (STUB.format(status=100, version=13000), "the NVIDIA driver finds no GPU here"),
    "visible GPU": (STUB.format(status=0, version=13000), "the NVIDIA driver finds no GPU here"),
    "working GPU": (STUB.format(status=46, version=13000), "the GPU cannot be used: status 46"),
}
OPEN = """
import sys
sys.path.insert(0, {folder!r})
{hide}
import numpy as np, zarr, gangsaw
cube = np.arange(64, dtype="u2").reshape(4, 4, 4)
codec = gangsaw.codecs.Ccsds123()
options = {{"shape": cube.shape, "chunks": cube.shape, "dtype": "u2", "serializer": codec}}
store = zarr.storage.MemoryStore()
zarr.create_array(store, compressors=None, **options)[...] = cube
try:
    with zarr.config.enable_gpu():
        zarr.open_array(store, mode="r")
except gangsaw.DeviceError as error:
    print(error)
assert (zarr.open_array(store, mode="r")[...] == cube).all()
"""


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize(("stub", "message"), MISSING.values(), ids=MISSING)
def test_what_is_missing_is_named_in_one_line(stub: Any, message: str, tmp_path: Path) -> None:
    """And everything else works."""
    if stub is not None:
        (tmp_path / "cupy.py").write_text(stub)
    hide = "" if stub else "sys.modules['cupy'] = None"
    code = OPEN.format(folder=str(tmp_path), hide=hide)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith(message)


def test_a_read_only_home_is_no_obstacle(tmp_path: Path) -> None:
    """CuPy makes its cache folder when it is imported, and raises where it cannot."""
    stub = """
        import os
        os.makedirs(os.environ.get("CUPY_CACHE_DIR") or os.path.expanduser("~/.cupy/kernel_cache"),
                    exist_ok=True)
    """
    (tmp_path / "cupy.py").write_text(textwrap.dedent(stub) + STUB.format(status=0, version=1))
    code = f"""if 1:
        import os, sys
        sys.path.insert(0, {str(tmp_path)!r})
        os.environ.pop("CUPY_CACHE_DIR", None)
        os.environ["HOME"] = "/proc/nowhere"
        from gangsaw.codecs.core.cuda.device import cupy
        from gangsaw.codecs.core.errors import DeviceError
        try:
            cupy()
        except DeviceError as error:
            print(error, os.environ["CUPY_CACHE_IN_MEMORY"])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("use NumPy arrays 1\n")
