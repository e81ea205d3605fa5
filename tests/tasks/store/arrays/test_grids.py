"""Arrays whose chunks have many extents: newer zarr writes them; they are read as others are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import zarr

import gangsaw
from gangsaw.tasks.store.arrays.grids import RECTILINEAR, allow_irregular_chunks

CUBE = np.arange(3 * 20 * 30, dtype="u2").reshape(3, 20, 30)
EXTENTS = [[3], [5, 12, 3], [30]]


def test_chunks_of_many_extents_are_read(tmp_path: Path) -> None:
    if zarr.config.get(RECTILINEAR, None) is None:
        pytest.skip("this zarr knows regular chunks alone")
    with allow_irregular_chunks():
        group = zarr.open_group(tmp_path / "in.zarr", mode="w")
        group.create_array("cube", shape=CUBE.shape, chunks=EXTENTS, dtype=CUBE.dtype)[...] = CUBE
    assert zarr.config.get(RECTILINEAR) is False
    gangsaw.compress(tmp_path / "in.zarr", tmp_path / "a.zarr")
    assert gangsaw.verify(tmp_path / "a.zarr", against=tmp_path / "in.zarr").ok
    stored = zarr.open_group(tmp_path / "a.zarr", mode="r")["cube"]
    assert stored.chunks == CUBE.shape
    assert np.array_equal(stored[...], CUBE)
