"""Arrays without samples: every command does its work, or says in a line that there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
import xarray as xr
import zarr
from helpers.command_line import CommandLine


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A Zarr group with an image of no rows."""
    group = zarr.create_group(tmp_path / "empty.zarr")
    group.create_array("data", shape=(3, 0, 5), dtype="u2", dimension_names=("band", "y", "x"))
    return tmp_path / "empty.zarr"


def test_an_empty_array_goes_to_a_store_and_back(
    gangsaw: CommandLine, empty: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store.zarr"
    gangsaw.ok("compress", empty, store, "--workers", 0, "--quiet")
    gangsaw.ok("verify", store, "--against", empty, "--workers", 0, "--quiet")
    assert "3 band x 0 y x 5 x" in gangsaw.ok("info", store).out
    gangsaw.ok("decompress", store, tmp_path / "back.nc", "--quiet")
    assert xr.open_dataset(tmp_path / "back.nc", engine="h5netcdf")["data"].shape == (3, 0, 5)


def test_what_nothing_can_be_made_of_is_one_line(
    gangsaw: CommandLine, empty: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store.zarr"
    gangsaw.ok("compress", empty, store, "--workers", 0, "--quiet")
    assert "nothing to plot" in gangsaw("info", store, "--plot", tmp_path / "p.png").err
    assert not (tmp_path / "p.png").exists()
    assert "no samples" in gangsaw("bench", empty).failed(2)
    assert "no samples" in gangsaw("demo", empty, "--out", tmp_path / "demo").failed(2)
