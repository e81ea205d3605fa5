"""Arrays of fixed-size texts, of records and of long doubles come back as they were."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import h5py
import numpy as np
import pytest
import xarray as xr

import gangsaw

RECORD = np.dtype([("a", "i4"), ("b", ">f8"), ("c", "U3"), ("d", "i2", (2,)), ("e", [("f", "u1")])])
ALIGNED = np.dtype([("a", "i1"), ("b", "f8")], align=True)


def _records(dtype: np.dtype[Any], *shape: int) -> np.ndarray[Any, Any]:
    found = np.zeros(shape, dtype)
    found["a"] = np.arange(found.size).reshape(shape) % 100
    found["b"] = np.linspace(0, 1, found.size).reshape(shape)
    return found


ITEMS: dict[str, np.ndarray[Any, Any]] = {
    "U": np.array([["a", "bé"], ["", "long"]]),
    "U of the other order of bytes": np.array(["a", "bé"], ">U2"),
    "U with NUL": np.array(["a\0b", "c"]),
    "U without Unicode": np.array(["\ud800", "c"]),
    "U without characters": np.array(["", ""]),
    "U without items": np.zeros((0, 3), "U4"),
    "U without axes": np.array("abc"),
    "S": np.array([[b"a", b"bc"], [b"", b"d"]]),
    "S without Unicode": np.array([b"a\xff", b"bc"]),
    "S with NUL": np.array([b"a\0b", b"c"]),
    "records": _records(RECORD, 30, 20),
    "aligned records": _records(ALIGNED, 50),
    "records without axes": _records(RECORD, 1).reshape(()),
    "records without items": _records(RECORD, 0),
    "long double": np.arange(6, dtype="g").reshape(2, 3) / 3,
    "complex long double": np.arange(6, dtype="G") / 3,
    "long double of the other order of bytes": np.arange(3, dtype=np.dtype("g").newbyteorder()) / 7,
    "bytes": np.array([b"abc", b"\0ef"], "V3"),
}
Given = Callable[[Any], Any]
AS: dict[str, Given] = {
    "NumPy": lambda values: values,
    "Dask": lambda values: da.from_array(
        values, chunks=tuple(-(-n // 2) or 1 for n in values.shape)
    ),
    "xarray": lambda values: xr.Dataset({"data": (list("xyz")[: values.ndim], values)}),
    "coordinate": lambda values: xr.Dataset(
        {"n": (list("xyz")[: values.ndim], np.zeros(values.shape))},
        coords={"data": (list("xyz")[: values.ndim], values)},
    ),
}


@pytest.mark.parametrize("given", AS)
@pytest.mark.parametrize("items", ITEMS)
def test_items_come_back(tmp_path: Path, items: str, given: str) -> None:
    values = ITEMS[items]
    data = AS[given](values)
    gangsaw.compress(data, tmp_path / "a.zarr")
    assert gangsaw.verify(tmp_path / "a.zarr", against=data).ok
    opened = gangsaw.open(tmp_path / "a.zarr")
    back = opened["data"]
    assert (back.dtype, back.shape, back.attrs) == (values.dtype, values.shape, {})
    assert set(opened.sizes) == set(back.dims)
    found = back.values
    assert found.dtype == values.dtype
    assert found.tobytes() == values.tobytes()
    gangsaw.compress(opened.load(), tmp_path / "b.zarr")  # nothing in it is of the first store
    again = gangsaw.open(tmp_path / "b.zarr")["data"]
    assert (again.dtype, again.values.tobytes()) == (values.dtype, values.tobytes())


@pytest.mark.parametrize("dtype", ["U8", "S8", ALIGNED])
def test_large_arrays_stay_lazy(tmp_path: Path, dtype: Any) -> None:
    """Chunks along all axes, and a window of one of them."""
    numbers = np.arange(1000 * 900).reshape(1000, 900)
    is_records = dtype is ALIGNED
    values = _records(ALIGNED, 1000, 900) if is_records else numbers.astype(dtype)
    gangsaw.compress(values, tmp_path / "a.zarr", chunks={"dim_0": 256, "dim_1": 450})
    back = gangsaw.open(tmp_path / "a.zarr")["data"]
    assert back.chunks == ((256, 256, 256, 232), (450, 450))
    # bytes between members mean nothing, and NumPy's copies differ there
    np.testing.assert_array_equal(back[700:710, 440:460].values, values[700:710, 440:460])
    np.testing.assert_array_equal(back.values, values)


def test_items_in_groups(tmp_path: Path) -> None:
    part = xr.Dataset({"u": ("x", _records(RECORD, 4)), "n": ("x", np.arange(4.0))})
    tree = xr.DataTree.from_dict({"/": part, "/below": part})
    gangsaw.compress(tree, tmp_path / "a.zarr")
    back = gangsaw.open(tmp_path / "a.zarr")
    for path in ("/u", "/below/u"):
        assert back[path].values.tobytes() == part["u"].values.tobytes()


def test_times_of_other_units_are_the_same_times(tmp_path: Path) -> None:
    for unit, own in {"10us": "us", "Y": "s", "h": "ns", "5D": "s"}.items():
        values = np.array([1, 2, "NaT"], f"M8[{unit}]")
        gangsaw.compress(values, tmp_path / "a.zarr", overwrite=True)
        back = gangsaw.open(tmp_path / "a.zarr")["data"].values
        assert back.dtype.kind == "M", own
        np.testing.assert_array_equal(back, values)


def test_items_of_hdf5(tmp_path: Path) -> None:
    """Compounds, and lists of any length."""
    records = _records(np.dtype([("a", "i4"), ("b", "f8")]), 300)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["numbers"] = np.zeros((30, 40))
        file["records"] = records
        lists = file.create_dataset("lists", (2,), h5py.vlen_dtype("i4"))
        lists[0], lists[1] = [1, 2, 3], [4]
    gangsaw.compress(tmp_path / "a.h5", tmp_path / "a.zarr")
    back = gangsaw.open(tmp_path / "a.zarr")
    assert back["records"].values.tobytes() == records.tobytes()
    assert [list(one) for one in back["lists"].values] == [[1, 2, 3], [4]]


def test_items_of_no_bytes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(gangsaw.BadParams, match=r"data holds items of no bytes \(\|V0\)"):
        gangsaw.compress(np.zeros(3, "V0"), tmp_path / "a.zarr")
