"""Samples that went through a filter of HDF5 which is not on this machine: told at opening."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from helpers.command_line import CommandLine

import gangsaw
from gangsaw.codecs.core.errors import BadParams

UNKNOWN = 32999  # registered by nobody


def filtered(path: Path, number: int, name: str = "v") -> str:
    """Write a file of one array behind a filter, whatever its chunk holds, and a plain one."""
    with h5py.File(path, "w") as file:
        how = {"compression": number, "compression_opts": (0, 2), "allow_unknown_filter": True}
        made = file.create_dataset(name, (800, 90), "i4", chunks=(800, 90), **how)
        made.id.write_direct_chunk((0, 0), b"\1" * 40)
        file["plain"] = np.arange(60_000).reshape(200, 300)
    return str(path)


@pytest.mark.parametrize("name", ["v", "group/v"])
def test_it_is_told_before_anything_is_written(tmp_path: Path, name: str) -> None:
    path = filtered(tmp_path / "a.h5", UNKNOWN, name)
    said = rf"{name} is compressed by HDF5 filter {UNKNOWN}.*PLUGIN_PATH"
    with pytest.raises(BadParams, match=said):
        gangsaw.compress(path, tmp_path / "a.zarr")
    assert not (tmp_path / "a.zarr").exists()
    summary = gangsaw.compress(path, tmp_path / "a.zarr", accept_loss=True)
    assert [note for note in summary.notes if f"filter {UNKNOWN}" in note]
    opened = gangsaw.open(tmp_path / "a.zarr")
    np.testing.assert_array_equal(opened["plain"], np.arange(60_000).reshape(200, 300))
    assert gangsaw.verify(tmp_path / "a.zarr", against=path, accept_loss=True).ok


def test_a_dry_run_says_it(tmp_path: Path, gangsaw: CommandLine) -> None:
    path = filtered(tmp_path / "a.h5", UNKNOWN)
    line = gangsaw("compress", path, str(tmp_path / "a.zarr"), "--dry-run").failed(2)
    assert f"filter {UNKNOWN}" in line


@pytest.mark.parametrize(("number", "called"), [(32008, "Bitshuffle"), (32015, "Zstandard")])
def test_the_package_that_brings_it_is_named(tmp_path: Path, number: int, called: str) -> None:
    path, target = str(tmp_path / "a.h5"), str(tmp_path / "a.zarr")
    code = f"""
import sys
sys.modules["hdf5plugin"] = None
import h5py
import gangsaw
with h5py.File({path!r}, "w") as file:
    how = {{"compression": {number}, "allow_unknown_filter": True}}
    made = file.create_dataset("v", (800, 90), "i4", chunks=(800, 90), **how)
    made.id.write_direct_chunk((0, 0), b"1234")
gangsaw.compress({path!r}, {target!r})
"""
    # netCDF4 names a folder of plugins for its process and all below
    env = {name: value for name, value in os.environ.items() if name != "HDF5_PLUGIN_PATH"}
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
    said = f"HDF5 filter {number} ({called}), which is not installed: pip install hdf5plugin"
    assert said in done.stderr


def test_filters_of_hdf5plugin_are_found_wherever_a_file_is_read(tmp_path: Path) -> None:
    plugin = pytest.importorskip("hdf5plugin", reason="hdf5plugin is not installed")
    values = np.arange(800 * 90).reshape(800, 90)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("v", data=values, chunks=(100, 90), **plugin.Bitshuffle())
    store = tmp_path / "a.zarr"
    line = f"import gangsaw; gangsaw.compress({str(tmp_path / 'a.h5')!r}, {str(store)!r})"
    subprocess.run([sys.executable, "-c", line], check=True)  # nothing has imported it there
    np.testing.assert_array_equal(gangsaw.open(store)["v"], values)


def test_visibilities(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.uvh5", "w") as file:
        file["Header/time_array"] = np.zeros(3)
        how = {"compression": UNKNOWN, "allow_unknown_filter": True}
        file.create_dataset("Data/visdata", (3, 4, 1), "c8", chunks=(3, 4, 1), **how)
    with pytest.raises(BadParams, match=f"Data/visdata is compressed by HDF5 filter {UNKNOWN}"):
        gangsaw.compress(str(tmp_path / "a.uvh5"), tmp_path / "a.zarr")
