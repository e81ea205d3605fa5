"""What a path is taken for: content before suffix, what the user says before both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.small_files import (
    envi,
    envi_by_content,
    fits,
    hdf5,
    kat,
    netcdf,
    netcdf3,
    unknown,
    visibilities,
    zarr2,
    zarr3,
)

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.opening import SourceOptions, open_source

PLAIN = SourceOptions()
RAW = SourceOptions(own={"shape": (2, 2), "dtype": "u1"}, accept_loss=True)
GROUP = SourceOptions(group="Data")


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
    (visibilities, "a.miriad", SourceOptions(accept_loss=True), "RadioSource"),
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
