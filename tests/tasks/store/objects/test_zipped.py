"""Stores in one ZIP file: those that zarr wrote, and ours."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.command_line import CommandLine
from helpers.envi_files import cube
from zarr.storage import ZipStore

import gangsaw
from gangsaw import BadParams, CorruptChunk


def by_zarr(path: Path) -> Path:
    """A ZIP file that zarr itself wrote."""
    with ZipStore(path, mode="w") as store:
        group = zarr.create_group(store, attributes={"title": "t"})
        group.create_array("data", data=cube(), dimension_names=("band", "y", "x"))
    return path


def test_a_store_of_zarr_is_read(tmp_path: Path) -> None:
    source = by_zarr(tmp_path / "q.zarr.zip")
    gangsaw.compress(source, tmp_path / "a.zarr")
    assert gangsaw.verify(tmp_path / "a.zarr", against=source).problems == ()
    gangsaw.decompress(source, tmp_path / "a.hdr", accept_loss=True)
    found = np.fromfile(tmp_path / "a.img", cube().dtype)
    assert np.array_equal(found, cube().ravel())
    assert gangsaw.info(source).arrays[0].name == "data"
    assert gangsaw.open(source, consolidated=False)["data"].shape == cube().shape


def test_ours_is_read_by_zarr_and_xarray(tmp_path: Path) -> None:
    source, target = by_zarr(tmp_path / "q.zarr.zip"), tmp_path / "out.zarr.zip"
    assert gangsaw.compress(source, target).store == str(target)
    assert [path.name for path in tmp_path.glob("*out*")] == [target.name]
    with ZipStore(target, mode="r") as store:
        assert np.array_equal(xr.open_zarr(store)["data"].values, cube())
        assert zarr.open_group(store, mode="r").attrs["title"] == "t"
    report = gangsaw.verify(target, against=source)
    assert (report.problems, report.compared) == ((), True)
    assert gangsaw.info(target).arrays[0].codec == "gangsaw.ccsds123"


def test_decompressed_into_one(tmp_path: Path) -> None:
    gangsaw.compress(by_zarr(tmp_path / "q.zarr.zip"), tmp_path / "a.zarr")
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.zarr.zip")
    with ZipStore(tmp_path / "b.zarr.zip", mode="r") as store:
        assert np.array_equal(zarr.open_group(store, mode="r")["data"][...], cube())


def test_an_old_one_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    source = by_zarr(tmp_path / "q.zarr.zip")
    gangsaw.compress(source, tmp_path / "a.zarr.zip")
    old = (tmp_path / "a.zarr.zip").read_bytes()
    with pytest.raises(BadParams, match=r"a\.zarr\.zip exists: give another name, or --overwrite"):
        gangsaw.compress(source, tmp_path / "a.zarr.zip")
    with pytest.raises(BadParams):
        gangsaw.compress(source, tmp_path / "a.zarr.zip", overwrite=True, codec="no_such")
    assert (tmp_path / "a.zarr.zip").read_bytes() == old
    gangsaw.compress(source, tmp_path / "a.zarr.zip", overwrite=True, codec="zstd")
    assert gangsaw.verify(tmp_path / "a.zarr.zip", against=source).problems == ()


def test_a_damaged_one_is_named(tmp_path: Path) -> None:
    source = by_zarr(tmp_path / "q.zarr.zip")
    source.write_bytes(source.read_bytes()[:-40])
    with pytest.raises((BadParams, CorruptChunk), match=r"q\.zarr\.zip"):
        gangsaw.info(source)
    with pytest.raises((BadParams, CorruptChunk), match=r"q\.zarr\.zip"):
        gangsaw.verify(source)


def test_a_damaged_chunk_is_found(tmp_path: Path) -> None:
    gangsaw.compress(by_zarr(tmp_path / "q.zarr.zip"), tmp_path / "a.zarr")
    chunk = next(path for path in (tmp_path / "a.zarr/data/c").rglob("*") if path.is_file())
    chunk.write_bytes(chunk.read_bytes()[:-1] + b"\xff")
    with zipfile.ZipFile(tmp_path / "b.zarr.zip", "w") as archive:
        for path in (tmp_path / "a.zarr").rglob("*"):
            if path.is_file():
                archive.write(path, path.relative_to(tmp_path / "a.zarr"))
    assert gangsaw.verify(tmp_path / "b.zarr.zip").problems


def test_reads_are_extracted_from_one(gangsaw: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "a.fastq").write_text("".join(f"@r{i}\nACGT\n+\nIIII\n" for i in range(9)))
    gangsaw.ok("compress", tmp_path / "a.fastq", tmp_path / "a.zarr.zip", "--quiet")
    gangsaw.ok("verify", tmp_path / "a.zarr.zip", "--against", tmp_path / "a.fastq", "--quiet")
    assert gangsaw.ok("extract", tmp_path / "a.zarr.zip", "2:3").out == "@r2\nACGT\n+\nIIII\n"
    gangsaw.ok("decompress", tmp_path / "a.zarr.zip", tmp_path / "b.fastq", "--quiet")
    assert (tmp_path / "b.fastq").read_bytes() == (tmp_path / "a.fastq").read_bytes()


@pytest.mark.full
def test_a_finished_one_says_that_nothing_is_left(tmp_path: Path, gangsaw: CommandLine) -> None:
    source, target = by_zarr(tmp_path / "q.zarr.zip"), tmp_path / "a.zarr.zip"
    gangsaw.ok("compress", source, target)
    old = target.read_bytes()
    line = gangsaw("compress", source, target, "--resume").failed(2)
    assert "a.zarr.zip is finished: " in line
    assert "gangsaw verify checks it, --overwrite writes it anew" in line
    gangsaw.ok("decompress", target, tmp_path / "b.zarr.zip")
    line = gangsaw("decompress", target, tmp_path / "b.zarr.zip", "--resume").failed(2)
    assert "b.zarr.zip is finished: " in line
    assert target.read_bytes() == old


def test_reads_are_found_in_one_but_no_index_is_added(tmp_path: Path, gangsaw: CommandLine) -> None:
    text = b"@a\nACGT\n+\nFFFF\n@b\nGGGG\n+\nIIII\n"
    (tmp_path / "a.fastq").write_bytes(text)
    target = tmp_path / "a.zarr.zip"
    gangsaw.ok("compress", tmp_path / "a.fastq", target)
    old = target.read_bytes()
    line = gangsaw("index-reads", target).failed(2)
    assert "a.zarr.zip: an index is added to stores in folders alone" in line
    assert target.read_bytes() == old
    assert gangsaw.ok("extract", target, "1:2").out == "@b\nGGGG\n+\nIIII\n"
