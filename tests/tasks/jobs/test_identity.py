"""What caches, journals and resumed runs stand on is content: no address, no metadata alone."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import fsspec
import h5py
import numpy as np
import pytest
import xarray as xr
import zarr
from fsspec.implementations.memory import MemoryFileSystem
from helpers.opened import opened_below

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.opening import open_source
from gangsaw.tasks.genomics.align.job import job as aligning
from gangsaw.tasks.genomics.align.job.job import AlignChoice, align_job
from gangsaw.tasks.jobs.chunks.transcode import Transcode
from gangsaw.tasks.store.source import ZarrSource, open_zarr

SHAPE = (8, 12, 10)


def samples(seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint16]]:
    return np.random.default_rng(seed).integers(0, 4096, SHAPE, np.uint16)


def write(path: Path | str, seed: int) -> None:
    """Write a store of another program: none of its objects changes its size with the seed."""
    zarr.create_array(
        str(path), data=samples(seed), chunks=(4, 6, 5), compressors=None, overwrite=True
    )


def compressed(path: Path, seed: int) -> None:
    """Write a store by a job."""
    write(path.with_suffix(".plain"), seed)
    gangsaw.compress(path.with_suffix(".plain"), path, codec="zstd", overwrite=True)


def identity(path: Path | str) -> str:
    source = open_source(str(path))
    assert isinstance(source, ZarrSource)
    return source.identity()


@contextmanager
def stopped_after(n: int, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a job of whole arrays stop behind so many batches."""
    left, done = iter(range(n)), Transcode.__call__

    def call(self: Transcode, batch: range) -> object:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return done(self, batch)

    with patch.context() as own:
        own.setattr(Transcode, "__call__", call)
        with pytest.raises(KeyboardInterrupt):
            yield


@pytest.mark.parametrize("make", [write, compressed])
def test_a_store_with_other_samples_is_another(
    tmp_path: Path, make: Callable[[Path, int], None]
) -> None:
    make(tmp_path / "a.zarr", 1)
    first = identity(tmp_path / "a.zarr")
    assert identity(tmp_path / "a.zarr") == first
    make(tmp_path / "a.zarr", 2)
    assert identity(tmp_path / "a.zarr") != first


def test_equal_content_is_the_same_wherever_a_job_wrote_it(tmp_path: Path) -> None:
    compressed(tmp_path / "a.zarr", 1)
    first = identity(tmp_path / "a.zarr")
    compressed(tmp_path / "b.zarr", 1)
    assert identity(tmp_path / "b.zarr") == first
    (tmp_path / "a.zarr").rename(tmp_path / "c.zarr")
    assert identity(tmp_path / "c.zarr") == first


def test_no_sample_of_a_store_with_manifests_is_read(tmp_path: Path) -> None:
    compressed(tmp_path / "a.zarr", 1)
    source = open_zarr(str(tmp_path / "a.zarr"))
    with opened_below(tmp_path / "a.zarr") as opened:
        assert source.identity()
    assert "data/.gangsaw/manifest" in opened
    assert not [name for name in opened if name.startswith("data/c/")]


def test_equal_stores_of_other_programs_differ_by_place(tmp_path: Path) -> None:
    write(tmp_path / "a.zarr", 1)
    shutil.copytree(tmp_path / "a.zarr", tmp_path / "b.zarr")  # with equal times
    assert identity(tmp_path / "a.zarr") != identity(tmp_path / "b.zarr")


def test_a_finished_store_that_was_edited_is_another(tmp_path: Path) -> None:
    """Zarr writes through our codecs, and knows nothing of manifests: a genome masked in place."""
    compressed(tmp_path / "a.zarr", 1)
    first = identity(tmp_path / "a.zarr")
    array = zarr.open_array(tmp_path / "a.zarr/data", mode="r+")
    array[0, 0, 0] = int(samples(1)[0, 0, 0]) ^ 1
    assert identity(tmp_path / "a.zarr") != first


