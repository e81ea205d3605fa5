"""A Zarr store comes back from a store with the names of axes that it had, or without."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr

import gangsaw

NAMES = {
    "none": (None, None),
    "unnamed": None,
    "half": ("y", None),
    "image": ("y", "x"),
    "square": ("y", "y"),
    "small": ("y", "x"),
}
SHAPES = {"small": (10, 20), "square": (10, 10), "half": (300, 5)}


def write(path: Path, names: dict[str, tuple[str | None, ...] | None]) -> Path:
    group = zarr.create_group(path)
    for name, dims in names.items():
        shape = SHAPES.get(name, (300, 200))
        data = np.arange(np.prod(shape), dtype="u2").reshape(shape)
        made = group.create_array(
            name, shape=shape, dtype="u2", dimension_names=dims, attributes={"of": name}
        )
        made[...] = data
    return path


def axes(path: Path) -> dict[str, object]:
    found = zarr.open_group(path, mode="r").arrays()
    return {name: (a.metadata.dimension_names, dict(a.attrs)) for name, a in found}


def test_axes_of_zarr_come_back(tmp_path: Path) -> None:
    path, store, copy = write(tmp_path / "a.zarr", NAMES), tmp_path / "s.zarr", tmp_path / "c.zarr"
    gangsaw.compress(path, store)  # and the copy is as its source, which xarray cannot read
    with xr.open_zarr(store, chunks=None) as found:
        assert set(found.variables) == set(NAMES)
    assert gangsaw.verify(store, against=path).ok
    assert gangsaw.decompress(store, copy) == ()
    assert axes(copy) == axes(path)
    assert gangsaw.verify(copy, against=path).ok


@pytest.mark.parametrize("names", [None, (None, None), ("y", None), ("y", "y"), ("y", "x")])
def test_axes_of_an_array_alone_come_back(
    tmp_path: Path, names: tuple[str | None, ...] | None
) -> None:
    path, store, copy = tmp_path / "a.zarr", tmp_path / "s.zarr", tmp_path / "c.zarr"
    zarr.create_array(path, shape=(30, 20), dtype="u2", dimension_names=names)[...] = 3
    gangsaw.compress(path, store)
    gangsaw.decompress(store, copy)
    found = zarr.open_array(copy, mode="r")
    assert (found.metadata.dimension_names, dict(found.attrs)) == (names, {})


@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
def test_a_table_without_names_of_axes_comes_back_so(tmp_path: Path) -> None:
    path, store, copy = tmp_path / "a.zarr", tmp_path / "s.zarr", tmp_path / "c.zarr"
    group = zarr.create_group(path)
    group.create_array("image", shape=(30, 20), dtype="u2")[...] = 3
    group.create_array("codes", shape=(4, 5), dtype="S3")[...] = b"ab"
    gangsaw.compress(path, store)
    gangsaw.decompress(store, copy)
    assert axes(copy) == axes(path)


def test_axes_without_names_are_no_loss(tmp_path: Path) -> None:
    path, store = write(tmp_path / "a.zarr", {"none": (None, None)}), tmp_path / "s.zarr"
    gangsaw.compress(path, store)
    assert not any("as_read" in line for line in gangsaw.decompress(store, tmp_path / "c.nc"))
    lost = gangsaw.decompress(store, tmp_path / "c.raw", accept_loss=True)
    assert not any("as_read" in line for line in lost)
