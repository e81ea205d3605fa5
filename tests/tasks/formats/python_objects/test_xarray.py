"""Data of xarray as sources: what `to_zarr` would keep is kept, and what it refuses is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import xarray as xr
import zarr
from zarr.codecs import GzipCodec

import gangsaw

RNG = np.random.default_rng(7)
CUBE = RNG.integers(0, 4096, (3, 16, 20), "u2")


def _dataset() -> xr.Dataset:
    return xr.Dataset(
        {
            "cube": (("t", "y", "x"), CUBE, {"units": "counts"}),
            "level": (("t", "y"), RNG.normal(size=(3, 16)).astype("f4")),
            "number": ("t", np.array([1, -(1 << 40), 3])),
            "is_good": ("t", np.array([True, False, True])),
            "one": ((), 5),
        },
        coords={
            "t": pd.date_range("2020-01-01", periods=3),
            "site": ("t", np.array(["a", "bé", ""], object)),
            "wide": (("y", "x"), RNG.normal(size=(16, 20))),
        },
        attrs={"title": "all kinds", "numbers": [1, 2]},
    )


@pytest.mark.parametrize("chunks", [None, {"t": 1, "x": 7}])
def test_a_data_set_comes_back(chunks: dict[str, int] | None, tmp_path: Path) -> None:
    data = _dataset() if chunks is None else _dataset().chunk(chunks)
    gangsaw.compress(data, tmp_path / "a.zarr")
    assert gangsaw.verify(tmp_path / "a.zarr", against=data).ok
    with xr.open_zarr(tmp_path / "a.zarr") as opened:
        xr.testing.assert_identical(opened.load(), data.load())
    stored = zarr.open_group(tmp_path / "a.zarr", mode="r")
    assert "Ccsds123" in str(stored["cube"].metadata.codecs)


def test_a_tree_comes_back(tmp_path: Path) -> None:
    data = _dataset()
    tree = xr.DataTree.from_dict({"/": data, "/a": data[["level"]].chunk(t=1), "/a/b": data[["t"]]})
    tree["a/c"] = xr.DataTree(xr.Dataset(attrs={"note": "alone"}))
    gangsaw.compress(tree, tmp_path / "a.zarr")
    assert gangsaw.verify(tmp_path / "a.zarr", against=tree).ok
    with xr.open_datatree(tmp_path / "a.zarr", engine="zarr") as opened:
        xr.testing.assert_identical(opened.load(), tree.load())


def test_a_data_array_without_a_name(tmp_path: Path) -> None:
    array = xr.DataArray(CUBE, dims=("band", "y", "x"), attrs={"a": 1})
    gangsaw.compress(array, tmp_path / "a.zarr")
    with xr.open_zarr(tmp_path / "a.zarr") as opened:
        xr.testing.assert_identical(opened["data"].load(), array.rename("data"))


def test_encodings_hold_and_those_of_the_other_store_do_not(tmp_path: Path) -> None:
    data = _dataset()
    scaled = {"dtype": "i2", "scale_factor": 0.001, "_FillValue": -9}
    own = {"level": {**scaled, "compressors": (GzipCodec(),), "chunks": (1, 16)}}
    data.to_zarr(tmp_path / "in.zarr", encoding=own, consolidated=False)
    with xr.open_zarr(tmp_path / "in.zarr", consolidated=False) as lazy:
        gangsaw.compress(lazy, tmp_path / "a.zarr")
        stored = zarr.open_group(tmp_path / "a.zarr", mode="r")["level"]
        assert stored.dtype == "int16"
        assert stored.attrs["scale_factor"] == 0.001
        assert "gzip" not in str(stored.metadata.codecs).lower()
        with xr.open_zarr(tmp_path / "a.zarr") as opened:
            xr.testing.assert_identical(opened.load(), lazy.load())


def test_files_that_are_not_loaded_stay_so(tmp_path: Path) -> None:
    _dataset().drop_vars(["site", "is_good"]).to_netcdf(tmp_path / "in.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "in.nc", engine="h5netcdf") as lazy:
        gangsaw.compress(lazy, tmp_path / "a.zarr")
        assert not lazy["cube"].variable._in_memory
        assert gangsaw.verify(tmp_path / "a.zarr", against=lazy).ok


def _levels() -> xr.Dataset:
    index = pd.MultiIndex.from_product([[1, 2], [3]], names=["a", "b"])
    coords = xr.Coordinates.from_pandas_multiindex(index, "pair")
    return xr.Dataset({"v": ("pair", [1.0, 2.0])}, coords=coords)


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "levels": (_levels, r"pair is of a MultiIndex.*reset_index\('pair'\)"),
    "coordinates alone": (lambda: xr.Dataset(coords={"x": [1, 2]}), "no array.*found: x"),
    "name of a coordinate": (
        lambda: xr.DataArray(CUBE[0], dims=("y", "x"), coords={"y": range(16)}, name="y"),
        "the DataArray y: .*rename it",
    ),
    "attribute": (
        lambda: xr.Dataset({"v": (("y", "x"), CUBE[0], {"made": object()})}),
        "attribute 'made' of v is a object",
    ),
    "objects": (lambda: xr.Dataset({"v": ("y", [{}, 1])}), "v holds objects .dict, int."),
    "a path": (lambda: xr.Dataset({"a/b": (("y", "x"), CUBE[0])}), "a/b: names of variables"),
    "axes": (lambda: xr.Dataset({"v": (("y", "y"), np.eye(3))}), "v has two axes of one name"),
    "unknown extents": (
        lambda: xr.DataArray(da.arange(9, chunks=3)[da.arange(9, chunks=3) > 2], dims="x"),
        "unknown sizes",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
def test_what_no_store_holds_is_refused_by_name(kind: str, tmp_path: Path) -> None:
    make, message = REFUSED[kind]
    with pytest.raises(gangsaw.BadParams, match=message):
        gangsaw.compress(make(), tmp_path / "a.zarr")  # type: ignore[arg-type]
    assert not (tmp_path / "a.zarr").exists()


def test_some_variables_are_taken(tmp_path: Path) -> None:
    gangsaw.compress(_dataset(), tmp_path / "a.zarr", variables=["cube"])
    assert (
        {"cube", "t"}
        <= set(zarr.open_group(tmp_path / "a.zarr", mode="r"))
        <= {*("cube", "t", "site", "wide", "one")}
    )
