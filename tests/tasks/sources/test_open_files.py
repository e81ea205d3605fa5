"""A public call closes what it opened: the user's own program may write to the file after it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
from distributed import Client
from helpers.radio_files import kat_file, write

import gangsaw


def _open_ones(below: Path) -> list[str]:
    """Return the files in a folder that this process has open."""
    found = (os.path.realpath(fd) for fd in Path("/proc/self/fd").iterdir())
    return [path for path in found if path.startswith(str(below))]


def _hdf5(folder: Path) -> Path:
    with h5py.File(folder / "a.h5", "w") as file:
        file["image"] = np.arange(60.0).reshape(3, 4, 5)
        file["below/texts"] = ["a", "b"]
    return folder / "a.h5"


def _netcdf3(folder: Path) -> Path:
    with netCDF4.Dataset(folder / "a.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x", 5)
        file.createVariable("image", "f8", ("x",))[...] = 1
    return folder / "a.nc"


SOURCES: dict[str, Callable[[Path], Path]] = {
    "hdf5": _hdf5,
    "netcdf3": _netcdf3,
    "uvh5": lambda folder: write(folder / "a.uvh5"),
    "kat": lambda folder: kat_file(folder / "a.h5"),
    "ms": lambda folder: write(folder / "a.ms"),
    "uvfits": lambda folder: write(folder / "a.uvfits"),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_nothing_stays_open(tmp_path: Path, kind: str) -> None:
    source, store = SOURCES[kind](tmp_path), tmp_path / "a.zarr"
    before = _open_ones(tmp_path)
    gangsaw.compress(source, store)
    assert _open_ones(tmp_path) == before
    gangsaw.verify(store, against=source)
    assert _open_ones(tmp_path) == before
    gangsaw.decompress(store, tmp_path / f"copy{source.suffix}")
    assert _open_ones(tmp_path) == before


def test_the_user_writes_to_the_file(tmp_path: Path) -> None:
    path, store = _hdf5(tmp_path), tmp_path / "a.zarr"
    gangsaw.compress(path, store)
    gangsaw.verify(store, against=path)
    with h5py.File(path, "r+") as file:
        file["image"][0, 0, 0] = 7
    assert not gangsaw.verify(store, against=path).ok


def test_a_call_within_a_call_closes_nothing(tmp_path: Path) -> None:
    """Another thread's job goes on reading; the last call that returns closes all."""
    path = _hdf5(tmp_path)

    def on_progress(_: object) -> None:
        gangsaw.compress(path, tmp_path / "inner.zarr", overwrite=True)
        assert _open_ones(tmp_path)

    gangsaw.compress(path, tmp_path / "a.zarr", on_progress=on_progress)
    assert not _open_ones(tmp_path)


def test_workers_close_them_too(tmp_path: Path) -> None:
    path, store = _hdf5(tmp_path), tmp_path / "a.zarr"
    with Client(n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
        gangsaw.compress(path, store, client=client)
        assert not any(client.run(_open_ones, tmp_path).values())