def test_objects_of_an_address_are_known_by_their_times() -> None:
    write("memory://identity/a.zarr", 1)
    first = identity("memory://identity/a.zarr")
    assert identity("memory://identity/a.zarr") == first
    write("memory://identity/a.zarr", 2)
    assert identity("memory://identity/a.zarr") != first
    fsspec.filesystem("memory").rm("/identity", recursive=True)


def test_a_finished_store_is_known_where_nobody_may_list(monkeypatch: pytest.MonkeyPatch) -> None:
    address, seen = "memory://unlisted/a.zarr", []
    for seed in (1, 2):
        write("memory://unlisted/plain.zarr", seed)
        gangsaw.compress("memory://unlisted/plain.zarr", f"{address}{seed}", codec="zstd")
        source = open_zarr(f"{address}{seed}")
        with monkeypatch.context() as patch:
            patch.setattr(MemoryFileSystem, "find", _refuses)
            arrays = [version for name, version in source.versions().items() if name != source.name]
            assert arrays
            seen.append((source.identity(), *arrays))
    assert all(a != b for a, b in zip(*seen, strict=True))
    fsspec.filesystem("memory").rm("/unlisted", recursive=True)


def _refuses(*_: object, **__: object) -> object:
    raise PermissionError("ListBucket")


def test_coordinates_and_attributes_are_content(tmp_path: Path) -> None:
    found = []
    for first, title in ((0.0, "a"), (1.0, "a"), (0.0, "b")):
        data = xr.Dataset(
            {"data": (("band", "y", "x"), samples(1))},
            {"band": first + np.arange(8.0)},
            {"title": title},
        )
        data.to_zarr(tmp_path / "a.zarr", mode="w", consolidated=False)
        gangsaw.compress(tmp_path / "a.zarr", tmp_path / "b.zarr", codec="zstd", overwrite=True)
        found.append(identity(tmp_path / "b.zarr"))
    assert len(set(found)) == 3


def test_a_store_that_was_replaced_is_not_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compressed(tmp_path / "a.zarr", 1)
    with stopped_after(3, monkeypatch):
        gangsaw.compress(tmp_path / "a.zarr", tmp_path / "b.zarr", codec="zstd", chunks=(2, 6, 5))
    again = {"codec": "zstd", "chunks": (2, 6, 5), "resume": True}
    compressed(tmp_path / "a.zarr", 2)
    with pytest.raises(BadParams, match="the source is another one or has changed"):
        gangsaw.compress(tmp_path / "a.zarr", tmp_path / "b.zarr", **again)  # type: ignore[arg-type]
    compressed(tmp_path / "a.zarr", 1)
    done = gangsaw.compress(tmp_path / "a.zarr", tmp_path / "b.zarr", **again)  # type: ignore[arg-type]
    assert done.resumed == 3
    assert (zarr.open_array(tmp_path / "b.zarr/data", mode="r")[...] == samples(1)).all()


def test_decompressing_a_store_that_was_replaced_is_not_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compressed(tmp_path / "a.zarr", 1)
    with stopped_after(0, monkeypatch):
        gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.zarr")
    compressed(tmp_path / "a.zarr", 2)
    with pytest.raises(BadParams, match="the source is another one or has changed"):
        gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.zarr", resume=True)


def test_a_journal_of_an_earlier_version_is_refused_by_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compressed(tmp_path / "a.zarr", 1)
    with stopped_after(0, monkeypatch):
        gangsaw.compress(tmp_path / "a.zarr", tmp_path / "b.zarr", codec="zstd")
    path = tmp_path / "b.zarr/data/.gangsaw/job.json"
    old = {**json.loads(path.read_text()), "source": f"{tmp_path}/a.zarr; data 0123456789abcdef"}
    path.write_text(json.dumps(old))
    with pytest.raises(BadParams, match=r"an earlier version of Gangsaw began it.*--overwrite"):
        gangsaw.compress(tmp_path / "a.zarr", tmp_path / "b.zarr", codec="zstd", resume=True)


