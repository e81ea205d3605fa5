"""What an interrupted or killed job leaves, and what resuming it does."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import zarr
from helpers.job_data import cube, logged, objects, raw_source, reads
from helpers.job_runs import SHAPE, interrupted, job, labelled_source
from zarr.codecs import GzipCodec

from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.formats.raw.source import RawSource
from gangsaw.tasks.jobs.verification.verify import verify
from gangsaw.tasks.store.state import target as target_module


@pytest.fixture
def source(tmp_path: Path) -> RawSource:
    return labelled_source(tmp_path)


def test_resume_redoes_no_journalled_batch(source: RawSource, tmp_path: Path) -> None:
    target, log = tmp_path / "a.zarr", tmp_path / "log"
    job(source, tmp_path / "whole.zarr")
    interrupted(source, target)
    with pytest.raises(JobFailed, match="is not finished: run it with --resume"):
        verify(target)
    summary = job(logged(source, log), target, resume=True)
    assert summary.resumed == 8
    assert {starts[1] for _, starts in reads(log)} == {32}
    assert summary.raw_bytes == 24_000
    assert objects(target) == objects(tmp_path / "whole.zarr")
    assert job(logged(source, log), target, resume=True).resumed == 12
    assert len(reads(log)) == 4


def test_resume_of_nothing_is_a_start(source: RawSource, tmp_path: Path) -> None:
    assert job(source, tmp_path / "a.zarr", resume=True).resumed == 0


def test_a_damaged_manifest_is_made_anew(source: RawSource, tmp_path: Path) -> None:
    job(source, tmp_path / "whole.zarr")
    job(source, tmp_path / "a.zarr")
    manifest = tmp_path / "a.zarr" / "data" / ".gangsaw" / "manifest"
    manifest.write_bytes(manifest.read_bytes()[:-1])
    assert job(source, tmp_path / "a.zarr", resume=True).resumed == 0
    assert objects(tmp_path / "a.zarr") == objects(tmp_path / "whole.zarr")


def test_a_torn_journal_entry_is_redone(source: RawSource, tmp_path: Path) -> None:
    target, log = tmp_path / "a.zarr", tmp_path / "log"
    interrupted(source, target)
    entry = target / "data" / ".gangsaw" / "journal/00000/000/000000000003"
    entry.write_bytes(entry.read_bytes()[:-5])
    job(logged(source, log), target, resume=True)
    assert sorted({starts[1:] for _, starts in reads(log)})[0] == (0, 48)
    assert len(reads(log)) == 5
    assert verify(target, against=source).ok


def test_resume_cleans_temporary_files(source: RawSource, tmp_path: Path) -> None:
    target = tmp_path / "a.zarr"
    interrupted(source, target)
    (target / "data" / "c" / "0" / f"x.{'ab' * 16}.partial").write_bytes(b"half")
    job(source, target, resume=True)
    assert not list(target.rglob("*.partial"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codec": GzipCodec()}, "shape, dtype, chunks, codec, parameters or attributes differ"),
        ({"chunks": (6, 16, 50)}, "shape, dtype, chunks, codec, parameters or attributes differ"),
    ],
)
def test_resume_refuses_another_job(
    source: RawSource, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    interrupted(source, tmp_path / "a.zarr")
    before = objects(tmp_path / "a.zarr")
    with pytest.raises(BadParams, match=f"holds a different job .*{message}.*--overwrite"):
        job(source, tmp_path / "a.zarr", resume=True, **change)
    assert objects(tmp_path / "a.zarr") == before


def test_resume_refuses_a_changed_source(source: RawSource, tmp_path: Path) -> None:
    interrupted(source, tmp_path / "a.zarr")
    os.utime(source.name, ns=(1, 1))
    with pytest.raises(BadParams, match="the source is another one or has changed"):
        job(source, tmp_path / "a.zarr", resume=True)


def test_overwriting_keeps_the_old_store_until_the_new_one_is_whole(
    source: RawSource, tmp_path: Path
) -> None:
    target = tmp_path / "a.zarr"
    job(source, target)
    before = objects(target)
    other = raw_source(tmp_path, SHAPE, seed=1)
    interrupted(other, target, overwrite=True)
    assert objects(target) == before
    assert job(other, target, resume=True).resumed == 8
    assert (zarr.open_group(target, mode="r")["data"][...] == cube(SHAPE, 1)).all()
    assert verify(target, against=other).ok
    assert [p.name for p in tmp_path.iterdir() if "gangsaw" in p.name] == []


def test_resume_finds_its_job_beside_a_given_up_one(source: RawSource, tmp_path: Path) -> None:
    target = tmp_path / "a.zarr"
    job(source, target)
    interrupted(raw_source(tmp_path, SHAPE, seed=1), target, overwrite=True)
    shutil.rmtree(target)
    interrupted(source, target)
    assert job(source, target, resume=True).resumed == 8
    assert verify(target, against=source).ok
    assert [p.name for p in tmp_path.iterdir() if "gangsaw" in p.name] == []


def test_resuming_what_is_finished_keeps_the_job_beside_it(
    source: RawSource, tmp_path: Path
) -> None:
    target = tmp_path / "a.zarr"
    job(source, target)
    other = raw_source(tmp_path, SHAPE, seed=1)
    interrupted(other, target, overwrite=True)
    assert job(source, target, resume=True).resumed == 12
    assert job(other, target, resume=True).resumed == 8


def test_resuming_what_is_finished_writes_lost_chunks_again(
    source: RawSource, tmp_path: Path
) -> None:
    target, log = tmp_path / "a.zarr", tmp_path / "log"
    job(source, target)
    whole = objects(target)
    for key in ("0/1/0", "0/2/1"):
        (target / "data" / "c" / key).unlink()
    assert not verify(target).ok
    summary = job(logged(source, log), target, resume=True)
    assert (summary.chunks, summary.chunks - summary.resumed) == (12, len(reads(log)))
    assert summary.raw_bytes == 24_000
    assert {starts[1:] for _, starts in reads(log)} >= {(16, 0), (32, 16)}
    assert len(reads(log)) < 12
    assert objects(target) == whole


def test_mending_that_is_interrupted_goes_on(source: RawSource, tmp_path: Path) -> None:
    """Also where a chunk that it wrote is lost in between."""
    target, log = tmp_path / "a.zarr", tmp_path / "log"
    job(source, target)
    whole = objects(target)
    shutil.rmtree(target / "data" / "c" / "0")
    interrupted(source, target, resume=True)
    assert not verify(target).ok
    (target / "data" / "c" / "0" / "0" / "0").unlink()
    summary = job(logged(source, log), target, resume=True)
    assert 0 < summary.resumed < summary.chunks
    assert len(reads(log)) == summary.chunks - summary.resumed
    assert objects(target) == whole


@pytest.mark.parametrize("renames", [1, 2])
def test_a_kill_in_the_swap_loses_nothing(
    source: RawSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renames: int
) -> None:
    target = tmp_path / "a.zarr"
    job(source, target)
    other = raw_source(tmp_path, SHAPE, seed=1)
    done = 0
    rename = Path.rename

    def dies_after(self: Path, to: Path) -> Path:
        nonlocal done
        if done == renames:
            raise KeyboardInterrupt
        done += 1
        return rename(self, to)

    def dies(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", dies_after)
    monkeypatch.setattr(target_module, "shutil", SimpleNamespace(rmtree=dies))
    with pytest.raises(KeyboardInterrupt):
        job(other, target, overwrite=True)
    monkeypatch.undo()
    job(other, target, resume=True)
    assert (zarr.open_group(target, mode="r")["data"][...] == cube(SHAPE, 1)).all()
    assert [p.name for p in tmp_path.iterdir() if "gangsaw" in p.name] == []
