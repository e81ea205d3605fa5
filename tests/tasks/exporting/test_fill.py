"""Arrays of a damaged store in other formats: all damage is listed, or samples are filled."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.damage import flip
from numpy.typing import NDArray

import gangsaw
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, JobFailed
from gangsaw.tasks.api.exporting import ExportResult
from gangsaw.tasks.store.damage import INCOMPLETE, DamagedStore, check_damage, parse_damage
from gangsaw.tasks.store.salvage import DamagedBlock
from gangsaw.tasks.store.source import open_zarr

FILLED = 7
TARGETS = ["a.raw", "b.hdr", "c.tif", "d.nc", "e.h5", "f.zarr"]


def image(dtype: str, shape: tuple[int, ...]) -> NDArray[np.generic]:
    """Smooth samples: a chunk has several blocks."""
    rng = np.random.default_rng(5)
    return (np.cumsum(rng.integers(-3, 4, shape), axis=1) + 5000).astype(dtype)


def damaged_store(folder: Path, samples: NDArray[np.generic], chunks: tuple[int, ...]) -> Path:
    """Return a store: of its chunks one has two bad blocks, one has one, and one is missing."""
    store = folder / "a.zarr"
    shape = dict(zip(("band", "y", "x"), samples.shape, strict=True))
    coords = {"band": np.arange(1.0, shape["band"] + 1)}
    data = xr.Dataset({"r": (tuple(shape), samples)}, coords)
    gangsaw.compress(data, store, chunks=chunks)
    flip(store / "r/c/0/0/0", 0.1)
    flip(store / "r/c/0/0/0", 0.99)
    flip(store / "r/c/0/1/1", 0.9)
    (store / "r/c/0/1/0").unlink()
    return store


def mask_of(blocks: tuple[DamagedBlock, ...], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return where the samples of damaged blocks lie."""
    mask = np.zeros(shape, bool)
    for one in blocks:
        mask[one.region] = True
    return mask


def open_tiff(path: Path) -> Any:
    """Open a GeoTIFF; that the image has no place on Earth is not to be warned of."""
    rasterio = pytest.importorskip("rasterio")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
        return rasterio.open(path)


