"""Axes have names that xarray can open, whatever a format calls them."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.command_line import CommandLine
from helpers.job_data import raw_source
from helpers.job_runs import job

from gangsaw.tasks.sources.source import Coordinate, Described
from gangsaw.tasks.store.dataset.dims import describe_renamed_dims, make_dims_agree

HERE = ("--workers", 0)


def array(name: str, **axes: int) -> Described:
    """An array with these axes and extents."""
    extents = tuple(axes.values())
    return Described(name=name, shape=extents, dtype=np.dtype("f4"), dims=tuple(axes), chunks=None)


def test_a_name_keeps_the_extent_of_its_coordinate() -> None:
    odd, usual = array("A", time=5, polarization=3), array("B", time=5, polarization=4)
    labels = Coordinate("polarization", ("polarization",), np.arange(4))
    assert make_dims_agree([odd, usual], [labels]) == {
        "A": ("time", "polarization_3"),
        "B": ("time", "polarization"),
        "polarization": ("polarization",),
    }
    assert make_dims_agree([odd, usual], [])["B"] == ("time", "polarization_4")


def test_names_are_of_their_group() -> None:
    found = make_dims_agree([array("a/A", x=5), array("b/A", x=6), array("b/B", x=7)], [])
    assert found == {"a/A": ("x",), "b/A": ("x",), "b/B": ("x_7",)}


def test_names_agree_with_those_of_outer_groups() -> None:
    found = make_dims_agree([array("a/A", x=5), array("B", x=7), array("a/b/C", x=7)], [])
    assert found == {"B": ("x",), "a/A": ("x_5",), "a/b/C": ("x",)}


@pytest.mark.parametrize(
    ("group", "outer"), [("g", ""), ("g/h", ""), ("g/h", "g"), ("day", ""), ("a/b/c", "a")]
)
def test_a_note_names_the_group_and_its_renamed_dimension(group: str, outer: str) -> None:
    arrays = [array(f"{outer}/A".lstrip("/"), t=7), array(f"{group}/B", t=3, x=2)]
    line = (
        f"group {group}: its dimension t has the extent 3, which is 7 in a group around it: "
        "the store names it t_3"
    )
    assert list(describe_renamed_dims(arrays, [])) == [line]
    time = Coordinate(f"{group}/t", ("t",), np.arange(3))
    assert list(describe_renamed_dims(arrays, [time])) == [line]


def test_no_note_where_a_group_keeps_its_names() -> None:
    arrays = [array("A", t=7), array("g/B", t=7, x=2), array("h/B", x=3), array("C", t=6)]
    assert list(describe_renamed_dims(arrays, [])) == []


def test_the_summary_names_a_renamed_dimension(gangsaw: CommandLine, tmp_path: Path) -> None:
    tree = {
        "/": xr.Dataset({"a": (("t",), np.arange(7.0))}),
        "/g": xr.Dataset({"b": (("u",), np.arange(3.0))}),
    }
    xr.DataTree.from_dict(tree).to_netcdf(tmp_path / "a.nc")
    with netCDF4.Dataset(tmp_path / "a.nc", "a") as file:
        file["g"].renameDimension("u", "t")
    ran = gangsaw.ok("compress", tmp_path / "a.nc", tmp_path / "a.zarr", *HERE)
    assert "group g: its dimension t has the extent 3" in str(ran)


def test_one_name_twice_in_an_array() -> None:
    square = Described(
        name="C", shape=(4, 4, 4), dtype=np.dtype("f4"), dims=("x", "x", "x"), chunks=None
    )
    assert make_dims_agree([square], [])["C"] == ("x", "x_4", "x_4_2")


def test_an_axis_called_as_a_single_value() -> None:
    scalar = Coordinate("x", (), np.float64(3))
    assert make_dims_agree([array("A", x=5)], [scalar]) == {"A": ("x_5",), "x": ()}


def test_nameless_arrays_of_different_extents(gangsaw: CommandLine, tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "a.zarr")
    values = {"a": np.ones((6, 8), "f4"), "b": np.ones((7, 8), "f4"), "c": np.ones((6, 9), "i2")}
    for name, samples in values.items():
        group.create_array(name, data=samples)
    gangsaw.ok("compress", tmp_path / "a.zarr", tmp_path / "b.zarr", *HERE)
    gangsaw.ok("verify", tmp_path / "b.zarr", "--against", tmp_path / "a.zarr", *HERE)
    with xr.open_zarr(tmp_path / "b.zarr", chunks=None) as store:
        for name, samples in values.items():
            np.testing.assert_array_equal(store[name].values, samples)


def test_a_store_that_does_not_open_fails_the_test_of_its_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fixture of all tests looks at what the job has written."""
    monkeypatch.setattr(xr, "open_zarr", lambda *_, **__: pytest.fail("it was opened"))
    with pytest.raises(pytest.fail.Exception, match="it was opened"):
        job(raw_source(tmp_path, (6, 40, 50)), tmp_path / "a.zarr")
