"""Variables with fewer records than their unlimited dimension, as NetCDF's library reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr

import gangsaw
from gangsaw.tasks.formats.hdf5.independent_reader import open_netcdf_reader
from gangsaw.tasks.formats.hdf5.source import open_netcdf

UNSET = 9.969209968386869e36  # NC_FILL_FLOAT
KINDS: dict[str, tuple[Any, dict[str, object], object, object]] = {
    # type, how it is created, values of 3 records, what the others are
    "i1": ("i1", {}, 3, -127),
    "u1": ("u1", {}, 3, 255),
    "i2": ("i2", {"fill_value": -9}, 3, -9),
    "u2": ("u2", {}, 3, 65535),
    "big-endian": (">i4", {"endian": "big"}, 3, -2147483647),
    "u4": ("u4", {}, 3, 4294967295),
    "i8": ("i8", {}, 3, -9223372036854775806),
    "u8": ("u8", {}, 3, 18446744073709551614),
    "f4": ("f4", {"zlib": True}, 3.5, np.float32(UNSET)),
    "f8": ("f8", {"fill_value": np.nan}, 3.5, np.nan),
    "no fill value": ("i2", {"fill_value": False}, 3, -32767),
    "characters": ("S1", {}, b"c", b""),
    "texts": (str, {}, "text", ""),
}


def _items(path: Path) -> dict[str, tuple[object, ...]]:
    """Return what NetCDF's library reads of a file and its groups."""
    found: dict[str, tuple[object, ...]] = {}

    def add(group: Any, before: str) -> None:
        for name, variable in group.variables.items():
            variable.set_auto_maskandscale(False)
            variable.set_auto_chartostring(False)
            found[before + name] = (variable.dimensions, variable.shape, variable[...].tolist())
        for name, inner in group.groups.items():
            add(inner, f"{before}{name}/")

    with netCDF4.Dataset(path) as file:
        add(file, "")
    return found


def _same_after_a_round_trip(path: Path) -> None:
    store, copy = path.with_suffix(".zarr"), path.with_name(f"copy_{path.name}")
    notes = gangsaw.compress(path, store).notes
    assert all(note.startswith("integers of 64 bits") for note in notes)
    report = gangsaw.verify(store, against=path)
    assert report.problems == ()
    assert "h5py" in report.readers[0]
    gangsaw.decompress(store, copy)
    np.testing.assert_equal(_items(copy), _items(path))


def _records(path: Path, kind: str) -> Path:
    dtype, how, value, _ = KINDS[kind]
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("t", None)
        file.createDimension("x", 4)
        file.createVariable("t", "f8", ("t",))[:] = np.arange(7.0)
        file.createVariable("full", "f8", ("t", "x"))[:] = np.arange(28.0).reshape(7, 4)
        of = np.full((3, 4), value, object if dtype is str else dtype)
        file.createVariable("short", dtype, ("t", "x"), **how)[0:3] = of
        file.createVariable("line", dtype, ("t",), **how)[0:1] = of[0, :1]
        file.createVariable("never", dtype, ("t", "x"), **how)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_records_that_were_not_written_are_fill_values(tmp_path: Path, kind: str) -> None:
    path = _records(tmp_path / "a.nc", kind)
    _same_after_a_round_trip(path)
    beyond = KINDS[kind][3]
    found = _items(tmp_path / "copy_a.nc")
    np.testing.assert_equal(found["never"], (("t", "x"), (7, 4), [[beyond] * 4] * 7))
    np.testing.assert_equal(found["line"][2][1:], [beyond] * 6)  # type: ignore[index]


def test_images_of_which_some_are_absent(tmp_path: Path) -> None:
    """Chunks of the store lie before, across and beyond the end of the records."""
    path, store = tmp_path / "a.nc", tmp_path / "a.zarr"
    rng = np.random.default_rng(4)
    images = rng.integers(0, 4000, (40, 150, 210)).astype("i2")
    with netCDF4.Dataset(path, "w") as file:
        for name, n in {"t": None, "y": 150, "x": 210}.items():
            file.createDimension(name, n)
        file.createVariable("whole", "i2", ("t", "y", "x"), chunksizes=(1, 50, 210))[:] = images
        short = file.createVariable("short", "i2", ("t", "y", "x"), fill_value=-1)
        short[0:17] = images[:17]
    gangsaw.compress(path, store, chunks={"t": 6})
    assert gangsaw.verify(store, against=path).ok
    back = xr.open_zarr(store, mask_and_scale=False, chunks=None)
    assert back.short.dims == ("t", "y", "x")
    np.testing.assert_array_equal(back.whole, images)
    np.testing.assert_array_equal(back.short[:17], images[:17])
    assert (back.short[17:] == -1).all()


