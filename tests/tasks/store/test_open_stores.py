"""Open Zarr stores as targets and sources; of Icechunk, nothing but arrays is in the session."""

from __future__ import annotations

from pathlib import Path

import dask.array as da
import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.clusters import in_process
from zarr.storage import LocalStore, MemoryStore, ZipStore

import gangsaw

CUBE = np.arange(3 * 20 * 30, dtype="u2").reshape(3, 20, 30)
DATA = xr.Dataset({"cube": (("band", "y", "x"), CUBE)}, {"band": [1, 2, 3]}, {"title": "a"})


def test_kinds_of_stores(tmp_path: Path) -> None:
    for store in (MemoryStore(), LocalStore(tmp_path / "a.zarr"), ZipStore(tmp_path / "a.zip")):
        gangsaw.compress(DATA, store)
        assert gangsaw.verify(store, against=DATA).ok
        xr.testing.assert_identical(gangsaw.open(store).load(), DATA)


@pytest.mark.filterwarnings("ignore:Failed to open Zarr store with consolidated")
def test_a_group_of_a_store() -> None:
    group = zarr.open_group(MemoryStore(), mode="w").create_group("a")
    target = group.store_path / "b"
    gangsaw.compress(DATA, target)
    assert gangsaw.verify(target).ok
    assert np.array_equal(group["b/cube"][...], CUBE)


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(gangsaw.BadParams, match="open to read"):
        gangsaw.compress(DATA, MemoryStore(read_only=True))
    with in_process() as client, pytest.raises(gangsaw.BadParams, match="leave client= out"):
        gangsaw.compress(DATA, MemoryStore(), client=client)


def test_a_session_of_icechunk() -> None:
    icechunk = pytest.importorskip("icechunk", reason="icechunk is not installed")
    repository = icechunk.Repository.create(icechunk.in_memory_storage())
    session = repository.writable_session("main")
    lazy = DATA.assign(cube=DATA["cube"].copy(data=da.from_array(CUBE, chunks=(3, 10, 30))))
    gangsaw.compress(lazy, session, chunks={"y": 5})
    assert gangsaw.verify(session.store, against=DATA).ok
    session.commit("compressed")
    read = repository.readonly_session("main")
    xr.testing.assert_identical(gangsaw.open(read).load(), DATA)
    group = zarr.open_group(read.store, mode="r")
    assert sorted(group) == ["band", "cube"]
    assert "Ccsds123" in str(group["cube"].metadata.codecs)
    with pytest.raises(gangsaw.BadParams, match="open to read"):
        gangsaw.compress(DATA, read)
    plain = MemoryStore()
    gangsaw.compress(group, plain)
    assert gangsaw.verify(plain, against=DATA).ok
    with pytest.raises(gangsaw.BadParams, match="exists"):
        gangsaw.compress(DATA, repository.writable_session("main"))
