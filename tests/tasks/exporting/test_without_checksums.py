"""Stores whose codecs have no checksum: chunks that differ from the manifest are damaged."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import fsspec
import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.command_line import CommandLine
from helpers.damage import flip
from numpy.typing import NDArray

import gangsaw
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.store.damage import DamagedStore
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.source import open_zarr
from gangsaw.tasks.store.state.job_folder import JOB
from gangsaw.tasks.store.state.manifest import MANIFEST, write_manifest
from gangsaw.tasks.store.state.records import ROW, Records

FILLED = 9
DAMAGED = ["c/0/0/0", "c/0/0/1", "c/0/1/1", "c/1/1/0", "c/1/1/1"]


def image(shape: tuple[int, int, int], start: int = 0) -> NDArray[np.uint16]:
    """Noise: chunks of no two positions are equal, and all have the same stored size by "none"."""
    rng = np.random.default_rng([start, *shape])
    return rng.integers(100, 60_000, shape, "u2")


def damage_chunks(array: Path) -> None:
    """Flip bytes in two chunks, truncate one, and swap two."""
    flip(array / "c/0/0/0", 0.4)
    flip(array / "c/0/0/1", 0.99)
    short, one, other = (array / f"c/{name}" for name in ("0/1/1", "1/1/0", "1/1/1"))
    short.write_bytes(short.read_bytes()[:-3])
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def mask_of(shape: tuple[int, int, int], chunks: tuple[int, int, int]) -> NDArray[np.bool_]:
    """Return where the samples of DAMAGED lie."""
    mask = np.zeros(shape, bool)
    for key in DAMAGED:
        position = map(int, key.split("/")[1:])
        spans = (slice(i * n, (i + 1) * n) for i, n in zip(position, chunks, strict=True))
        mask[tuple(spans)] = True
    return mask


def listed(store: Path, target: Path, **options: object) -> list[tuple[str, str]]:
    """Return array and chunk of all damage that a failing export lists; it leaves no target."""
    before = set(target.parent.iterdir())
    with pytest.raises(DamagedStore, match="no target is left") as failed:
        gangsaw.decompress(store, target, **options)  # type: ignore[arg-type]
    assert set(target.parent.iterdir()) == before
    return [(one.array, one.chunk) for one in failed.value.blocks]


def written(path: Path, like: NDArray[np.uint16], name: str) -> NDArray[np.generic]:
    """Return the samples of a target."""
    if path.suffix in (".nc", ".zarr"):
        group, _, variable = name.rpartition("/")
        engine = "zarr" if path.suffix == ".zarr" else "h5netcdf"
        with xr.open_dataset(path, engine=engine, group=group or None) as data:
            return data[variable].values
    flat = path.with_suffix(".img") if path.suffix == ".hdr" else path
    return np.fromfile(flat, like.dtype).reshape(like.shape)


def check_export(
    store: Path, target: Path, samples: NDArray[np.uint16], chunks: tuple[int, int, int], name: str
) -> None:
    """Assert that an export lists the damaged chunks, and fills these alone."""
    assert listed(store, target, accept_loss=True) == [(name, key) for key in DAMAGED]
    done = gangsaw.decompress(store, target, damaged="fill", damaged_value=FILLED, accept_loss=True)
    assert [(one.array, one.chunk) for one in done.damaged] == [(name, key) for key in DAMAGED]
    found, mask = written(target, samples, name), mask_of(samples.shape, chunks)
    assert (found[mask] == FILLED).all()
    assert np.array_equal(found[~mask], samples[~mask])
    assert done.is_incomplete


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_changed_chunks_are_listed_and_filled(tmp_path: Path, codec: str) -> None:
    samples, chunks = image((4, 61, 67)), (2, 32, 40)
    data = xr.Dataset({"r": (("band", "y", "x"), samples)})
    gangsaw.compress(data, tmp_path / "a.zarr", chunks=chunks, codec=codec)
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "whole.raw", accept_loss=True)
    assert np.array_equal(written(tmp_path / "whole.raw", samples, "r"), samples)
    damage_chunks(tmp_path / "a.zarr/r")
    assert len(gangsaw.verify(tmp_path / "a.zarr").problems) == len(DAMAGED)
    check_export(tmp_path / "a.zarr", tmp_path / "b.raw", samples, chunks, "r")


@pytest.mark.full
@pytest.mark.parametrize("target", ["b.raw", "b.hdr", "b.nc", "b.zarr"])
@pytest.mark.parametrize("name", ["r", "deep/r"])
def test_chunks_of_a_megabyte(tmp_path: Path, target: str, name: str) -> None:
    if name != "r" and not target.endswith((".nc", ".zarr")):
        pytest.skip("it has no groups")
    samples, chunks = image((8, 2048, 2048)), (2, 512, 512)
    data = xr.Dataset({"r": (("band", "y", "x"), samples)})
    tree = xr.DataTree.from_dict({"/deep": data}) if name != "r" else data
    gangsaw.compress(tree, tmp_path / "a.zarr", chunks=chunks, codec="zstd")
    assert sum(path.is_file() for path in (tmp_path / "a.zarr" / name / "c").rglob("*")) == 64
    damage_chunks(tmp_path / "a.zarr" / name)
    check_export(tmp_path / "a.zarr", tmp_path / target, samples, chunks, name)


def test_the_command_lists_them(gangsaw: CommandLine, tmp_path: Path) -> None:
    image((4, 61, 67)).tofile(tmp_path / "a.raw")
    store, shape = tmp_path / "a.zarr", ("--shape", "4,61,67", "--dtype", "uint16")
    gangsaw.ok(
        "compress", tmp_path / "a.raw", store, *shape, "--chunks", "2,32,40", "--codec", "zstd"
    )
    damage_chunks(store / "data")
    failed = gangsaw("decompress", store, tmp_path / "b.raw", "--accept-loss", "--json")
    assert failed.code == 1
    assert [one["chunk"] for one in failed.figures["damaged"]] == DAMAGED
    assert not (tmp_path / "b.raw").exists()
    fill = ("--accept-loss", "--damaged", "fill", "--json")
    filled = gangsaw("decompress", store, tmp_path / "b.raw", *fill)
    assert filled.code == 1
    assert filled.figures["damaged"][0]["ranges"] == [[0, 2], [0, 32], [0, 40]]
    assert "5 damaged blocks in the store, filled" in filled.err


def test_lines_in_changed_chunks_are_left_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    lines = [b"%d %b\n" % (i, bytes(rng.integers(97, 122, 150, "u1"))) for i in range(3000)]
    (tmp_path / "a.log").write_bytes(b"".join(lines))
    gangsaw.compress(tmp_path / "a.log", tmp_path / "a.zarr", chunks=(1 << 16,), codec="zstd")
    for chunk in (0, 3):
        flip(tmp_path / f"a.zarr/text/c/{chunk}")
    assert listed(tmp_path / "a.zarr", tmp_path / "b.log") == [("text", "c/0"), ("text", "c/3")]
    done = gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.log", damaged="skip")
    kept = (tmp_path / "b.log").read_bytes().splitlines(keepends=True)
    assert done.is_incomplete
    assert set(kept) < set(lines)
    assert len(kept) > len(lines) / 2


def remove_state(array: Path) -> None:
    """Remove what a job notes of an array: then any program may have written it."""
    shutil.rmtree(array / ".gangsaw")


def damage_manifest(array: Path) -> None:
    flip(array / MANIFEST)


@pytest.mark.parametrize("change", [remove_state, damage_manifest])
def test_without_a_manifest_nothing_is_compared(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    samples = image((2, 40, 40))
    data = xr.Dataset({"r": (("band", "y", "x"), samples)})
    gangsaw.compress(data, tmp_path / "a.zarr", chunks=(2, 20, 20), codec="none")
    flip(tmp_path / "a.zarr/r/c/0/0/0", 0.0)
    assert listed(tmp_path / "a.zarr", tmp_path / "b.zarr") == [("r", "c/0/0/0")]
    change(tmp_path / "a.zarr/r")
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.raw", accept_loss=True)
    found = written(tmp_path / "b.raw", samples, "r")
    assert np.count_nonzero(found != samples) == 1


def test_a_store_without_only_its_manifest_is_unfinished(tmp_path: Path) -> None:
    data = xr.Dataset({"r": (("band", "y", "x"), image((2, 9, 7)))})
    gangsaw.compress(data, tmp_path / "a.zarr", codec="zstd")
    (tmp_path / "a.zarr/r" / MANIFEST).unlink()
    with pytest.raises(BadParams, match="is not finished"):
        gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.zarr")


def test_a_store_that_is_replaced_has_another_manifest(tmp_path: Path) -> None:
    """The first one is cached for the array, whose metadata are the same."""
    for seed in (1, 2):
        samples = image((2, 40, 40), seed)
        data = xr.Dataset({"r": (("band", "y", "x"), samples)})
        gangsaw.compress(data, tmp_path / "a.zarr", codec="zstd", overwrite=True)
        (array,) = open_zarr(str(tmp_path / "a.zarr")).arrays
        assert np.array_equal(array.read(tuple(map(slice, (0, 0, 0), samples.shape))), samples)


def images(start: int, stop: int, rows: int = 30) -> xr.Dataset:
    """Images, counts along a second axis, texts and times along one axis."""
    t = np.arange(start, stop)
    values = np.stack([image((1, rows, 20), i)[0] for i in t])
    return xr.Dataset(
        {
            "image": (("t", "y", "x"), values),
            "wave": (("y", "t"), np.sin(t * 0.1 + np.arange(rows)[:, None]).astype("f4")),
            "name": ("t", np.array([f"scene {i}" for i in t], object)),
        },
        coords={"t": t},
    )


def grown_store(store: Path, before: int, after: int) -> xr.Dataset:
    """Make a store, append to it by xarray, and return its content."""
    gangsaw.compress(images(0, before), store, chunks={"t": 8}, codec="zstd")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # consolidated metadata, which stores have, is no standard
        images(before, after).to_zarr(store, append_dim="t")
    return images(0, after)


@pytest.mark.parametrize(("before", "after"), [(20, 23), (20, 41), (16, 24)])
def test_what_xarray_appended_is_not_damaged(tmp_path: Path, before: int, after: int) -> None:
    store, target = tmp_path / "a.zarr", tmp_path / "b.zarr"
    whole = grown_store(store, before, after)
    done = gangsaw.decompress(store, target, damaged="fill")
    assert done.damaged == ()
    xr.testing.assert_equal(xr.open_zarr(target).load(), whole)
    flip(store / "image/c/1/0/0", 0.9)  # its record is valid
    flip(store / "wave/c/0/0", 0.9)
    shutil.rmtree(target)
    assert listed(store, target) == [("image", "c/1/0/0"), ("wave", "c/0/0")]


def test_growth_that_nothing_explains_is_not_damage(tmp_path: Path) -> None:
    store = tmp_path / "a.zarr"
    data = images(0, 20)[["image"]].drop_vars("t")
    gangsaw.compress(data, store, chunks={"t": 8}, codec="zstd")
    array = zarr.open_array(store / "image", mode="r+")
    array.resize((23, 31, 20))
    array[...] = np.ones(array.shape, "u2")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # consolidated metadata, as above
        zarr.consolidate_metadata(store)
    (found,) = open_zarr(str(store)).arrays
    assert (found.read(tuple(map(slice, (0, 0, 0), array.shape))) == 1).all()


def test_a_store_of_another_file_system(tmp_path: Path) -> None:
    """Its manifest is read by zarr, whose threads must not wait for that."""
    address, samples = f"memory://{tmp_path.name}/a.zarr", image((4, 61, 67))
    data = xr.Dataset({"r": (("band", "y", "x"), samples)})
    gangsaw.compress(data, address, chunks=(2, 32, 40), codec="zstd")
    (array,) = open_zarr(address).arrays
    part = slice(0, 4), slice(1, 60), slice(1, 66)  # of chunks that zarr reads
    assert np.array_equal(array.read(part), samples[part])
    gangsaw.decompress(address, tmp_path / "b.raw", accept_loss=True)
    assert np.array_equal(written(tmp_path / "b.raw", samples, "r"), samples)
    memory = fsspec.filesystem("memory")
    for key in DAMAGED:
        path = f"/{tmp_path.name}/a.zarr/r/{key}"
        memory.pipe(path, memory.cat(path)[:-1] + b"?")
    with pytest.raises(CorruptChunk, match="the checksum differs from the manifest"):
        array.read(part)
    assert listed(address, tmp_path / "c.raw", accept_loss=True) == [("r", key) for key in DAMAGED]  # type: ignore[arg-type]


@pytest.mark.parametrize("codec", [zarr.codecs.ZstdCodec(), None])
def test_parts_of_changed_shards(tmp_path: Path, codec: zarr.codecs.ZstdCodec | None) -> None:
    """A part of a shard is compared with the record of the whole shard."""
    array = zarr.create_array(
        tmp_path / "a.zarr",
        shape=(16, 16),
        chunks=(4, 4),
        shards=(8, 8),
        dtype="u2",
        compressors=codec,
    )
    samples = image((1, 16, 16))[0]
    array[...] = samples
    place = open_prefix(tmp_path / "a.zarr", writable=True)
    keys = [f"c/{i}/{j}" for i in (0, 1) for j in (0, 1)]
    stored = [(tmp_path / "a.zarr" / key).read_bytes() for key in keys]
    rows = np.array([(len(data), crc32c(data)) for data in stored], ROW)
    place.put(JOB, b"{}")
    write_manifest(place, Records("0" * 64, 0, samples.nbytes, rows))
    (source,) = open_zarr(str(tmp_path / "a.zarr")).arrays
    parts = [(slice(0, 16), slice(0, 16)), (slice(3, 6), slice(9, 15)), (slice(8, 9), slice(0, 1))]
    for part in parts:
        assert np.array_equal(source.read(part), samples[part])
    flip(tmp_path / "a.zarr/c/0/1", 0.1)
    for part in parts[:2]:
        with pytest.raises(CorruptChunk, match="c/0/1: the checksum differs"):
            source.read(part)
    assert np.array_equal(source.read(parts[2]), samples[parts[2]])
