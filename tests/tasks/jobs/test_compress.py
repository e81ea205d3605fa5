"""Compress and decompress, store to store: what a reader gets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
import zarr
from distributed import Client
from helpers.job_data import WAVELENGTHS, cube, objects, raw_source
from helpers.job_runs import SHAPE, ZSTD, interrupted, job, labelled_source
from zarr.codecs import ZstdCodec
from zarr.storage import MemoryStore

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers.local import start
from gangsaw.codecs.ccsds123.codec import Ccsds123
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.engine.report.progress import Progress
from gangsaw.tasks.formats.contract.axes import image_axes
from gangsaw.tasks.formats.raw.source import RawSource
from gangsaw.tasks.jobs.choice.choose import choose_layout
from gangsaw.tasks.jobs.compress import decompress
from gangsaw.tasks.store.arrays.layout import default_chunks
from gangsaw.tasks.store.source import open_zarr


@pytest.fixture
def source(tmp_path: Path) -> RawSource:
    return labelled_source(tmp_path)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with start(ClusterConfig(workers=2, threads=1, dashboard=False)) as client:
        yield client


@pytest.mark.parametrize("codec", ["auto", "none", ZSTD, Ccsds123(block=(0, 8, 8))])
def test_every_reader_gets_the_samples(source: RawSource, tmp_path: Path, codec: Any) -> None:
    """With plain zarr and xarray, and with warnings as errors."""
    target = tmp_path / "cube.zarr"
    summary = job(source, target, codec=codec)
    assert (zarr.open_group(target, mode="r")["data"][...] == cube(SHAPE)).all()
    assert sorted(
        name for name, _ in zarr.open_group(target, use_consolidated=False).members()
    ) == [
        "band",
        "data",
    ]
    dataset = xr.open_zarr(target)
    assert (dataset["data"].values == cube(SHAPE)).all()
    assert (dataset["band"].values == WAVELENGTHS.values).all()
    assert dataset["band"].attrs == {"units": "nm"}
    assert dataset.attrs == {"sensor": "seeded"}
    assert (summary.chunks, summary.resumed, summary.arrays) == (12, 0, ("data",))
    assert (summary.samples, summary.raw_bytes) == (12_000, 24_000)
    stored = sum(p.stat().st_size for p in (target / "data" / "c").rglob("*") if p.is_file())
    assert summary.stored_bytes == stored
    assert summary.ratio == 24_000 / stored
    assert summary.bits_per_sample == 8 * stored / 12_000


def test_workers_write_the_same_store(source: RawSource, tmp_path: Path, client: Client) -> None:
    job(source, tmp_path / "here.zarr")
    job(source, tmp_path / "there.zarr", client=client)
    assert objects(tmp_path / "here.zarr") == objects(tmp_path / "there.zarr")


def test_any_store_can_be_the_target(source: RawSource) -> None:
    store = MemoryStore()
    job(source, store)
    assert (zarr.open_group(store, mode="r")["data"][...] == cube(SHAPE)).all()


def test_decompressing_gives_the_samples_back(source: RawSource, tmp_path: Path) -> None:
    job(source, tmp_path / "small.zarr", codec="auto")
    small = open_zarr(str(tmp_path / "small.zarr"))
    decompress(small, tmp_path / "plain.zarr")
    plain = zarr.open_group(tmp_path / "plain.zarr", mode="r")
    assert plain["data"].compressors == ()
    assert (plain["data"][...] == cube(SHAPE)).all()
    assert (plain["band"][...] == WAVELENGTHS.values).all()


def test_missing_chunks_are_never_read_as_samples(source: RawSource, tmp_path: Path) -> None:
    small = tmp_path / "small.zarr"
    interrupted(source, small)
    with pytest.raises(BadParams, match="is not finished: run it with --resume first"):
        open_zarr(str(small))
    job(source, small, resume=True)
    (small / "data" / "c" / "0" / "1" / "1").unlink()
    stored = open_zarr(str(small))
    with pytest.raises(JobFailed, match=r"chunk c/0/1/1: missing: Zarr would read fill values"):
        decompress(stored, tmp_path / "plain.zarr")
    plain = zarr.create_group(tmp_path / "sparse.zarr")
    plain.create_array("data", shape=(6, 40), chunks=(6, 10), dtype="u2", fill_value=7)
    sparse = open_zarr(str(tmp_path / "sparse.zarr"))  # another writer's: absent chunks are legal
    assert (sparse.arrays[0].read((slice(0, 6), slice(5, 25))) == 7).all()


def test_progress_is_told(source: RawSource, tmp_path: Path) -> None:
    states: list[Progress] = []
    job(source, tmp_path / "a.zarr", on_progress=states.append)
    assert [state.done for state in states] == list(range(13))
    assert states[0].seconds_left is None
    assert states[0].ratio == 0
    assert states[-1].seconds_left == 0
    assert states[-1].throughput > 0
    assert states[6].seconds_left == pytest.approx(states[6].seconds)


def test_chunks_by_name(source: RawSource, tmp_path: Path) -> None:
    job(source, tmp_path / "a.zarr", chunks={"y": 7, "band": -1})
    assert zarr.open_array(tmp_path / "a.zarr", path="data").chunks == (6, 7, 50)


def test_the_default_codec_follows_the_content(tmp_path: Path) -> None:
    image = raw_source(tmp_path).arrays[0]

    def choose_codec(array: Any) -> object:
        return choose_layout(array, "auto", None).codec

    assert choose_codec(image) == Ccsds123()
    assert choose_codec(replace(image, dims=("y", "x", "band"))) == Ccsds123(axes="yxz")
    assert choose_codec(replace(image, dims=("y", "band", "x"))) == Ccsds123(axes="yzx")
    assert choose_codec(replace(image, dtype_str="<f4", shape=(3, 40, 50))) == ZstdCodec(level=3)
    assert choose_codec(replace(image, dtype_str="<u8", shape=(1, 40, 50))) == ZstdCodec(level=3)
    assert image_axes(("y", "x")) == "zyx"


def test_default_chunks_are_equal_and_of_bounded_size(tmp_path: Path) -> None:
    image = raw_source(tmp_path).arrays[0]
    assert default_chunks(image) == SHAPE
    assert default_chunks(replace(image, shape=(224, 512, 614))) == (224, 171, 307)
    bip = replace(image, shape=(512, 614, 224), dims=("y", "x", "band"))
    assert default_chunks(bip) == (171, 307, 224)
    assert default_chunks(replace(image, shape=(3, 10**4, 10**4))) == (3, 1667, 3334)
