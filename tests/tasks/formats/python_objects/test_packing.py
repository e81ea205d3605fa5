"""Packings in `.encoding` hold where they give every value back, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import dask.array as da
import numpy as np
import pytest
import xarray as xr
import zarr

import gangsaw
from gangsaw.tasks.formats.python_objects import packing

SCALED = {"dtype": "i2", "scale_factor": 0.25, "add_offset": 10.0, "_FillValue": -32767}
DAY = "days since 2020-01-01"
CASES = {  # values, encoding, whether it gives them back
    "exact": ([10.25, -3.5, np.nan], SCALED, True),
    "edited in place": ([10.25, 10.3, np.nan], SCALED, False),
    "wraps around": ([10.25, 1e6, np.nan], SCALED, False),
    "NaN without a fill value": ([1.0, np.nan], {"dtype": "u2", "scale_factor": 0.5}, False),
    "a value that is the fill value": ([-999.0, 2.0], {"_FillValue": -999.0}, False),
    "integers that wrap around": ([1, 300], {"dtype": "u1"}, False),
    "integers that fit": ([1, 200], {"dtype": "u1"}, True),
    "fewer bits": ([0.1, 0.2], {"dtype": "f4"}, False),
    "whole days": (
        np.array(["2020-01-03", "2021-01-01"], "M8[ns]"),
        {"units": DAY, "dtype": "i8"},
        True,
    ),
    "hours as days": (
        np.array(["2020-01-03T07", "NaT"], "M8[ns]"),
        {"units": DAY, "dtype": "i4"},
        False,
    ),
    "integers above 2**53": ([2**53 + 1, 5], {"_FillValue": -1}, False),
    "integers above 2**53 as floats": ([2**53 + 1, 5], {"dtype": "f8"}, False),
    "the largest of unsigned integers": (
        np.array([2**64 - 1, 5], "u8"),
        {"missing_value": np.uint64(0)},
        False,
    ),
    "integers of 32 bits": (np.array([2**31 - 1, 5], "i4"), {"_FillValue": -1}, True),
    "zero below zero": ([-0.0, 10.25], SCALED, False),
    "no packing that is": ([1.0, 2.0], {"dtype": "i2", "scale_factor": "many"}, False),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("is_lazy", [False, True], ids=["NumPy", "Dask"])
def test_every_value_comes_back(tmp_path: Path, case: str, is_lazy: bool) -> None:
    values, encoding, fits = CASES[case]
    given = np.asarray(values)
    held = da.from_array(given, chunks=1) if is_lazy else given
    data = xr.Dataset({"u": ("x", held, {}, encoding)})
    summary = gangsaw.compress(data, tmp_path / "a.zarr")
    back = gangsaw.open(tmp_path / "a.zarr")["u"]
    absent = np.isnat if given.dtype.kind == "M" else np.isnan
    np.testing.assert_array_equal(absent(back.values), absent(given))
    np.testing.assert_array_equal(back.values[~absent(given)], given[~absent(given)])
    assert any("does not give every value back" in line for line in summary.notes) != fits
    assert gangsaw.verify(tmp_path / "a.zarr", against=data).ok
    assert data["u"].encoding == encoding  # what the caller has stays as it is


def test_a_packing_that_fits_is_used(tmp_path: Path) -> None:
    values = np.arange(4 * 500 * 600).reshape(4, 500, 600) % 60_000 * 0.25 - 7000
    data = xr.Dataset({"u": (("t", "y", "x"), values, {}, SCALED)})
    gangsaw.compress(data, tmp_path / "a.zarr")
    stored = zarr.open_group(tmp_path / "a.zarr", mode="r")["u"]
    assert stored.dtype == np.dtype("i2")
    data["u"].values[3, 499, 599] = 0.1  # the last value of the last slab
    gangsaw.compress(data, tmp_path / "b.zarr")
    np.testing.assert_array_equal(gangsaw.open(tmp_path / "b.zarr")["u"], data["u"])


def test_arrays_in_memory_are_looked_at_in_slabs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "SLAB_BYTES", 64)
    values = np.arange(30.0)
    data = xr.Dataset({"u": ("x", values, {}, {"dtype": "i2"})})
    assert packing.drop_lossy_packing(data)[1] == ()
    values[29] = 0.5
    assert len(packing.drop_lossy_packing(data)[1]) == 1


def test_verify_finds_what_an_edit_changed(tmp_path: Path) -> None:
    data = xr.Dataset({"u": ("x", np.arange(40.0) / 4, {}, SCALED)})
    gangsaw.compress(data, tmp_path / "a.zarr")
    data["u"].values[3] = 77.6
    assert not gangsaw.verify(tmp_path / "a.zarr", against=data).ok


def test_files_of_several_packings(tmp_path: Path) -> None:
    for i, (low, high) in enumerate([(0.0, 10.0), (-200.0, 400.0)]):
        part = xr.Dataset({"u": (("t", "x"), np.linspace(low, high, 3000).reshape(30, 100))})
        scale = {"scale_factor": (high - low) / 60_000, "add_offset": (high + low) / 2}
        own = {"u": {"dtype": "i2", "_FillValue": -32767, **scale}}
        part.to_netcdf(tmp_path / f"{i}.nc", encoding=own, engine="h5netcdf")
    paths = [tmp_path / "0.nc", tmp_path / "1.nc"]
    opened = [xr.open_dataset(path, engine="h5netcdf", chunks={}) for path in paths]
    both = xr.concat(opened, "t")
    summary = gangsaw.compress(both, tmp_path / "a.zarr")
    np.testing.assert_array_equal(gangsaw.open(tmp_path / "a.zarr")["u"], both["u"])
    assert [line for line in summary.notes if line.startswith("u: its encoding as int16")]


def test_what_to_zarr_is_told(tmp_path: Path) -> None:
    """xarray's own writing changes no value either."""
    data = xr.Dataset({"u": ("x", [0.3, 1.0], {}, SCALED), "v": ("x", [0.25, 1.0], {}, SCALED)})
    tree = xr.DataTree.from_dict({"/": data[["v"]], "/below": data})
    with pytest.warns(UserWarning, match="u: its encoding as int16"):
        own = gangsaw.encoding(data)
    assert "dtype" not in own["u"]
    assert own["v"]["dtype"] == "i2"
    with pytest.warns(UserWarning, match="below/u: its encoding as int16"):
        assert "dtype" not in gangsaw.encoding(tree)["/below"]["u"]
    with pytest.warns(UserWarning, match="u: its encoding"):
        data.gangsaw.to_zarr(tmp_path / "a.zarr", consolidated=False)
    with xr.open_zarr(tmp_path / "a.zarr", consolidated=False) as back:
        np.testing.assert_array_equal(back["u"], data["u"])


