"""Faults of data and of machines: bad chunks, clocks that differ, too little memory."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from faults.table import fault
from helpers.clusters import in_process
from helpers.faulty_jobs import (
    N_CHUNKS,
    HeldArray,
    HeldJob,
    held,
    journalled,
    number,
    raw,
)
from helpers.hang import HANG, wait_until
from helpers.job_script import CHUNKS, CODECS, SHAPE
from helpers.sessions import kill_job
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams, CorruptChunk, JobFailed
from gangsaw.tasks.api import functions
from gangsaw.tasks.formats.raw.source import RawSource
from gangsaw.tasks.jobs.compress import compress
from gangsaw.tasks.sources.source import Region

TESTS = Path(__file__).parents[2]
PARTS = "Data and machine"
BAD = (7, 230)


@dataclass(frozen=True)
class BadArray(HeldArray):
    """An array some of whose chunks cannot be read."""

    def read(self, region: Region) -> NDArray[Any]:
        if number(tuple(s.start for s in region)) in BAD:
            raise CorruptChunk("the checksum differs")
        return super().read(region)


def with_bad_chunks(source: RawSource) -> RawSource:
    arrays = tuple(BadArray(**vars(array)) for array in source.arrays)
    return replace(source, arrays=arrays)  # type: ignore[arg-type]


def test_bad_chunks_are_named_when_all_others_are_done(tmp_path: Path) -> None:
    """When the source is mended, a resume reads these alone."""
    job = HeldJob(tmp_path)
    source = held(raw(tmp_path), tmp_path)
    job.allow(N_CHUNKS)
    how = {"codec": CODECS["zstd"], "chunks": CHUNKS}
    named = r"^chunk \S+data/c/0/\d+/\d+: the checksum differs, and 1 more"
    with fault(PARTS, f"{len(BAD)} chunks of {N_CHUNKS} that cannot be read") as run:
        with in_process() as client, pytest.raises(JobFailed, match=named) as failed:
            compress(with_bad_chunks(source), job.target, client=client, **how)
        run.job, run.said[""] = job, str(failed.value)
        assert journalled(job.target) == set(range(N_CHUNKS)) - set(BAD)
        job.looked()
        compress(source, job.target, resume=True, **how)
        compress(raw(tmp_path), job.whole, **how)
        job.check_outcome()


def clock(folder: Path, seconds: int) -> dict[str, str]:
    """An environment in which Python's clock is ahead so far, or behind."""
    folder.mkdir()
    ahead = f"import time; true = time.time; time.time = lambda: true() + {seconds}\n"
    (folder / "sitecustomize.py").write_text(ahead)
    path = os.pathsep.join([str(folder), str(TESTS), *filter(None, sys.path)])
    return os.environ | {"PYTHONPATH": path}


@pytest.mark.full
def test_clocks_may_differ(tmp_path: Path) -> None:
    """A run a day ahead is killed, one of now goes on, with workers of its own clock."""
    job, source = HeldJob(tmp_path), raw(tmp_path)
    shape = ",".join(map(str, SHAPE))
    words = ("--shape", shape, "--dtype", "<u2", "--codec", "zstd", "--chunks", "y=8,x=8")
    files = (f"{tmp_path}/cube.raw", str(job.target), *words, "--workers", "1", "--quiet")
    command = [sys.executable, "-m", "helpers.held_command", str(tmp_path), "compress", *files]

    def begin(seconds: int, *more: str) -> subprocess.Popen[bytes]:
        environment = clock(tmp_path / f"clock {seconds}", seconds)
        return subprocess.Popen([*command, *more], env=environment, start_new_session=True)

    with fault(PARTS, "clocks of two runs that differ by two days") as run:
        run.job = job
        job.allow(100)
        first = begin(86_400)
        wait_until(lambda: first.poll() is not None or len(journalled(job.target)) >= 100)
        kill_job(first, "all")
        job.looked()
        job.allow(N_CHUNKS)
        assert begin(-86_400, "--resume").wait(HANG) == 0
        functions.compress(source, job.whole, codec="zstd", chunks={"y": 8, "x": 8})
        job.check_outcome()


def test_too_little_memory_is_told_before_a_chunk_is_read(tmp_path: Path) -> None:
    file, shape = tmp_path / "large.raw", (64, 1024, 1024)
    with file.open("wb") as large:
        large.truncate(2 * shape[0] * shape[1] * shape[2])
    how = {"shape": shape, "dtype": "<u2", "codec": "zstd", "chunks": (-1, -1, -1)}
    told = "has 64 MiB for 1 threads, which need .+ MiB .* use smaller chunks"
    with fault(PARTS, "less memory than a chunk needs") as run:
        with (
            in_process(1, memory="64MiB") as client,
            pytest.raises(BadParams, match=told) as failed,
        ):
            functions.compress(file, tmp_path / "a.zarr", client=client, **how)  # type: ignore[arg-type]
        run.said[""] = str(failed.value)
        assert not (tmp_path / "a.zarr").exists()