def genome(path: Path, letters: str) -> None:
    path.with_suffix(".fa").write_text(f">g\n{letters}\n")
    gangsaw.compress(path.with_suffix(".fa"), path, overwrite=True)


def test_alignment_sees_the_genome_and_the_reads_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = ("".join(np.random.default_rng(i).choice(list("ACGT"), 20_000)) for i in (1, 2))
    store, out = str(tmp_path / "g.zarr"), tmp_path / "out.paf"
    queries, reads = tmp_path / "q.fa", tmp_path / "q.zarr"
    queries.write_text(f">first\n{first[500:900]}\n>second\n{second[500:900]}\n")

    def names(query: Path, **how: bool) -> list[str]:
        align_job([str(query)], store, str(out), choice=AlignChoice(**how))
        return [line.split("\t")[0] for line in out.read_text().splitlines()]

    for letters, name in ((first, "first"), (second, "second")):
        genome(tmp_path / "g.zarr", letters)
        assert names(queries, overwrite=True) == [name]
    out.unlink()
    gangsaw.compress(queries, reads, format="fasta")
    for change in ("genome", "reads"):
        with monkeypatch.context() as patch:
            patch.setattr(aligning, "MakeHits", _stops)  # behind queries and index
            with pytest.raises(KeyboardInterrupt):
                names(reads)
        if change == "genome":
            genome(tmp_path / "g.zarr", first)
        else:
            queries.write_text(f">secone\n{second[500:900]}\n>first\n{first[500:900]}\n")
            gangsaw.compress(queries, reads, format="fasta", overwrite=True)
        with pytest.raises(BadParams, match="holds a different job"):
            names(reads, resume=True)
        shutil.rmtree(f"{out}.part")


def _stops(*_: object) -> object:
    raise KeyboardInterrupt


def test_a_finished_store_of_other_reads_is_not_taken_for_done(tmp_path: Path) -> None:
    source, target = tmp_path / "a.fastq", tmp_path / "a.zarr"
    source.write_text("@r\nACGTA\n+\nIIIII\n")
    gangsaw.compress(source, target)
    assert gangsaw.compress(source, target, resume=True).run_bytes == 0
    source.write_text("@r\nACGTC\n+\nIIIII\n")
    with pytest.raises(BadParams, match=r"its source has changed since.*--overwrite"):
        gangsaw.compress(source, target, resume=True)


@pytest.mark.parametrize("is_renamed", [True, False])
def test_a_file_of_equal_size_and_time_is_opened_again(tmp_path: Path, is_renamed: bool) -> None:
    path, other = tmp_path / "a.h5", tmp_path / "b.h5"
    for name, seed in ((path, 1), (other, 2)):
        with h5py.File(name, "w") as file:
            file["data"] = samples(seed)
        os.utime(name, ns=(10**18, 10**18 + (0 if is_renamed else seed)))
    gangsaw.compress(path, tmp_path / "a.zarr", codec="zstd")
    if is_renamed:
        other.replace(path)
    else:
        shutil.copy2(other, path)
    gangsaw.compress(path, tmp_path / "b.zarr", codec="zstd")
    assert (zarr.open_array(tmp_path / "b.zarr/data", mode="r")[...] == samples(2)).all()


def test_a_store_by_another_program_in_place_of_a_finished_one(tmp_path: Path) -> None:
    """A finished store must have all chunks, in others those that are absent are fill values."""
    compressed(tmp_path / "a.zarr", 1)
    source = open_zarr(str(tmp_path / "a.zarr"))
    assert (source.arrays[0].read((slice(0, 8), slice(0, 12), slice(0, 10))) == samples(1)).all()
    metadata = (tmp_path / "a.zarr/data/zarr.json").read_bytes()
    shutil.rmtree(tmp_path / "a.zarr/data")
    (tmp_path / "a.zarr/data").mkdir()
    (tmp_path / "a.zarr/data/zarr.json").write_bytes(metadata)
    source = open_zarr(str(tmp_path / "a.zarr"))
    assert not source.arrays[0].read((slice(0, 8), slice(0, 12), slice(0, 10))).any()
