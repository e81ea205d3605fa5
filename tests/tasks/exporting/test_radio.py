"""Visibilities of a damaged store: samples are filled, and each kind of file says so."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from helpers.damage import flip
from helpers.radio_files import write

import gangsaw
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.radio.export.mark import write_incomplete_note
from gangsaw.tasks.store.damage import INCOMPLETE, DamagedStore

CHUNKS = {"time": 2, "baseline_id": 3, "frequency": 7, "polarization": 4}

pytest.importorskip("pyuvdata", reason="the extra radio is not installed")


def damaged_store(folder: Path, suffix: str) -> Path:
    """Return a store of visibilities, of which one chunk is damaged."""
    source = write(folder / f"a{suffix}")
    gangsaw.compress(source, folder / "a.zarr", chunks=CHUNKS)
    (chunk, *_) = sorted((folder / "a.zarr/VISIBILITY/c").rglob("*/*/*/0"))
    flip(chunk, 0.8)
    return folder / "a.zarr"


def test_uvh5_is_filled_and_marked(tmp_path: Path) -> None:
    store, target = damaged_store(tmp_path, ".uvh5"), tmp_path / "b.uvh5"
    with pytest.raises(DamagedStore, match="VISIBILITY, chunk"):
        gangsaw.decompress(store, target)
    assert not target.exists()
    done = gangsaw.decompress(store, target, damaged="fill")
    with h5py.File(tmp_path / "a.uvh5") as one, h5py.File(target) as other:
        assert "VISIBILITY, chunk" in other.attrs[INCOMPLETE]
        had, has = (file["Data/visdata"][...].view("u4") for file in (one, other))
    differs = (had != has).any(axis=-1)
    assert 0 < differs.sum() <= np.prod([b - a for a, b in done.damaged[0].ranges])
    assert (has[differs] == 0).all()


@pytest.mark.full
@pytest.mark.parametrize("suffix", [".ms", ".uvfits"])
def test_other_files_are_filled_and_marked(tmp_path: Path, suffix: str) -> None:
    store, target = damaged_store(tmp_path, suffix), tmp_path / f"b{suffix}"
    gangsaw.decompress(store, target, damaged="fill")
    if suffix == ".ms":
        tables = pytest.importorskip("casacore.tables")
        with tables.table(str(target), ack=False) as main:
            assert "VISIBILITY, chunk" in main.getkeyword(INCOMPLETE)
        return
    fits = pytest.importorskip("astropy.io.fits")
    with fits.open(target) as file:
        assert "VISIBILITY, chunk" in "".join(file[0].header["HISTORY"])


def test_a_damaged_template_cannot_be_filled(tmp_path: Path) -> None:
    source = write(tmp_path / "a.uvh5")
    gangsaw.compress(source, tmp_path / "a.zarr", chunks=CHUNKS)
    flip(tmp_path / "a.zarr/template/c/0", 0.5)
    with pytest.raises(CorruptChunk, match="these are bytes of a file, which cannot be filled"):
        gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.uvh5", damaged="fill")
    assert not (tmp_path / "b.uvh5").exists()


@pytest.mark.parametrize("length", [10, 5000])
def test_history_of_fits_before_the_data(tmp_path: Path, length: int) -> None:
    fits = pytest.importorskip("astropy.io.fits")
    path, samples = tmp_path / "a.fits", np.arange(10_000, dtype=">f4")
    fits.PrimaryHDU(samples).writeto(path)
    write_incomplete_note(path, "uvfits", "x" * length)
    with fits.open(path) as file:
        text = "".join(file[0].header["HISTORY"])
        assert np.array_equal(file[0].data, samples)
    assert text == f"{INCOMPLETE}: {'x' * length}"
