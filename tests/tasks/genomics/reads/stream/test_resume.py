"""A job on FASTQ files that stopped goes on, unless what it had read has changed."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.clusters import in_process

import gangsaw
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.jobs.compress import Summary
from gangsaw.tasks.jobs.streams.growing import GrowingArray, StoredStep, StoreStep

CHUNK = 1 << 12
N = 400
STOPPED = r"chunk \S+/reads.zarr/\w+, \d+\.\.\d+: no space left .*: run again with --resume"


def text(n: int = N, seed: int = 1) -> bytes:
    rng = np.random.default_rng(seed)
    sequences = rng.choice(np.frombuffer(b"ACGT", "u1"), (n, 50))
    return b"".join(
        b"@r%d\n%s\n+\n%s\n" % (i, bytes(s), b"I" * 50) for i, s in enumerate(sequences)
    )


def compress(source: Path, target: Path, **how: Any) -> Summary:
    chunks = {
        f"{name}_{kind}": CHUNK
        for name in ("sequence", "quality", "name")
        for kind in ("byte", "line")
    }
    return gangsaw.compress(source, target, chunks=chunks, **how)


def tree(folder: Path) -> dict[str, str]:
    """Digest of each object of a store."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.fastq"
    path.write_bytes(text())
    return path


@contextmanager
def stopped_after(monkeypatch: pytest.MonkeyPatch, n: int) -> Iterator[None]:
    """Let a job stop when it wants to store one more than so many steps."""
    left = iter(range(n))

    def store(step: StoreStep, batch: range) -> StoredStep:
        with name_failed_chunk(step.address(batch)):
            if next(left, None) is None:
                raise OSError(errno.ENOSPC, "no space left on device")
        return stored(step, batch)

    stored = StoreStep.__call__
    with monkeypatch.context() as patch:
        patch.setattr(StoreStep, "__call__", store)
        with pytest.raises(JobFailed, match=STOPPED):
            yield


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize(("steps", "on_workers"), [(1, False), (5, True), (11, False)])
def test_a_stopped_job_goes_on_to_the_same_store(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int, on_workers: bool
) -> None:
    compress(source, tmp_path / "whole.zarr")
    target = tmp_path / "reads.zarr"
    with (
        stopped_after(monkeypatch, steps),
        in_process() if on_workers else nullcontext() as client,
    ):
        compress(source, target, client=client)
    written = {path: path.stat().st_mtime_ns for path in target.rglob("c/*")}
    journalled = len(list(target.rglob("journal/*/*/*")))
    assert journalled <= len(written) <= steps
    again = compress(source, target, resume=True)
    assert again.chunks > steps
    assert again.resumed == journalled
    assert tree(target) == tree(tmp_path / "whole.zarr")
    rewritten = [path for path, when in written.items() if path.stat().st_mtime_ns != when]
    assert len(rewritten) <= len(written) - journalled  # those that were stored and not journalled
    assert gangsaw.verify(target, against=source).ok


def test_a_job_that_stopped_at_its_end_goes_on(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compress(source, tmp_path / "whole.zarr")
    target, finish = tmp_path / "reads.zarr", GrowingArray.finish
    finished: list[str] = []

    def stop(array: GrowingArray, source: str) -> None:
        if len(finished) == 2:
            raise OSError("stopped")
        finished.append(array.sample.name)
        finish(array, source)

    monkeypatch.setattr(GrowingArray, "finish", stop)
    with pytest.raises(OSError, match="stopped"):
        compress(source, target)
    monkeypatch.setattr(GrowingArray, "finish", finish)
    compress(source, target, resume=True)
    assert tree(target) == tree(tmp_path / "whole.zarr")


def test_a_finished_job_is_left_alone(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "reads.zarr"
    first = compress(source, target)
    before = {path: path.stat().st_mtime_ns for path in target.rglob("*")}
    again = compress(source, target, resume=True)
    assert (again.chunks, again.resumed, again.run_bytes) == (first.chunks, first.chunks, 0)
    assert (again.samples, again.stored_bytes) == (first.samples, first.stored_bytes)
    assert before == {path: path.stat().st_mtime_ns for path in target.rglob("*")}


def test_a_source_that_was_mended_goes_on(source: Path, tmp_path: Path) -> None:
    target, whole = tmp_path / "reads.zarr", text()
    source.write_bytes(whole[:-30])
    with pytest.raises(BadParams, match="line 1600, record 400: its quality differs in length"):
        compress(source, target)
    source.write_bytes(whole)
    compress(source, target, resume=True)
    compress(source, tmp_path / "whole.zarr")
    assert tree(target) == tree(tmp_path / "whole.zarr")


def test_a_source_that_has_changed_is_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "reads.zarr"
    with stopped_after(monkeypatch, 8):
        compress(source, target)
    source.write_bytes(text(seed=2))
    message = "sequence, chunk c/0: the samples differ from the source; to resume, what"
    with in_process() as client, pytest.raises(BadParams, match=message):
        compress(source, target, resume=True, client=client)
    with pytest.raises(BadParams, match="holds a different job"):
        gangsaw.compress(source, target, resume=True, names="number")
    source.write_bytes(text())
    compress(source, target, resume=True)
    compress(source, tmp_path / "whole.zarr")
    assert tree(target) == tree(tmp_path / "whole.zarr")


def test_a_pipe_cannot_be_resumed(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.fastq")
    with pytest.raises(BadParams, match="cannot be resumed"):
        gangsaw.compress(tmp_path / "pipe.fastq", tmp_path / "reads.zarr", resume=True)
