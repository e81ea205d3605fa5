"""A small file or store of every format, written at a path."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr
import zarr

from helpers.envi_files import cube, write_envi


def netcdf(path: Path) -> None:
    xr.Dataset({"a": (("y", "x"), np.eye(3))}).to_netcdf(path, engine="h5netcdf")


def netcdf3(path: Path) -> None:
    xr.Dataset({"a": (("y", "x"), np.eye(3))}).to_netcdf(path, format="NETCDF3_64BIT")


def hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["Data/cube"] = cube()


def kat(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["Data/correlator_data"] = np.zeros((2, 3, 4, 2), "f4")


def envi(path: Path) -> None:
    write_envi(path.with_suffix(".hdr"), cube())


def envi_by_content(path: Path) -> None:
    """A header whose suffix is none of ENVI's."""
    write_envi(path.with_suffix(".hdr"), cube()).rename(path)


def zarr2(path: Path) -> None:
    zarr.create_array(path, data=cube(), zarr_format=2)


def zarr3(path: Path) -> None:
    zarr.create_group(path).create_array("cube", data=cube())


def fits(path: Path) -> None:
    path.write_bytes(b"SIMPLE  =                    T".ljust(2880))


def visibilities(path: Path) -> None:
    pytest.importorskip("pyuvdata", reason="the extra radio is not installed")
    from helpers.radio_files import write

    write(path)


def unknown(path: Path) -> None:
    path.write_bytes(b"nothing that anyone knows")


def lone(path: Path) -> None:
    zarr.create_array(path, data=cube())
