"""HDF5 behind a user block, as MATLAB writes it: found, compared, and given back with its block."""

from __future__ import annotations

import tarfile
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr
from helpers.radio_files import write

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.opening import find_format

MATLAB = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(128)


def _matlab(path: Path, size: int) -> Path:
    with h5py.File(path, "w", userblock_size=size) as file:
        file["image"] = np.arange(60, dtype="f8").reshape(3, 4, 5)
        file["table"] = np.zeros(3, [("a", "i4"), ("b", "f8")])
    with path.open("r+b") as file:
        file.write(MATLAB)
    return path


@pytest.mark.parametrize("size", [512, 1024, 4096])
def test_a_file_behind_a_user_block(tmp_path: Path, size: int) -> None:
    path, store = _matlab(tmp_path / "a.mat", size), tmp_path / "a.zarr"
    gangsaw.compress(path, store)
    report = gangsaw.verify(store, against=path)
    assert report.ok
    assert any("h5py" in reader for reader in report.readers)
    assert (xr.open_zarr(store, chunks=None)["image"].values.ravel() == np.arange(60)).all()
    assert gangsaw.decompress(store, tmp_path / "b.h5") == ()
    assert (tmp_path / "b.h5").read_bytes()[:size] == path.read_bytes()[:size]
    with h5py.File(tmp_path / "b.h5") as file:
        assert file["image"][...].ravel().tolist() == list(range(60))
        assert not [name for name in file.attrs if name.startswith("gangsaw")]


def test_visibilities_behind_a_user_block(tmp_path: Path) -> None:
    plain, path = write(tmp_path / "a.uvh5"), tmp_path / "b.uvh5"
    path.write_bytes(MATLAB.ljust(512, b"\0") + plain.read_bytes())
    assert find_format([str(path)]).name == "uvh5"


def test_an_archive_is_none(tmp_path: Path) -> None:
    """Its first member lies behind 512 bytes, and the others would be lost."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["image"] = np.arange(60.0)
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.USTAR_FORMAT) as archive:
        archive.add(tmp_path / "a.h5", "a.h5")
    assert h5py.is_hdf5(tmp_path / "a.tar")
    with pytest.raises(BadParams, match="no known format"):
        gangsaw.compress(tmp_path / "a.tar", tmp_path / "a.zarr")


def test_other_files_are_none(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(5000))
    with pytest.raises(BadParams, match="no known format"):
        gangsaw.compress(tmp_path / "a.bin", tmp_path / "a.zarr")
