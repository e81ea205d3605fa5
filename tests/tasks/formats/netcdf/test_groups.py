"""NetCDF and HDF5 with groups: the tree goes into the store and comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr
from helpers.hdf5_trees import hdf5_items, netcdf_items

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.opening import SourceOptions, open_source
from gangsaw.tasks.formats.netcdf.groups import VariableAxes, assign_dimensions


def steps(*shape: int) -> Any:
    return np.cumsum(np.random.default_rng(1).integers(-3, 4, shape), axis=-1)


def write_netcdf(path: Path) -> Path:
    """Dimensions of the root that groups use, a group in a group, and a dimension of a group."""
    with netCDF4.Dataset(path, "w") as file:
        file.title = "scene"
        for name, n in {"y": 30, "x": 20, "bands": 9, "unlike": 4}.items():
            file.createDimension(name, n)
        file.createVariable("counts", "i2", ("y", "x", "bands"), fill_value=-9)[:] = steps(
            30, 20, 9
        )
        sensor = file.createGroup("sensor")
        sensor.createVariable("wavelengths", "f4", ("bands",))[:] = np.arange(9) * 10 + 400
        sensor.note = "of the sensor"
        place = sensor.createGroup("place")
        place.createVariable("lon", "f8", ("y", "x"))[:] = np.linspace(0, 1, 600).reshape(30, 20)
        other = file.createGroup("other")
        other.createDimension("unlike", 3)
        other.createVariable("table", "u1", ("unlike",))[:] = [1, 2, 3]
        file.createVariable("unlike", "i4", ("unlike",))[:] = [1, 2, 3, 4]
        file.createGroup("nothing").note = "kept"
    return path


def test_a_tree_of_netcdf_comes_back(tmp_path: Path) -> None:
    path, store, copy = write_netcdf(tmp_path / "a.nc"), tmp_path / "a.zarr", tmp_path / "b.nc"
    assert gangsaw.compress(path, store).arrays == ("counts", "sensor/place/lon")
    assert gangsaw.verify(store, against=path).ok
    assert gangsaw.decompress(store, copy) == ()
    assert netcdf_items(copy) == netcdf_items(path)
    with xr.open_datatree(store, engine="zarr", chunks=None) as tree:  # not so the file itself
        assert tree["other/table"].dims == ("unlike_3",)
    with xr.open_dataset(copy, group="sensor/place") as found:
        assert found.lon.dims == ("y", "x")


def test_dimensions_go_to_the_group_that_all_users_lie_in(tmp_path: Path) -> None:
    found = assign_dimensions(
        [
            VariableAxes("cube", ("band", "y"), (3, 4)),
            VariableAxes("a/b/wave", ("band",), (3,)),
            VariableAxes("a/b/lat", ("row",), (7,)),
            VariableAxes("a/c/lat", ("row",), (7,)),
            VariableAxes("d/band", ("y",), (5,)),
            VariableAxes("d/e/y", ("y",), (5,)),
        ]
    )
    assert found == {"": {"band": 3, "y": 4}, "a": {"row": 7}, "d": {"y": 5}}
    with pytest.raises(BadParams, match=r"axis y has extents 3 and 4 in group a; use Zarr"):
        assign_dimensions([VariableAxes("a/b", ("y",), (3,)), VariableAxes("a/c", ("y",), (4,))])


def test_axes_without_names_come_back_without(tmp_path: Path) -> None:
    """No data sets are added for dimensions, as NetCDF would have them."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.attrs["mission"] = "one"
        fields = file.create_group("SWATHS/Data Fields")
        fields.attrs["level"] = 1
        fields["cube"] = steps(30, 9, 20).astype("u2")
        fields["cube"].attrs["units"] = "counts"
        fields["line"] = np.arange(30.0)
    gangsaw.compress(tmp_path / "a.h5", tmp_path / "a.zarr")
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.h5")
    assert hdf5_items(tmp_path / "b.h5") == hdf5_items(tmp_path / "a.h5")


def test_a_group_below_is_opened_alone(tmp_path: Path) -> None:
    path = write_netcdf(tmp_path / "a.nc")
    source = open_source(str(path), SourceOptions(group="/sensor/"))
    assert [array.name for array in source.arrays] == ["place/lon"]
    assert [coord.name for coord in source.coords] == ["wavelengths"]
    with pytest.raises(
        BadParams, match=r"no group 'gone'; there are: nothing, other, sensor, sensor/place"
    ):
        open_source(str(path), SourceOptions(group="gone"))


def test_one_variable_takes_what_lies_along_its_axes(tmp_path: Path) -> None:
    path = write_netcdf(tmp_path / "a.nc")
    source = open_source(str(path), SourceOptions(variables=("counts",)))
    assert [array.name for array in source.arrays] == ["counts"]
    assert [coord.name for coord in source.coords] == ["sensor/wavelengths"]


def test_where_nothing_is_there_groups_are_netcdf_items(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_group("one/two")
    with pytest.raises(BadParams, match=r"no variables; groups in it: one, one/two"):
        open_source(str(tmp_path / "a.h5"))


def test_dimensions_that_move_are_told(tmp_path: Path) -> None:
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as file:
        for name, extent in {"t": 2, "x": 3, "y": 4, "unused": 5}.items():
            file.createDimension(name, extent)
        one, two = file.createGroup("one"), file.createGroup("two")
        one.createDimension("y", 6)  # another one than that of the root
        one.createVariable("a", "f4", ("t", "x"))[:] = 1
        one.createVariable("b", "f4", ("t", "y"))[:] = 1
        two.createVariable("c", "f4", ("t", "y"))[:] = 1
    notes = gangsaw.compress(tmp_path / "a.nc", tmp_path / "a.zarr").notes
    assert notes == (
        "dimension x of the root moves to group one, which alone has it",
        "dimension y of the root moves to group two, which alone has it",
    )


@pytest.mark.parametrize("has_coordinate", [True, False])
def test_texts_are_the_data_where_there_are_no_numbers(
    tmp_path: Path, has_coordinate: bool
) -> None:
    names = [f"station {i}" for i in range(28)]
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("time", len(names))
        file.createVariable("name", str, ("time",))[:] = np.array(names, object)
        if has_coordinate:
            file.createVariable("time", "f8", ("time",))[:] = np.arange(len(names))
    assert gangsaw.compress(tmp_path / "a.nc", tmp_path / "a.zarr").arrays == ("name",)
    assert gangsaw.verify(tmp_path / "a.zarr", against=tmp_path / "a.nc").ok
    assert gangsaw.open(tmp_path / "a.zarr")["name"].values.tolist() == names
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.nc")
    with xr.open_dataset(tmp_path / "a.nc") as old, xr.open_dataset(tmp_path / "b.nc") as new:
        xr.testing.assert_identical(old, new)
