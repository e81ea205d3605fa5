"""Stores as data of xarray, and back by its own `to_zarr` with our codecs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.clusters import in_process
from zarr.codecs import GzipCodec
from zarr.storage import MemoryStore

import gangsaw
from gangsaw.tasks.formats.python_objects.blocks import make_block_array
from gangsaw.tasks.formats.python_objects.encodings import fit_chunks

RNG = np.random.default_rng(11)
CUBE = RNG.integers(0, 4096, (5, 40, 50), "u2")
GOOD = RNG.random((40, 50)) > 0.1


def _dataset() -> xr.Dataset:
    return xr.Dataset(
        {
            "cube": (("band", "y", "x"), CUBE),
            "number": ("y", np.arange(40) * 7 - 5),
            "is_good": (("y", "x"), GOOD),
        },
        coords={"band": np.arange(5) * 10.5, "name": ("band", np.array(list("abcde")))},
    )


def _plain() -> xr.Dataset:
    """Without texts of one size, of which zarr warns where xarray stores them."""
    return _dataset().drop_vars("name")


def test_a_store_is_a_data_set_of_lazy_arrays(tmp_path: Path) -> None:
    gangsaw.compress(_dataset(), tmp_path / "a.zarr", chunks={"y": 20})
    opened = gangsaw.open(tmp_path / "a.zarr")
    assert isinstance(opened, xr.Dataset)
    assert isinstance(opened["cube"].data, da.Array)
    assert opened["cube"].chunks[1] == (20, 20)
    xr.testing.assert_identical(opened.load(), _dataset())
    assert opened["name"].dtype == "<U1"


def test_a_store_of_groups_is_a_tree(tmp_path: Path) -> None:
    tree = xr.DataTree.from_dict({"/": _dataset(), "/a": xr.Dataset({"v": ("t", [1.5, 2.5])})})
    gangsaw.compress(tree, tmp_path / "a.zarr")
    opened = gangsaw.open(tmp_path / "a.zarr")
    assert isinstance(opened, xr.DataTree)
    assert isinstance(opened["cube"].data, da.Array)
    xr.testing.assert_identical(opened.load(), tree)
    assert isinstance(gangsaw.open(tmp_path / "a.zarr", group="a"), xr.Dataset)
    opened.close()


def test_an_open_store_is_taken_as_well() -> None:
    store = MemoryStore()
    gangsaw.compress(_dataset(), store)
    assert gangsaw.verify(store, against=_dataset()).ok
    xr.testing.assert_identical(gangsaw.open(store).load(), _dataset())
    assert gangsaw.info(store).arrays[0].name == "cube"
    with pytest.raises(gangsaw.BadParams, match="exists"):
        gangsaw.compress(_dataset(), store)


def _spoiled(folder: Path, found: str, put: str) -> None:
    """A store in which the array's metadata say something else."""
    array = np.arange(40).reshape(5, 8)
    group = zarr.open_group(folder, mode="w")
    group.create_array("a", data=array, dimension_names=("y", "x"))
    path = folder / "a" / "zarr.json"
    path.write_text(path.read_text().replace(found, put))


NOT_OPENED: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda path: None, "no Zarr array or group there"),
    "an empty folder": (lambda path: path.mkdir(), "no Zarr array or group there"),
    "a file": (lambda path: path.write_text("a"), "no Zarr array or group there"),
    "an array": (lambda path: zarr.save_array(path, CUBE), "is an array: xarray opens groups"),
    "axes without names": (
        lambda path: zarr.open_group(path, mode="w").create_array("a", data=CUBE),
        "whose axes have no names",
    ),
    "a codec of others": (
        lambda path: _spoiled(path, '"zstd"', '"others.codec"'),
        "others.codec.*: install the package that has this codec",
    ),
    "damage": (lambda path: _spoiled(path, '"shape"', "{"), "the metadata is damaged"),
}


@pytest.mark.parametrize("what", NOT_OPENED)
def test_what_cannot_be_opened_is_said_in_a_line(what: str, tmp_path: Path) -> None:
    make, message = NOT_OPENED[what]
    make(tmp_path / "a.zarr")
    with pytest.raises(gangsaw.GangsawError, match=f"^[^\n]*{message}[^\n]*$") as caught:
        gangsaw.open(tmp_path / "a.zarr")
    assert "a.zarr" in str(caught.value)


def test_a_group_that_is_not_there(tmp_path: Path) -> None:
    zarr.open_group(tmp_path / "a.zarr", mode="w").create_group("there")
    with pytest.raises(gangsaw.BadParams, match=r"groups in .*: there"):
        gangsaw.open(tmp_path / "a.zarr", group="nope")
    with pytest.raises(TypeError, match="foo"):
        gangsaw.open(tmp_path / "a.zarr", foo=1)


