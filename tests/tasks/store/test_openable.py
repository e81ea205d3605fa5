"""A store opens in plain xarray whatever the attributes of its source say, and gives them back."""

from __future__ import annotations

from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr

import gangsaw

MISLEADING = {
    "encoding": (np.arange(6.0), {"_Encoding": "utf-8"}),
    "time_of_no_date": (np.arange(6.0), {"units": "days since the launch"}),
    "time_too_far": (np.array([0, 1, 2, 3, 4, 1e30]), {"units": "days since 2000-01-01"}),
    "calendar": (np.arange(6.0), {"units": "days since 2000-01-01", "calendar": "martian"}),
    "timedelta": (np.arange(6), {"units": "days", "dtype": "timedelta64[Y]"}),
    "unsigned": (np.arange(6.0), {"_Unsigned": "true"}),
    "scale_text": (np.arange(6), {"scale_factor": "0.1"}),
    "scale_several": (np.arange(6), {"scale_factor": [0.1, 0.2], "add_offset": [1, 2]}),
    "missing_text": (np.arange(6), {"missing_value": "none"}),
    "fill_text": (np.arange(6.0), {"_FillValue": "none"}),
    "coordinates": (np.arange(6), {"coordinates": [1, 2]}),
    "bounds": (np.arange(6), {"units": "days since 2000-01-01", "bounds": [1, 2]}),
    "grid_mapping": (np.arange(6), {"grid_mapping": 7}),
    "two_at_once": (np.arange(6), {"_Unsigned": [1, 2], "coordinates": 7, "units": "s since x"}),
    "fitting": (np.arange(6), {"units": "days since 2000-01-01", "scale_factor": 2.0}),
}
FINE = {"fitting", "grid_mapping", "missing_text"}  # xarray passes over these


@pytest.mark.parametrize("shape", [(6,), (3, 2)])
@pytest.mark.parametrize("case", MISLEADING)
def test_misleading_attributes(tmp_path: Path, case: str, shape: tuple[int, ...]) -> None:
    values, attrs = MISLEADING[case]
    path, store, copy = tmp_path / "a.h5", tmp_path / "b.zarr", tmp_path / "c.nc"
    with h5py.File(path, "w") as file:
        file["image"] = np.arange(60, dtype="i2").reshape(3, 4, 5)
        file["odd"] = values.reshape(shape)
        file["odd"].attrs.update(attrs)
        file["odd"].attrs["long_name"] = "stays"
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path).problems == ()
    with xr.open_zarr(store, chunks=None) as data:
        assert data["odd"].attrs["long_name"] == "stays"
        assert data.load()["odd"].size == 6
        assert ("gangsaw_as_read" in data["odd"].attrs) == (case not in FINE)
    gangsaw.decompress(store, copy)
    with h5py.File(copy) as found:
        assert {k: np.ravel(found["odd"].attrs[k]).tolist() for k in attrs} == {
            k: np.ravel(np.array(v)).tolist() for k, v in attrs.items()
        }


def test_texts_of_netcdf(tmp_path: Path) -> None:
    path, store, copy = tmp_path / "a.nc", tmp_path / "b.zarr", tmp_path / "c.nc"
    with netCDF4.Dataset(path, "w") as file:
        for name, n in {"y": 3, "x": 4, "length": 5}.items():
            file.createDimension(name, n)
        file.createVariable("image", "i2", ("y", "x"))[...] = 1
        station = file.createVariable("station", "S1", ("y", "length"))
        station._Encoding = "utf-8"
        station[...] = np.array(["Genf", "Bern", "Chur"])
    gangsaw.compress(path, store)
    with xr.open_zarr(store) as data:
        assert data["station"].values.tolist() == ["Genf", "Bern", "Chur"]
    gangsaw.decompress(store, copy)
    with netCDF4.Dataset(copy) as found:
        assert found["station"]._Encoding == "utf-8"
        assert found["station"][...].tolist() == ["Genf", "Bern", "Chur"]
