"""The order as a job: stopped anywhere it goes on to the same store, whatever its limits."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from collections import namedtuple
from pathlib import Path

import pytest

import gangsaw
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.api import workers
from gangsaw.tasks.reads.order import job
from gangsaw.tasks.reads.order.plan import Limits
from gangsaw.tasks.reads.synthetic import make_reads
from gangsaw.tasks.store.place import Place

RANGE = 1 << 13
ONE = Limits(range_letters=RANGE)
MANY = Limits(part_bytes=1 << 14, range_letters=RANGE, buckets=5)
TWO_LEVELS = Limits(part_bytes=1 << 14, range_letters=RANGE, most_segments=20)
STEPS = ["intake", "sign", "count", "plan", "scatter", "slabs", "regroup", "arrange"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Pairs in turn; some lines end otherwise, and one has a name behind "+"."""
    made = make_reads(250, 60, genome=3000)
    mates = [text.splitlines(keepends=True) for text in (made.first, made.second)]
    lines = [line for i in range(0, 1000, 4) for side in mates for line in side[i : i + 4]]
    for i in (0, 41, 1003):
        lines[i] = lines[i][:-1] + b"\r\n"
    lines[402] = b"+other\n"
    path = tmp_path / "in.fastq"
    path.write_bytes(b"".join(lines))
    return path


def compress(source: Path, target: Path, limits: Limits = MANY, **own: object) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "LIMITS", limits)
        gangsaw.compress(source, target, **{"order": "sorted", "interleaved": "yes", **own})  # type: ignore[arg-type]
    return target


def tree(folder: Path) -> dict[str, str]:
    """Digest of each object of a store."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def pairs(text: bytes) -> list[bytes]:
    lines = text.splitlines(keepends=True)
    return sorted(b"".join(lines[i : i + 8]) for i in range(0, len(lines), 8))


def test_limits_and_workers_do_not_change_the_store(source: Path, tmp_path: Path) -> None:
    whole = tree(compress(source, tmp_path / "one.zarr", ONE))
    assert tree(compress(source, tmp_path / "many.zarr", MANY)) == whole
    assert tree(compress(source, tmp_path / "two.zarr", TWO_LEVELS)) == whole
    with workers(workers=2, threads=1) as client:
        assert tree(compress(source, tmp_path / "c.zarr", TWO_LEVELS, client=client)) == whole
    assert {path.name for path in tmp_path.iterdir()} == {
        "in.fastq",
        "one.zarr",
        "many.zarr",
        "two.zarr",
        "c.zarr",
    }
    gangsaw.decompress(tmp_path / "two.zarr", tmp_path / "out.fastq")
    assert pairs((tmp_path / "out.fastq").read_bytes()) == pairs(source.read_bytes())


@pytest.mark.parametrize("step", STEPS)
def test_a_job_that_stopped_in_any_step_goes_on(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    whole = tree(compress(source, tmp_path / "whole.zarr", ONE))
    target, scratch = tmp_path / "a.zarr", tmp_path / "scratch"
    scratch.mkdir()
    put, stopped, made = Place.put, [], []

    def stop_behind_one(place: Place, key: str, data: object) -> None:
        if place.folder is not None and place.folder.name == step and key[0] == "0":
            made.append(key)
            if len(made) == (1 if step in ("plan", "slabs") else 2):
                stopped.append(key)
                raise OSError(28, "No space left on device", key)
        put(place, key, data)  # type: ignore[arg-type]

    monkeypatch.setattr(Place, "put", stop_behind_one)
    with pytest.raises(JobFailed, match=r"No space left on device.*run again with --resume"):
        compress(source, target, TWO_LEVELS, scratch=scratch)
    assert stopped
    assert not target.exists()
    (folder,) = scratch.iterdir()
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("0*")}
    with pytest.raises(BadParams, match="holds a different job"):
        compress(source, target, TWO_LEVELS, scratch=scratch, resume=True, order="bins")
    rewritten: list[Path] = []

    def watch(place: Place, key: str, data: object) -> None:
        if place.folder is not None and place.folder / key in before:
            rewritten.append(place.folder / key)
        put(place, key, data)  # type: ignore[arg-type]

    monkeypatch.setattr(Place, "put", watch)
    compress(source, target, TWO_LEVELS, scratch=scratch, resume=True)
    assert not rewritten
    assert tree(target) == whole
    assert not any(scratch.iterdir())


def test_a_changed_source_is_refused_and_a_mended_one_goes_on(source: Path, tmp_path: Path) -> None:
    whole, target = source.read_bytes(), tmp_path / "a.zarr"
    source.write_bytes(whole[:-40])
    with pytest.raises(BadParams, match="record 500"):
        compress(source, target)
    source.write_bytes(whole[:200].replace(b"A", b"C", 1) + whole[200:])
    with pytest.raises(BadParams, match="part 0 differs from the source"):
        compress(source, target, resume=True)
    source.write_bytes(whole)
    compress(source, target, resume=True)
    assert tree(target) == tree(compress(source, tmp_path / "whole.zarr"))


def test_need_is_told_and_too_little_room_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1, 1, 10))
    with pytest.raises(BadParams, match=r"--order sorted needs about .* MB of scratch: .* has 0.0"):
        compress(source, tmp_path / "a.zarr")
    with pytest.raises(BadParams, match="--scratch /no/such: no such folder"):
        compress(source, tmp_path / "a.zarr", scratch="/no/such")
    monkeypatch.undo()
    assert not list(tmp_path.glob(".a*/*/0*"))


def test_a_pipe_is_ordered_and_not_resumed(source: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.fastq"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(source.read_bytes()))
    writer.start()
    compress(pipe, tmp_path / "a.zarr")
    writer.join()
    whole = tree(compress(source, tmp_path / "whole.zarr"))
    own = tree(tmp_path / "a.zarr")
    assert {k: v for k, v in own.items() if "/c/" in k} == {
        k: v for k, v in whole.items() if "/c/" in k
    }
    with pytest.raises(BadParams, match="cannot be resumed"):
        compress(pipe, tmp_path / "a.zarr", resume=True)