def test_what_is_no_store_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="got NoneType: a store is a path"):
        gangsaw.compress(_dataset(), None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="got int: encoding needs a DataArray"):
        gangsaw.encoding(3)  # type: ignore[arg-type]


BLOCKS = [
    ((40,), 30, 30),
    ((10, 10, 7), 30, 10),
    ((10, 10, 7), 4, 2),
    ((64, 64), 30, 16),
    ((7, 7, 2), 3, 7),
    ((6, 4, 8), 100, 2),
]


@pytest.mark.parametrize(("sizes", "wanted", "found"), BLOCKS)
def test_a_chunk_lies_in_one_block(sizes: tuple[int, ...], wanted: int, found: int) -> None:
    array = make_block_array(da.zeros(sum(sizes), chunks=(sizes,)))
    assert fit_chunks(array, [wanted]) == (found,)


@pytest.mark.parametrize("chunks", [None, {"y": 16, "x": 25}])
def test_to_zarr_stores_by_our_codecs(chunks: dict[str, int] | None, tmp_path: Path) -> None:
    data = _plain() if chunks is None else _plain().chunk(chunks)
    data["cube"].encoding |= {"compressors": (GzipCodec(),), "chunks": (1, 1, 1)}
    told = gangsaw.encoding(data)
    assert type(told["cube"]["serializer"]).__name__ == "Ccsds123"
    data.to_zarr(tmp_path / "a.zarr", encoding=told, consolidated=False)
    data.gangsaw.to_zarr(tmp_path / "b.zarr", consolidated=False)
    for name in ("a.zarr", "b.zarr"):
        stored = zarr.open_group(tmp_path / name, mode="r")
        assert "Ccsds123" in str(stored["cube"].metadata.codecs)
        xr.testing.assert_identical(
            xr.open_zarr(tmp_path / name, consolidated=False).load(), data.load()
        )


def test_arrays_and_trees_have_the_accessor(tmp_path: Path) -> None:
    gangsaw.encoding(_dataset())
    array = _plain()["cube"].chunk(x=10).rename(None)
    array.gangsaw.to_zarr(tmp_path / "a.zarr", codec="zstd", consolidated=False)
    assert gangsaw.open(tmp_path / "a.zarr", consolidated=False)["data"].equals(array)
    array.to_zarr(tmp_path / "b.zarr", encoding=gangsaw.encoding(array), consolidated=False)
    tree = xr.DataTree.from_dict({"/": _plain(), "/a": _plain().chunk(y=20)})
    tree.gangsaw.to_zarr(tmp_path / "c.zarr", consolidated=False)
    stored = zarr.open_group(tmp_path / "c.zarr", mode="r")
    assert all("Ccsds123" in str(stored[n].metadata.codecs) for n in ("cube", "a/cube"))
    xr.testing.assert_identical(gangsaw.open(tmp_path / "c.zarr", consolidated=False).load(), tree)


def test_what_an_encoding_says_of_samples_is_kept(tmp_path: Path) -> None:
    data = xr.Dataset({"v": (("y", "x"), RNG.integers(0, 99, (30, 40)) * 0.1)})
    data["v"].encoding = {"dtype": "i2", "scale_factor": 0.1, "_FillValue": -1, "chunks": (3, 4)}
    told = gangsaw.encoding(data, codec="ccsds123")
    data.to_zarr(tmp_path / "a.zarr", encoding=told, consolidated=False)
    stored = zarr.open_group(tmp_path / "a.zarr", mode="r")["v"]
    assert stored.dtype == "int16"
    assert stored.chunks == (30, 40)


def test_the_import_that_registers_the_accessor() -> None:
    lines = "import xarray, gangsaw; assert not hasattr(xarray.Dataset, 'gangsaw')"
    more = "import gangsaw.xarray; assert xarray.Dataset({}).gangsaw.data is not None"
    subprocess.run([sys.executable, "-c", f"{lines}\n{more}"], check=True)


def test_open_compute_compress_open_on_workers(tmp_path: Path) -> None:
    gangsaw.compress(_dataset(), tmp_path / "a.zarr", chunks={"y": 20})
    with in_process() as client:
        data = gangsaw.open(tmp_path / "a.zarr")
        mean = (data["cube"] - data["cube"].mean("band")).rename("anomaly")
        gangsaw.compress(mean, tmp_path / "b.zarr", client=client)
        assert gangsaw.verify(tmp_path / "b.zarr", against=mean, client=client).ok
    xr.testing.assert_identical(gangsaw.open(tmp_path / "b.zarr")["anomaly"].load(), mean.load())
