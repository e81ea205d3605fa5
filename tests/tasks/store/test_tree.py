"""Stores with groups below: arrays are called by paths, in every job."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.opening import SourceOptions, open_source
from gangsaw.tasks.store.dataset.paths import check_paths, resolve_paths, resolve_reference


def tree() -> xr.DataTree:
    """A cube in a group below another, whose axis of bands has its wavelengths above."""
    steps = np.random.default_rng(1).integers(-3, 4, (8, 40, 50))
    groups = {
        "/": xr.Dataset(attrs={"title": "scene"}),
        "/swath": xr.Dataset({"wavelength": ("band", np.arange(8.0))}, attrs={"sensor": "HCO"}),
        "/swath/Data Fields": xr.Dataset(
            {"cube": (("band", "y", "x"), np.cumsum(steps, axis=2).astype("i2"))}
        ),
        "/swath/Geolocation": xr.Dataset({"lat": (("y", "x"), np.ones((40, 50)))}),
        "/other": xr.Dataset({"lat": (("y",), np.ones(3))}),  # another y
        "/empty": xr.Dataset(attrs={"kept": 1}),
    }
    return xr.DataTree.from_dict(groups)


@pytest.fixture(params=[2, 3])
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The tree in a store of either version of Zarr."""
    tree().to_zarr(tmp_path / "a.zarr", zarr_format=request.param, consolidated=False)
    return tmp_path / "a.zarr"


def opened(path: Path) -> xr.DataTree:
    return xr.open_datatree(path, engine="zarr", chunks=None).load()


def test_a_tree_comes_back(written: Path) -> None:
    store, copy = written.with_name("b.zarr"), written.with_name("c.zarr")
    summary = gangsaw.compress(written, store)
    assert summary.arrays == ("swath/Data Fields/cube", "swath/Geolocation/lat")
    codecs = json.loads((store / "swath/Data Fields/cube/zarr.json").read_text())["codecs"]
    assert codecs[0]["name"] == "gangsaw.ccsds123"
    assert gangsaw.verify(store, against=written).ok
    gangsaw.decompress(store, copy)
    for path in (store, copy):
        xr.testing.assert_identical(opened(path), tree())


def test_a_damaged_chunk_below_is_found(written: Path) -> None:
    store = written.with_name("b.zarr")
    gangsaw.compress(written, store)
    (chunk,) = (p for p in (store / "swath/Data Fields/cube/c").rglob("*") if p.is_file())
    chunk.unlink()
    (problem,) = gangsaw.verify(store).problems
    assert "swath/Data Fields/cube" in problem
    gangsaw.compress(written, store, resume=True)
    assert gangsaw.verify(store, against=written).ok


def test_an_array_that_the_group_forgot_is_found(written: Path) -> None:
    store = written.with_name("b.zarr")
    gangsaw.compress(written, store)
    for node in ("", "swath/", "swath/Data Fields/"):  # no copies of metadata anywhere
        path = store / node / "zarr.json"
        plain = json.loads(path.read_text())
        plain.pop("consolidated_metadata", None)
        path.write_text(json.dumps(plain))
    assert "swath/Data Fields/cube" in gangsaw.verify(store).arrays


def test_info_and_plot_name_the_path(written: Path) -> None:
    gangsaw.compress(written, written.with_name("b.zarr"))
    info = gangsaw.info(written.with_name("b.zarr"))
    assert [array.name for array in info.arrays] == [
        "swath/Data Fields/cube",
        "swath/Geolocation/lat",
    ]
    assert gangsaw.plot(written.with_name("b.zarr")).axes


@pytest.mark.parametrize("name", ["cube", "swath/Data Fields/cube", "/swath/Data Fields/cube"])
def test_a_variable_is_named_by_path_or_last_name(written: Path, name: str) -> None:
    source = open_source(str(written), SourceOptions(variables=(name,)))
    assert [a.name for a in source.arrays] == ["swath/Data Fields/cube"]
    assert [c.name for c in source.coords] == ["swath/wavelength"]  # not the other y's lat


def test_a_last_name_of_several_is_refused(written: Path) -> None:
    with pytest.raises(BadParams, match=r"several variables: other/lat, swath/Geolocation/lat"):
        open_source(str(written), SourceOptions(variables=("lat",)))


def test_a_group_is_named_by_its_path(written: Path) -> None:
    source = open_source(str(written), SourceOptions(group="swath"))
    assert [a.name for a in source.arrays] == ["Data Fields/cube", "Geolocation/lat"]


def test_where_nothing_is_there_groups_are_listed(tmp_path: Path) -> None:
    zarr.create_group(tmp_path / "a.zarr").create_group("one").create_group("two")
    with pytest.raises(BadParams, match=r"holds no arrays; groups in it: one, one/two"):
        open_source(str(tmp_path / "a.zarr"))


def test_names_of_a_tree() -> None:
    there = {"lat", "a/lat", "a/b/cube", "c/lon"}
    assert resolve_reference("a/b/cube", "lat", there) == "a/lat"
    assert resolve_reference("a/b/cube", "/c/lon", there) == "c/lon"
    assert resolve_reference("a/b/cube", "lon", there) is None
    assert resolve_paths(["lat", "cube", "gone"], there) == ("lat", "a/b/cube", "gone")


@pytest.mark.parametrize("names", [["a", "a"], ["a//b"], ["/a"], ["a/../b"], [""], ["a", "a/b"]])
def test_names_that_are_none(names: list[str]) -> None:
    with pytest.raises(BadParams, match=r"names must differ|a variable and a group"):
        check_paths("a.nc", names)
