"""What a path is taken for: content before suffix, what the user says before both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.envi_files import cube, write_envi

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.opening import SourceOptions, open_source

PLAIN = SourceOptions()
RAW = SourceOptions(shape=(2, 2), dtype="u1")
GROUP = SourceOptions(group="Data")


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


TAKEN = [
    (envi, "a.hdr", PLAIN, "EnviSource"),
    (envi, "a.img", PLAIN, "EnviSource"),
    (envi_by_content, "a.header", PLAIN, "EnviSource"),
    (zarr2, "a", PLAIN, "ZarrSource"),
    (zarr3, "a.nc", PLAIN, "ZarrSource"),
    (netcdf, "a", PLAIN, "XarraySource"),
    (netcdf, "a.hdr", PLAIN, "XarraySource"),
    (netcdf3, "a", PLAIN, "XarraySource"),
    (hdf5, "a", GROUP, "XarraySource"),
    (kat, "a.nc", PLAIN, "RadioSource"),
    (kat, "a.h5", GROUP, "XarraySource"),
    (unknown, "a", RAW, "RawSource"),
    (netcdf, "a.nc", RAW, "RawSource"),
    (envi, "a.img", RAW, "RawSource"),
    (visibilities, "a.uvh5", PLAIN, "RadioSource"),
    (visibilities, "a.ms", PLAIN, "RadioSource"),
    (visibilities, "a.uvfits", PLAIN, "RadioSource"),
    (visibilities, "a.miriad", PLAIN, "RadioSource"),
]

REFUSED = [
    (unknown, "a", "is of no known format"),
    (unknown, "a.hdr", "is not an ENVI header"),
    (Path.mkdir, "a", "no Zarr array or group there"),
    (fits, "a.fits", "is FITS but not uvfits"),
    (lambda _: None, "a", "no such file or directory"),
]


@pytest.mark.parametrize(("write", "name", "options", "kind"), TAKEN)
def test_taken_for(
    tmp_path: Path, write: Callable[[Path], None], name: str, options: SourceOptions, kind: str
) -> None:
    write(tmp_path / name)
    assert type(open_source(str(tmp_path / name), options)).__name__ == kind


@pytest.mark.parametrize(("write", "name", "line"), REFUSED)
def test_refused(tmp_path: Path, write: Callable[[Path], None], name: str, line: str) -> None:
    write(tmp_path / name)
    with pytest.raises(BadParams, match=line):
        open_source(str(tmp_path / name))
