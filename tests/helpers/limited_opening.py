"""Files opened by processes with little memory: forks of one, which imports for all."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

OPENER = """
import json, os, resource, sys, traceback
import h5netcdf, h5py, zarr
from gangsaw.codecs.core.errors import GangsawError
from gangsaw.tasks.formats.envi import source as envi
from gangsaw.tasks.radio.hdf5 import hdf5
from gangsaw.tasks.formats.contract import opening
from gangsaw.tasks.formats.hdf5 import source as xarrays

def described(path):
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), used + (1 << 30)))
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
    try:
        source = opening.open_source(path)
    except GangsawError as error:
        return {"error": str(error)}
    arrays = {array.name: array.shape for array in source.arrays}
    n_bytes = sum(coord.values.nbytes for coord in source.coords)
    names = [coord.name for coord in source.coords]
    return {"arrays": arrays, "bytes": n_bytes, "coords": names}

for line in sys.stdin:
    path = line.rstrip()
    if path.endswith(".uvfits"):
        import pyuvdata, astropy.io.fits
    if path.endswith(".tif"):
        import rioxarray
    child = os.fork()
    if child == 0:
        code = 1
        try:
            print(json.dumps(described(path)), flush=True)
            code = 0
        except BaseException:
            print(json.dumps(traceback.format_exc()[-2000:]), flush=True)
        finally:
            os._exit(code)
    print(json.dumps({"status": os.waitpid(child, 0)[1]}), flush=True)
"""
RUNNING: list[subprocess.Popen[str]] = []


@contextmanager
def running() -> Iterator[None]:
    """Run the process while the context lasts."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", OPENER], stdin=pipe, stdout=pipe, text=True
    ) as process:
        RUNNING.append(process)
        try:
            yield
        finally:
            RUNNING.clear()
            process.communicate()  # closes its input, which ends it


def opened(path: Path) -> dict[str, Any]:
    """Return what a process with little memory makes of a file: an error, or its arrays."""
    (process,) = RUNNING
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{path}\n")
    process.stdin.flush()
    lines = [json.loads(process.stdout.readline())]
    while "status" not in lines[-1]:
        lines.append(json.loads(process.stdout.readline()))
    assert lines[-1] == {"status": 0}, lines
    found: dict[str, Any] = lines[-2]
    return found