def test_groups_share_the_records_of_a_dimension(tmp_path: Path) -> None:
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("t", None)
        file.createVariable("t", "i8", ("t",))[0:2] = [5, 6]
        group = file.createGroup("below")
        group.createDimension("s", None)
        group.createVariable("long", "f4", ("t",))[0:9] = np.arange(9.0)
        group.createVariable("s", "f4", ("s",))[0:2] = [1, 2]
        group.createGroup("lower").createVariable("more", "u1", ("s",))[0:6] = np.arange(6)
    _same_after_a_round_trip(tmp_path / "a.nc")
    assert _items(tmp_path / "copy_a.nc")["t"][2] == [5, 6, *[-9223372036854775806] * 7]


def test_two_unlimited_dimensions(tmp_path: Path) -> None:
    """Also a coordinate variable of two axes, whose second axis has no scale in HDF5."""
    path, store = tmp_path / "a.nc", tmp_path / "a.zarr"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("t", None)
        file.createDimension("s", None)
        file.createVariable("t", "f8", ("t", "s"))[0:2, 0:3] = [[0, 1, 2], [3, 4, 5]]
        file.createVariable("of_s", "i4", ("s",))[0:6] = np.arange(6)
        file.createVariable("of_t", "i4", ("t",))[0:4] = np.arange(4)
    gangsaw.compress(path, store)
    report = gangsaw.verify(store, against=path)
    assert (report.problems, report.readers) == ((), (f"h5py {h5py.__version__}",))
    wanted = np.full((4, 6), UNSET)
    wanted[:2, :3] = [[0, 1, 2], [3, 4, 5]]
    found = xr.open_zarr(store, mask_and_scale=False, chunks=None)
    assert found.t.dims == ("t", "s")
    np.testing.assert_array_equal(found.t, wanted)
    gangsaw.decompress(store, tmp_path / "b.nc")
    assert _items(tmp_path / "b.nc")["t"] == (("t", "s"), (4, 6), wanted.tolist())


@pytest.mark.parametrize("dtype", ["f4", "S1", str, "compound", "enumeration", "lists"])
def test_items_of_all_kinds_have_the_extent_of_their_dimension(tmp_path: Path, dtype: Any) -> None:
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("t", None)
        file.createVariable("n", "i4", ("t",))[0:5] = np.arange(5)
        kind, values = dtype, np.ones(2, dtype if dtype in ("f4", "S1") else "i4")
        if dtype is str:
            values = np.array(["a", "bc"], object)
        if dtype == "compound":
            values = np.ones(2, [("a", "i1"), ("b", "f8")])
            kind = file.createCompoundType(values.dtype, "pair")
        if dtype == "enumeration":
            kind = file.createEnumType("i4", "answer", {"no": 0, "yes": 1})
        if dtype == "lists":
            kind = file.createVLType("i4", "list")
            values = np.empty(2, object)
            values[:] = [np.arange(3, dtype="i4"), np.arange(2, dtype="i4")]
        file.createVariable("v", kind, ("t",))[0:2] = values
    gangsaw.compress(path, tmp_path / "a.zarr")
    report = gangsaw.verify(tmp_path / "a.zarr", against=path)
    assert report.problems == ()
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.nc")
    had, has = (_items(one)["v"] for one in (path, tmp_path / "b.nc"))
    assert has[:2] == had[:2] == (("t",), (5,))
    np.testing.assert_equal(has[2], had[2])


@pytest.mark.parametrize("dtype", ["f4", str])
@pytest.mark.parametrize("name", ["x", "y"])
def test_variables_of_several_axes_with_the_name_of_one(
    tmp_path: Path, name: str, dtype: Any
) -> None:
    values = np.arange(12.0).reshape(3, 4)
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("y", 3)
        file.createDimension("x", 4)
        of = values.astype(str).astype(object) if dtype is str else values
        file.createVariable(name, dtype, ("y", "x"))[:] = of
        file.createVariable("other", "i2", ("y", "x"))[:] = values
    _same_after_a_round_trip(path)


def test_readers_agree_with_the_library(tmp_path: Path) -> None:
    """Both readers, each by itself, against NetCDF's own."""
    path = _records(tmp_path / "a.nc", "i2")
    source, witness = open_netcdf(str(path)), open_netcdf_reader(str(path))
    assert witness is not None
    wanted = _items(path)
    for array in (*source.arrays, *witness.arrays):
        whole = tuple(slice(0, n) for n in array.shape)
        part = tuple(slice(n - 1, n) for n in array.shape)
        assert array.read(whole).tolist() == wanted[array.name][2]
        assert array.read(part).tolist() == np.array(wanted[array.name][2])[part].tolist()


def test_many_variables_along_one_dimension_are_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gangsaw.tasks.formats.hdf5 import open

    with netCDF4.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("t", None)
        for i in range(30):
            file.createVariable(f"v{i}", "i2", ("t",))[0:i] = np.arange(i)
    seen = []
    plain = open.extent_of
    monkeypatch.setattr(open, "extent_of", lambda scale: seen.append(scale) or plain(scale))
    source = open_netcdf(str(tmp_path / "a.nc"))
    assert {array.shape for array in source.arrays} == {(29,)}
    assert len(seen) == 1
