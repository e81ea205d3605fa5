"""Visibilities go into a store and come back: to the bit, with all that stood beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray as xr
from command_line import CommandLine
from radio_files import items, main_table, make_uvdata, same_bits, subtables, write, write_as

from gangsaw.tasks.sources.uvdata import AS_IT_IS, quiet_and_offline

HERE = ("--workers", 0)
SMALL = ("--chunks", "time=2,baseline_id=3,frequency=7,polarization=4")

pytest.importorskip("pyuvdata", reason="the extra radio is not installed")


def read(path: Path) -> Any:
    """Return pyuvdata's object of a file, with nothing corrected."""
    from pyuvdata import UVData

    with quiet_and_offline():
        uvdata = UVData()
        uvdata.read(str(path), **AS_IT_IS)
    return uvdata


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("ragged", [False, True])
def test_uvh5_comes_back_identical(
    gangsaw: CommandLine, tmp_path: Path, dtype: str, ragged: bool
) -> None:
    source = write(tmp_path / "a.uvh5", dtype=dtype, ragged=ragged)
    chunks = () if ragged else SMALL
    gangsaw.ok("compress", source, tmp_path / "a.zarr", *HERE, "--quiet")
    gangsaw.ok("verify", tmp_path / "a.zarr", "--against", source, *HERE)
    gangsaw.ok("decompress", tmp_path / "a.zarr", tmp_path / "b.uvh5", *chunks[:0])
    assert items(tmp_path / "b.uvh5") == items(source)


def test_ms_comes_back_identical(gangsaw: CommandLine, tmp_path: Path) -> None:
    source = write(tmp_path / "a.ms")
    gangsaw.ok("compress", source, tmp_path / "a.zarr", *HERE)
    gangsaw.ok("verify", tmp_path / "a.zarr", "--against", source, *HERE)
    gangsaw.ok("decompress", tmp_path / "a.zarr", tmp_path / "b.ms")
    assert_same_ms(source, tmp_path / "b.ms")


def assert_same_ms(a: Path, b: Path) -> None:
    """Every column, to the bit, and every cell of the subtables."""
    before, after = main_table(a), main_table(b)
    assert before.keys() == after.keys()
    assert all(same_bits(before[name], after[name]) for name in before)
    assert repr(subtables(a)) == repr(subtables(b))
