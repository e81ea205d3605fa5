"""What of a layout an export cannot keep is told; booleans of HDF5 come back as they were."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr

import gangsaw

Form = Literal[
    "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4", "NETCDF4_CLASSIC"
]
FORMS: dict[Form, tuple[str, ...]] = {
    "NETCDF3_CLASSIC": ("NetCDF 3 (classic), which becomes NetCDF 4",),
    "NETCDF3_64BIT_OFFSET": ("NetCDF 3 (64-bit offset), which becomes NetCDF 4",),
    "NETCDF3_64BIT_DATA": ("NetCDF 3 (64-bit data), which becomes NetCDF 4",),
    "NETCDF4": (),
    "NETCDF4_CLASSIC": ("NetCDF 4 (classic model), which becomes NetCDF 4",),
}
MASK = np.random.default_rng(2).random((70, 50)) < 0.5


def returned(path: Path, suffix: str) -> tuple[tuple[str, ...], Path]:
    """Return what a file's way through a store and back tells, and the file that comes back."""
    store, copy = path.with_name("s.zarr"), path.with_name(f"copy{suffix}")
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path).ok
    return gangsaw.decompress(store, copy), copy


@pytest.mark.parametrize("form", FORMS)
def test_unlimited_dimensions_and_versions_are_told(tmp_path: Path, form: Form) -> None:
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.createDimension("time", None)
        file.createDimension("x", 4)
        file.createVariable("a", "f4", ("time", "x"))[:] = np.arange(12).reshape(3, 4)
    told, copy = returned(path, ".nc")
    assert told == (*FORMS[form], "unlimited dimension time, which becomes fixed")
    with netCDF4.Dataset(copy) as file:
        assert not file.dimensions["time"].isunlimited()
        assert file.ncattrs() == []  # no note of ours


def test_unlimited_dimensions_of_groups_and_without_variables_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("spare", None)
        inner = file.createGroup("inner")
        inner.createDimension("row", None)
        inner.createVariable("a", "i2", ("row",))[:] = np.arange(5)
    told, _ = returned(path, ".nc")
    assert told == (
        "unlimited dimension spare, which becomes fixed",
        "unlimited dimension row of group inner, which becomes fixed",
    )


def test_what_no_variable_that_is_taken_has_is_not_told(tmp_path: Path) -> None:
    path, store = tmp_path / "a.nc", tmp_path / "s.zarr"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 4)
        file.createVariable("a", "f4", ("time",))[:] = np.arange(3)
        file.createVariable("b", "f4", ("x",))[:] = np.arange(4)
    gangsaw.compress(path, store, variables=["b"])
    assert gangsaw.decompress(store, tmp_path / "b.nc") == ()


def test_extents_to_which_data_sets_can_grow_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("a", data=np.arange(12.0).reshape(3, 4), maxshape=(None, 9))
        file.create_dataset("words", data=np.array([b"ab", b"c"], "S2"), maxshape=(None,))
        file.create_dataset("fixed", data=np.arange(3.0), chunks=(2,))
    told, copy = returned(path, ".h5")
    assert sorted(told) == [
        "the maximal shape (unlimited) of words, which can no longer grow",
        "the maximal shape (unlimited, 9) of a, which can no longer grow",
    ]
    with h5py.File(copy) as file:
        assert [list(file[name].attrs) for name in file] == [[], [], []]


def test_booleans_of_hdf5_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["mask"], file["row"], file["one"] = MASK, MASK[0], True
        file["mask"].attrs["of"] = "clouds"
    _, copy = returned(path, ".h5")
    with h5py.File(path) as had, h5py.File(copy) as found:
        for name in had:
            assert found[name].id.get_type() == had[name].id.get_type()
            assert dict(found[name].attrs) == dict(had[name].attrs)
            np.testing.assert_array_equal(found[name][...], had[name][...])


def test_booleans_are_numbers_in_netcdf_which_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["mask"] = MASK
    told, copy = returned(path, ".nc")
    assert told == (
        "booleans of mask, which NetCDF (.nc) has as int8 with dtype; .h5 keeps HDF5's type",
    )
    with netCDF4.Dataset(copy) as file:
        assert file["mask"].dtype == np.int8
        np.testing.assert_array_equal(file["mask"][:], MASK)
    with xr.open_dataset(copy, engine="h5netcdf", phony_dims="sort") as back:
        np.testing.assert_array_equal(back["mask"], MASK)
        assert back["mask"].dtype == bool
