"""Stores of many variables: what each step costs per variable, beside xarray's own `to_zarr`."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import xarray as xr

import gangsaw
from gangsaw.tasks.bench.table import Row

COUNTS = (250, 1000)  # variables
SHAPE = (4, 30, 40)
READING = ("verify", "info", "encoding")  # steps that may run again, some of them short
ROUNDS = 3
LINEAR = 1.5  # times the growth of their number: more is more than linear


def data_set(n: int) -> xr.Dataset:
    """Return a data set of n variables of 16-bit integers along the same axes."""
    rng = np.random.default_rng(16)
    found = {f"v{i}": _samples(rng) for i in range(n)}
    coords = {dim: np.arange(extent) for dim, extent in zip("tyx", SHAPE, strict=True)}
    return xr.Dataset(found, coords=coords)


def _samples(rng: np.random.Generator) -> tuple[tuple[str, ...], np.ndarray]:
    return ("t", "y", "x"), np.cumsum(rng.integers(-2, 3, SHAPE), axis=-1).astype("i2")


def seconds(call: Callable[[], object]) -> float:
    """Return processor seconds of a call in this process."""
    before = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # xarray's of consolidated metadata
        call()
    return time.process_time() - before


def steps(folder: Path, n: int) -> dict[str, float]:
    """Return processor seconds of each step, by its name."""
    data, file = data_set(n), folder / f"{n}.nc"
    data.to_netcdf(file, engine="h5netcdf")
    own, of_file = folder / f"{n}.zarr", folder / f"{n}_file.zarr"
    calls: dict[str, Callable[[], object]] = {
        "to_zarr of xarray": partial(data.to_zarr, folder / f"{n}_xarray.zarr"),
        "compress": partial(gangsaw.compress, data, own),
        "verify": partial(gangsaw.verify, own, against=data),
        "info": partial(gangsaw.info, own),
        "encoding": partial(gangsaw.encoding, data),
        "compress of a NetCDF file": partial(gangsaw.compress, file, of_file),
        "verify against a NetCDF file": partial(gangsaw.verify, of_file, against=file),
        "decompress to a NetCDF file": partial(gangsaw.decompress, of_file, folder / f"{n}_b.nc"),
    }
    return {name: _least(name, call) for name, call in calls.items()}


def _least(name: str, call: Callable[[], object]) -> float:
    """Return the least of some runs of a step that writes nothing, else of one."""
    return min(seconds(call) for _ in range(ROUNDS if name in READING else 1))


def rows() -> Iterator[Row]:
    """Yield processor time for 1,000 variables, and how it grew from 250."""
    with tempfile.TemporaryDirectory() as folder:
        gangsaw.compress(data_set(2), Path(folder, "warm.zarr"))
        few, many = (steps(Path(folder), n) for n in COUNTS)
    growth = COUNTS[1] / COUNTS[0]
    for name, taken in many.items():
        times = taken / few[name]
        note = (
            f"{few[name]:.2f} s for {COUNTS[0]}: {times:.1f} times for {growth:.0f} times as many"
        )
        wanted = f"<= {LINEAR * growth * few[name]:.3g}" if "xarray" not in name else ""
        yield Row(f"{name}: {COUNTS[1]:,} variables, processor time", taken, "s", wanted, note)