def test_packed_values_are_compared_as_values(tmp_path: Path) -> None:
    values = np.round(np.linspace(0, 10, 32), 2).reshape(4, 8)
    values[1, 2] = np.nan
    packing = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 1.0, "_FillValue": -32767}
    packed = xr.Dataset({"u": (("t", "x"), values, {"units": "K"}, packing)})
    packed.to_netcdf(tmp_path / "a.nc")
    with xr.open_dataset(tmp_path / "a.nc") as file:
        given = file.load()
    assert not gangsaw.compress(given, tmp_path / "a.zarr").notes
    assert zarr.open_group(tmp_path / "a.zarr")["u"].dtype == np.int16
    bare = given.drop_encoding()
    for against in (given, bare, bare.chunk({"t": 2})):
        report = gangsaw.verify(tmp_path / "a.zarr", against=against)
        assert report.ok, report.problems
    assert report.notes == ("u is packed as int16: its values are compared",)
    bare["u"].values[3, 3] += 0.01
    (problem,) = gangsaw.verify(tmp_path / "a.zarr", against=bare).problems
    assert "the samples differ from the source" in problem
    bare["u"].values[3, 3] = np.nan
    assert not gangsaw.verify(tmp_path / "a.zarr", against=bare).ok
    bare["u"].attrs["units"] = "m"
    assert any(
        "units" in line for line in gangsaw.verify(tmp_path / "a.zarr", against=bare).problems
    )
