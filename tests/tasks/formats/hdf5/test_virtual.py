"""Virtual datasets of HDF5 are read from their files, or refused: never as fill values."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr

import gangsaw

SAMPLES = np.arange(600, dtype="u2").reshape(20, 30)


def virtual(folder: Path, source: str, inner: str = "a") -> Path:
    """Write a file whose samples are those of another one."""
    with h5py.File(folder / "part.h5", "w") as file:
        file["a"] = SAMPLES
    layout = h5py.VirtualLayout(SAMPLES.shape, "u2")
    layout[:] = h5py.VirtualSource(source, inner, SAMPLES.shape)
    with h5py.File(folder / "whole.h5", "w") as file:
        file.create_virtual_dataset("group/data", layout)
    return folder / "whole.h5"


@pytest.mark.parametrize("name", ["part.h5", "{}/part.h5"])
def test_samples_of_other_files_are_read(tmp_path: Path, name: str) -> None:
    path = virtual(tmp_path, name.format(tmp_path))
    gangsaw.compress(path, tmp_path / "a.zarr", group="group")
    assert np.array_equal(xr.open_zarr(tmp_path / "a.zarr")["data"].values, SAMPLES)


@pytest.mark.parametrize(("name", "inner"), [("gone.h5", "a"), ("part.h5", "b")])
def test_samples_that_are_not_there_are_refused(tmp_path: Path, name: str, inner: str) -> None:
    path = virtual(tmp_path, name, inner)
    message = f"/group/data is virtual, and {name} with its {inner} is not there"
    with pytest.raises(gangsaw.BadParams, match=message):
        gangsaw.compress(path, tmp_path / "a.zarr", group="group")
    assert not (tmp_path / "a.zarr").exists()


def test_a_source_in_the_file_itself(tmp_path: Path) -> None:
    layout = h5py.VirtualLayout(SAMPLES.shape, "u2")
    layout[:] = h5py.VirtualSource(".", "a", SAMPLES.shape)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["a"] = SAMPLES
        file.create_virtual_dataset("b", layout)
    gangsaw.compress(tmp_path / "a.h5", tmp_path / "a.zarr")
    assert np.array_equal(xr.open_zarr(tmp_path / "a.zarr")["b"].values, SAMPLES)