def written(path: Path, like: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return the samples of a target."""
    if path.suffix == ".tif":
        with open_tiff(path) as file:
            found: NDArray[np.generic] = file.read()
        return found
    if path.suffix in (".nc", ".h5", ".zarr"):
        engine = "zarr" if path.suffix == ".zarr" else "h5netcdf"
        with xr.open_dataset(path, engine=engine, mask_and_scale=False) as data:
            return data["r"].values
    flat = path.with_suffix(".img") if path.suffix == ".hdr" else path
    return np.fromfile(flat, like.dtype).reshape(like.shape)


def mark_in(path: Path) -> str:
    """Return what a target says that it lacks."""
    if path.suffix == ".tif":
        with open_tiff(path) as file:
            return str(file.tags()[INCOMPLETE])
    if path.suffix == ".hdr":
        (line,) = [one for one in path.read_text().splitlines() if one.startswith("gangsaw inc")]
        return line
    engine = "zarr" if path.suffix == ".zarr" else "h5netcdf"
    with xr.open_dataset(path, engine=engine) as data:
        return str(data.attrs[INCOMPLETE])


def check_listed(error: DamagedStore, folder: Path, before: set[Path]) -> None:
    """Assert that all damage is listed, and no target is left."""
    places = [(one.array, one.chunk, one.block) for one in error.blocks]
    assert [chunk for _, chunk, _ in places] == ["c/0/0/0", "c/0/0/0", "c/0/1/0", "c/0/1/1"]
    assert {array for array, _, _ in places} == {"r"}
    assert [block is None for _, _, block in places] == [False, False, True, False]
    assert all(f"chunk {chunk}" in str(error) for _, chunk, _ in places)
    assert set(folder.iterdir()) == before


def check_filled(done: ExportResult, path: Path, samples: NDArray[np.generic]) -> None:
    """Assert that damaged samples are filled, and all others as they were."""
    found, mask = written(path, samples), mask_of(done.damaged, samples.shape)
    assert 0 < mask.sum() < mask.size / 2
    assert (found[mask] == FILLED).all()
    assert np.array_equal(found[~mask], samples[~mask])
    assert done.is_incomplete


def test_damage_is_listed_and_filled(tmp_path: Path) -> None:
    samples = image("u2", (2, 61, 67))
    store = damaged_store(tmp_path, samples, (2, 48, 48))
    target, before = tmp_path / "b.hdr", set(tmp_path.iterdir())
    with pytest.raises(DamagedStore, match="no target is left") as failed:
        gangsaw.decompress(store, target)
    assert isinstance(failed.value, CorruptChunk)
    assert isinstance(failed.value, JobFailed)
    assert {one.chunk for one in failed.value.blocks} == {"c/0/0/0", "c/0/1/0", "c/0/1/1"}
    assert set(tmp_path.iterdir()) == before
    done = gangsaw.decompress(store, target, damaged="fill", damaged_value=FILLED)
    found, mask = written(target, samples), mask_of(done.damaged, samples.shape)
    assert (found[mask] == FILLED).all()
    assert np.array_equal(found[~mask], samples[~mask])
    assert "chunk c/0/1/0" in mark_in(target)


@pytest.mark.full
@pytest.mark.parametrize("dtype", ["u1", "i2", "u2"])
def test_every_format_lists_and_fills(tmp_path: Path, dtype: str) -> None:
    samples = image("i8", (3, 1001, 1003)).astype(dtype)
    store = damaged_store(tmp_path, samples, (3, 512, 512))
    before = set(tmp_path.iterdir())
    for name in TARGETS:
        target = tmp_path / name
        with pytest.raises(DamagedStore) as failed:
            gangsaw.decompress(store, target, accept_loss=True)
        check_listed(failed.value, tmp_path, before)
        options = {"damaged": "fill", "damaged_value": str(FILLED), "accept_loss": True}
        done = gangsaw.decompress(store, target, **options)  # type: ignore[arg-type]
        check_filled(done, target, samples)
        if target.suffix != ".raw":
            assert all(f"chunk {one.chunk}" in mark_in(target) for one in done.damaged)
        for made in tmp_path.glob(f"{target.stem}.*"):
            if made != store:
                shutil.rmtree(made) if made.is_dir() else made.unlink()


@pytest.mark.full
def test_samples_of_damaged_blocks_have_the_fill_value(tmp_path: Path) -> None:
    samples = image("i8", (2, 301, 303)).astype("f4")
    data = xr.Dataset({"r": (("band", "y", "x"), samples)})
    data["r"].attrs["_FillValue"] = np.float32(-9999)
    gangsaw.compress(data, tmp_path / "a.zarr", chunks=(2, 128, 128))
    flip(tmp_path / "a.zarr/r/c/0/1/1")
    done = gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.nc", damaged="fill")
    found, mask = written(tmp_path / "b.nc", samples), mask_of(done.damaged, samples.shape)
    assert (found[mask] == -9999).all()
    assert np.array_equal(found[~mask], samples[~mask])
    again = gangsaw.decompress(
        tmp_path / "a.zarr", tmp_path / "c.nc", damaged="fill", damaged_value="nan"
    )
    assert np.isnan(written(tmp_path / "c.nc", samples)[mask]).all()
    assert again.damaged == done.damaged


def test_a_damaged_coordinate_is_listed_and_filled(tmp_path: Path) -> None:
    samples = image("u2", (2, 10, 12))
    data = xr.Dataset({"r": (("band", "y", "x"), samples)}, {"band": [4.0, 5.0]})
    gangsaw.compress(data, tmp_path / "a.zarr")
    flip(tmp_path / "a.zarr/band/c/0", 0.0)
    with pytest.raises(DamagedStore) as failed:
        gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.zarr")
    assert [one.array for one in failed.value.blocks] == ["band"]
    done = gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.zarr", damaged="fill")
    assert [one.ranges for one in done.damaged] == [((0, 2),)]
    found = xr.open_zarr(tmp_path / "b.zarr")
    assert np.isnan(found["band"].values).all()  # the fill value that xarray gives floats
    assert np.array_equal(found["r"].values, samples)


def test_a_whole_store_is_written_as_ever(tmp_path: Path) -> None:
    samples = image("u2", (2, 20, 30))
    gangsaw.compress(xr.Dataset({"r": (("band", "y", "x"), samples)}), tmp_path / "a.zarr")
    done = gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.zarr", damaged="fill")
    assert (done.damaged, done.is_incomplete) == ((), False)
    assert INCOMPLETE not in xr.open_zarr(tmp_path / "b.zarr").attrs


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"damaged": "skip"}, "ENVI cannot skip what is damaged: .*--damaged fill"),
        ({"damaged": "some"}, "--damaged must be fail, fill or skip, got 'some'"),
        ({"damaged_value": 3}, "--damaged-value is for --damaged fill"),
        ({"damaged": "fill", "damaged_value": "x"}, "--damaged-value must be a number .* got 'x'"),
        ({"damaged": "fill", "damaged_value": -1}, "-1 is no sample of r, which has uint16"),
        ({"damaged": "fill", "damaged_value": 1.5}, "1.5 is no sample of r"),
    ],
)
def test_what_cannot_be_done_is_said_before(
    tmp_path: Path, options: dict[str, object], words: str
) -> None:
    samples = image("u2", (2, 10, 12))
    gangsaw.compress(xr.Dataset({"r": (("band", "y", "x"), samples)}), tmp_path / "a.zarr")
    flip(tmp_path / "a.zarr/r/c/0/0/0")
    with pytest.raises(BadParams, match=words):
        gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.hdr", **options)  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == ["a.zarr"]


def test_a_format_that_can_do_neither_says_so(tmp_path: Path) -> None:
    gangsaw.compress(xr.Dataset({"r": (("y", "x"), image("u2", (9, 7)))}), tmp_path / "a.zarr")
    for mode in ("fill", "skip"):
        with pytest.raises(BadParams, match=f"toy cannot {mode} what is .*: leave --damaged out"):
            check_damage(parse_damage(mode, None), open_zarr(str(tmp_path / "a.zarr")), "toy", ())


def test_other_sources_have_no_blocks(tmp_path: Path) -> None:
    image("u2", (2, 9, 7)).tofile(tmp_path / "a.img")
    header = "ENVI\nsamples = 7\nlines = 9\nbands = 2\ndata type = 12\ninterleave = bsq\n"
    (tmp_path / "a.hdr").write_text(header)
    with pytest.raises(BadParams, match=r"a\.hdr is ENVI: .* leave --damaged out"):
        gangsaw.decompress(tmp_path / "a.hdr", tmp_path / "b.zarr", damaged="fill")


@pytest.mark.parametrize("shape", [(6000,), (60, 100)])
def test_blocks_of_bytes_are_filled_alone(tmp_path: Path, shape: tuple[int, ...]) -> None:
    """One axis: the samples of the damaged block are listed; two: the rows that it touches."""
    items = np.random.default_rng(3).integers(1, 900, shape).astype("<u2")
    source = tmp_path / "source.zarr"
    zarr.create_group(source).create_array("items", data=items, chunks=shape)
    gangsaw.compress(source, tmp_path / "a.zarr", codec="bwt", params={"block": 3050})
    flip(tmp_path / "a.zarr" / "items" / "c" / "/".join("0" * len(shape)), 0.6)
    done = gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.zarr", damaged="fill")
    (lost,) = done.damaged
    found = zarr.open_array(tmp_path / "b.zarr" / "items", mode="r")[:]
    first = 1525 * lost.block
    wrong = np.flatnonzero(found != items)
    assert (wrong.min(), wrong.max()) == (first, first + 1524)
    row = items[0].size
    assert lost.ranges[0] == (first // row, -(-(first + 1525) // row))
    assert not found.reshape(-1)[first : first + 1525].any()
