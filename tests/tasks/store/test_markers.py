"""Empty objects that stand for folders, as consoles and tools of object stores write them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
import s3fs
from helpers.job_data import cube
from helpers.s3 import JOB, RAW, SHAPE, Bucket
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import FsspecStore

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.store.objects.address import Address
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix
from gangsaw.tasks.store.objects.remote import RemoteStore

pytest.importorskip("moto", reason="moto, an S3 server for tests, is not installed: .[test]")

FOLDERS = ("", "data/", "data/c/", "data/.gangsaw/", "data/.gangsaw/manifest/", "data/empty/")


@pytest.fixture
def fs(bucket: Bucket) -> s3fs.S3FileSystem:
    return s3fs.S3FileSystem(**bucket.options, use_listings_cache=False)


def mark(fs: s3fs.S3FileSystem, address: str, *folders: str) -> None:
    """Write the markers of folders below an address."""
    for folder in folders:
        path = f"{address.removeprefix('s3://')}/{folder}"
        name, key = path.split("/", 1)
        fs.call_s3("put_object", Bucket=name, Key=key, Body=b"")


def place_of(bucket: Bucket, address: str) -> Prefix:
    return open_prefix(Address(address, bucket.options), writable=True)


def test_a_store_with_markers_is_like_any_other(
    bucket: Bucket, fs: s3fs.S3FileSystem, raw: str, address: str, tmp_path: Path
) -> None:
    options = {"storage_options": bucket.options}
    gangsaw.compress(raw, address, **JOB, **options)
    place = place_of(bucket, address)
    before = place.names(), sorted(place.walk()), sorted(place.versions())
    mark(fs, address, *FOLDERS)

    assert (place.names(), sorted(place.walk()), sorted(place.versions())) == before
    assert not {"", "empty/"} & set((place / "data").names())
    bucket.faults()
    report = gangsaw.verify(address, against=raw, **RAW, **options)
    assert (report.ok, report.extra, report.problems) == (True, (), ())
    listings = [n for key, n in bucket.counts().items() if "list-type" in key]
    assert sum(listings) < 40
    (array,) = gangsaw.info(address, **options).arrays
    assert (array.n_chunks, array.missing) == (16, 0)
    assert np.array_equal(gangsaw.open(address, **options)["data"], cube(SHAPE))
    gangsaw.decompress(address, str(tmp_path / "copy.zarr"), **options)
    assert gangsaw.compress(raw, address, **JOB, resume=True, **options).resumed == 16
    with pytest.raises(BadParams, match="exists"):
        gangsaw.compress(raw, address, **JOB, **options)


def test_an_open_store_with_markers_is_read(
    bucket: Bucket, fs: s3fs.S3FileSystem, raw: str, address: str
) -> None:
    gangsaw.compress(raw, address, **JOB, storage_options=bucket.options)
    mark(fs, address, *FOLDERS)
    opened = FsspecStore.from_url(address, storage_options=dict(bucket.options))
    assert gangsaw.verify(opened).ok
    assert [array.name for array in gangsaw.info(opened).arrays] == ["data"]


@pytest.mark.parametrize("folders", [("",), ("", "data/", "data/c/")])
def test_a_prefix_with_nothing_but_markers_is_free(
    bucket: Bucket, fs: s3fs.S3FileSystem, raw: str, address: str, folders: tuple[str, ...]
) -> None:
    options = {"storage_options": bucket.options}
    mark(fs, address, *folders)
    gangsaw.compress(raw, address, **JOB, **options)
    assert gangsaw.verify(address, against=raw, **RAW, **options).ok


def test_a_prefix_with_something_else_is_not_free(
    bucket: Bucket, fs: s3fs.S3FileSystem, raw: str, address: str
) -> None:
    mark(fs, address, "")
    fs.pipe_file(f"{address}/notes/today.txt", b"mine")
    with pytest.raises(BadParams, match="exists and is no Zarr store"):
        gangsaw.compress(raw, address, **JOB, storage_options=bucket.options)
    assert list(place_of(bucket, address).walk()) == ["notes/today.txt"]


@pytest.mark.full
def test_a_listing_of_many_pages_begins_each_once(
    bucket: Bucket, fs: s3fs.S3FileSystem, address: str
) -> None:
    """The server gives at most 1,000 keys in a reply, and the marker first."""
    names = [f"data/c/{number:05d}" for number in range(2500)]
    place = place_of(bucket, address)
    one = default_buffer_prototype().buffer.from_bytes(b"x")
    place.put_all(dict.fromkeys(names, one))
    mark(fs, address, *FOLDERS)
    bucket.faults()
    assert sorted(place.walk()) == names
    pages = [key for key in bucket.counts() if "list-type" in key]
    assert len(pages) == 3
    assert set(map(bucket.counts().get, pages)) == {1}
    assert len((place / "data/c").names()) == 2500


def test_folders_in_a_zip_file_are_no_objects(tmp_path: Path) -> None:
    """As `zip -r` writes them."""
    gangsaw.compress(cube(SHAPE), tmp_path / "a.zarr")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for path in sorted((tmp_path / "a.zarr").rglob("*")):
            archive.write(path, path.relative_to(tmp_path / "a.zarr").as_posix())
    report = gangsaw.verify(tmp_path / "a.zip")
    assert (report.ok, report.extra) == (True, ())


def test_names_of_folders_are_without_slashes() -> None:
    """Some file systems of fsspec list folders with one."""

    class Listed(RemoteStore):
        async def _listed(self, *_: object) -> list[str]:
            return ["", "data/", "data", "zarr.json", "/"]

    assert Prefix(Listed(FsspecStore.from_url("memory://listed"))).names() == ["data", "zarr.json"]
