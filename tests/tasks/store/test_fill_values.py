"""Fill values are kept and given back to the bit, of arrays and of small variables."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import h5py
import numpy as np
import pytest
import xarray as xr
import zarr

import gangsaw

FILLS = {
    "seven": np.int16(7),
    "nan": np.float64(np.nan),
    "minus zero": np.float32(-0.0),
}
SHAPES = [(4,), (3, 4, 5)]  # copied whole, stored chunk by chunk


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fill", FILLS)
def test_hdf5(tmp_path: Path, fill: str, shape: tuple[int, ...]) -> None:
    path, store, copy = tmp_path / "a.h5", tmp_path / "a.zarr", tmp_path / "c.h5"
    value = FILLS[fill]
    with h5py.File(path, "w") as file:
        file["image"] = np.arange(60, dtype="i2").reshape(3, 4, 5)
        file.create_dataset("v", data=np.ones(shape, value.dtype), fillvalue=value)
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path).ok
    with xr.open_zarr(store, chunks=None) as data:
        assert (data["v"].values == 1).all()
    assert gangsaw.decompress(store, copy) == ()
    with h5py.File(copy) as file:
        assert file["v"].fillvalue.tobytes() == value.tobytes()
        assert file["image"].fillvalue == 0
        assert not file["v"].attrs


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fill", FILLS)
def test_zarr(
    tmp_path: Path, fill: str, shape: tuple[int, ...], zarr_format: Literal[2, 3]
) -> None:
    path, store, copy = tmp_path / "a.zarr", tmp_path / "b.zarr", tmp_path / "c.zarr"
    value = FILLS[fill]
    group = zarr.create_group(path, zarr_format=zarr_format)
    group["image"] = np.arange(60, dtype="i2").reshape(3, 4, 5)
    group.create_array("v", shape=shape, dtype=value.dtype, fill_value=value)[...] = 1
    gangsaw.compress(path, store)
    gangsaw.decompress(store, copy)
    for made in (store, copy):
        found = zarr.open_array(made, path="v", mode="r").fill_value
        assert np.asarray(found, value.dtype).tobytes() == value.tobytes()


def test_a_fill_value_of_another_type(tmp_path: Path) -> None:
    path, store = tmp_path / "a.h5", tmp_path / "a.zarr"
    with h5py.File(path, "w") as file:
        for name, shape in {"small": (4,), "image": (3, 4, 5)}.items():
            file[name] = np.ones(shape, "i2")
            file[name].attrs["_FillValue"] = 1e20
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path).ok
