"""SIGKILL the client, a worker, or all processes of a job at random instants, many times.

GANGSAW_KILLS says how many times; the long run is `GANGSAW_KILLS=200 pytest --all`, which draws
other instants each time.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import zarr
from helpers.faulty_jobs import N_CHUNKS, HeldJob, journalled, number
from helpers.hang import HANG, wait_until
from helpers.job_data import cube, objects, reads
from helpers.job_script import CHUNKS, CODECS, SHAPE, STREAM, spool_rows
from helpers.sessions import kill_job, session

from gangsaw.tasks.formats.raw.source import open_raw
from gangsaw.tasks.jobs.compress import compress
from gangsaw.tasks.jobs.verification.verify import verify
from gangsaw.tasks.sources.source import Source
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.state.journal import Job, Journal

TESTS = Path(__file__).parents[2]
SCRIPT = TESTS / "helpers" / "job_script.py"
FATAL = ("client", "all")  # what ends a run; a worker is killed before, and replaced
KILLS = 4  # at least one of a worker and two of the job; each costs seconds to start again
PAUSE = 0.01  # seconds per chunk: an undisturbed run takes about two


@dataclass
class Trial:
    """One target that is killed and resumed until it is complete.

    Attributes
    ----------
    folder : holds the raw file, the target and the log of reads
    codec : name in job_script.CODECS
    """

    folder: Path
    codec: str
    samples: np.ndarray = field(default_factory=lambda: cube(SHAPE))

    @property
    def target(self) -> Path:
        return self.folder / "a.zarr"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def start(self, seconds: float = PAUSE) -> subprocess.Popen[bytes]:
        """Start the job in its own session and return when its cluster is up."""
        names = [str(p) for p in (self.folder / "cube.raw", self.target, self.log)]
        up = Path(f"{self.log}.up")
        up.unlink(missing_ok=True)
        process = subprocess.Popen(
            [sys.executable, str(SCRIPT), *names, str(seconds), self.codec],
            env=os.environ | {"PYTHONPATH": str(TESTS)},
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        wait_until(up.exists, process)
        return process

    def journalled(self) -> set[int]:
        """Numbers of the chunks in valid journal entries."""
        return journalled(self.target)

    def check_store(self) -> None:
        """Every chunk that is there is right; one that is absent reads as the fill value."""
        if not (self.target / "zarr.json").exists():
            return
        found = zarr.open_group(self.target, mode="r")["data"][...]
        for chunk in range(N_CHUNKS):
            row, column = divmod(chunk, SHAPE[2] // CHUNKS[2])
            region = np.s_[:, 8 * row : 8 * row + 8, 8 * column : 8 * column + 8]
            stored = (self.target / "data" / "c" / "0" / str(row) / str(column)).exists()
            expected = self.samples[region] if stored else 0
            assert (found[region] == expected).all(), f"chunk {chunk}"


def kill_worker(process: subprocess.Popen[bytes], log: Path) -> int:
    """Kill one of the workers that have read something; return how many were killed."""
    workers = {pid for pid, _ in reads(log)} & session(process.pid)
    for worker in sorted(workers)[:1]:
        os.kill(worker, signal.SIGKILL)
    return len(sorted(workers)[:1])


def kill_many_times(folder: Path, codec: str, kills: int, seed: int) -> dict[str, int]:
    """Kill a job again and again; where one is complete, check it and begin another."""
    rng = random.Random(seed)
    cube(SHAPE).tofile(folder / "cube.raw")
    trial = Trial(folder, codec)
    source = open_raw(str(folder / "cube.raw"), SHAPE, "<u2")
    compress(source, folder / "whole.zarr", codec=CODECS[codec], chunks=CHUNKS)
    whole = objects(folder / "whole.zarr")
    counts = {"kills": 0, "whole": 0, "partial files": 0}
    while counts["kills"] < kills or trial.target.exists():
        before = trial.journalled()
        trial.log.unlink(missing_ok=True)
        counts["kills"] += run_and_kill(trial, rng, calm=counts["kills"] >= kills)
        assert before.isdisjoint(number(starts) for _, starts in reads(trial.log))
        trial.check_store()
        counts["partial files"] += len(list(trial.target.rglob("*.partial")))
        if (trial.target / "data" / ".gangsaw" / "manifest").exists():
            check_whole(trial.target, source, whole)
            counts["whole"] += 1
    return counts


def run_and_kill(trial: Trial, rng: random.Random, calm: bool) -> int:
    """Run the job, kill a worker and then the job unless it is to end; return the kills."""
    process = trial.start(0 if calm else PAUSE)
    if calm:
        assert process.wait(timeout=HANG) == 0
        return 0
    kills = 0
    with suppress(subprocess.TimeoutExpired):
        assert process.wait(timeout=rng.uniform(0.0, 0.8)) == 0
        return kills
    kills += kill_worker(process, trial.log)
    with suppress(subprocess.TimeoutExpired):
        assert process.wait(timeout=rng.uniform(0.0, 0.8)) == 0
        return kills
    kill_job(process, rng.choice(FATAL))
    return kills + 1


def check_whole(target: Path, source: Source, whole: dict[str, bytes]) -> None:
    """A complete store is the same as one that was never interrupted; remove it."""
    journal = target / "data" / ".gangsaw" / "journal"
    assert objects(target).items() >= whole.items()
    left = objects(target).keys() - whole.keys()  # killed between manifest and removal
    assert all(journal in (target / name).parents for name in left)
    report = verify(target, against=source)
    assert report.ok
    assert report.chunks == N_CHUNKS
    assert not report.extra
    shutil.rmtree(target)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads sessions from /proc")
@pytest.mark.parametrize("codec", [pytest.param("zstd", marks=pytest.mark.full), "ccsds123"])
def test_killing_a_job_loses_nothing(tmp_path: Path, codec: str) -> None:
    chosen = os.environ.get("GANGSAW_KILLS", "")
    kills, seed = (int(chosen), int(time.time())) if chosen else (KILLS, 1)
    counts = kill_many_times(tmp_path, codec, kills, seed)
    sys.stdout.write(f"{codec}: {counts}\n")
    assert counts["kills"] >= kills
    assert counts["whole"] >= 1


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads sessions from /proc")
def test_a_killed_stream_goes_on(tmp_path: Path) -> None:
    """It is read again from its start, and what was journalled is not stored again."""
    cube(SHAPE).tofile(tmp_path / "cube.raw")
    raw, whole = str(tmp_path / "cube.raw"), tmp_path / "whole.zarr"
    spool_rows(raw, whole)
    trial = Trial(tmp_path, STREAM)
    process = trial.start()
    wait_until(lambda: len(trial.journalled()) >= 20, process)
    kill_job(process, "client")
    done, seen = trial.journalled(), []
    assert 20 <= len(done) < 120
    spool_rows(raw, trial.target, on_progress=seen.append)
    assert seen[-1].resumed == len(done)
    assert objects(trial.target) == objects(whole)


@pytest.mark.full
def test_ctrl_c_ends_the_job_quickly_and_resume_finishes_it(tmp_path: Path) -> None:
    """As a terminal does: SIGINT to every process of the group.

    The chunks in flight are held: the job ends before any of them is read.
    """
    cube(SHAPE).tofile(tmp_path / "cube.raw")
    trial, job = Trial(tmp_path, "zstd"), HeldJob(tmp_path)
    job.allow(20)
    process = trial.start(0)
    try:
        wait_until(lambda: len(trial.journalled()) >= 20, process)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=HANG) != 0
        wait_until(lambda: not session(process.pid))  # Python's own helper sees its pipe end
    finally:
        job.allow(N_CHUNKS)
    trial.check_store()
    before = trial.journalled()
    assert 20 <= len(before) < N_CHUNKS
    trial.log.unlink()
    assert trial.start(0).wait(timeout=HANG) == 0
    assert before.isdisjoint(number(starts) for _, starts in reads(trial.log))
    assert verify(trial.target).ok


def test_the_journal_is_read_without_its_writer(tmp_path: Path) -> None:
    """`Trial.journalled` and the journal agree on what is done."""
    place = open_prefix(tmp_path / "a.zarr", writable=True) / "data"
    job = Job("source", "array", 10, 5)
    journal = Journal(place, job.fingerprint, 5)
    assert Trial(tmp_path, "zstd").journalled() == set(journal.read_all(job.batches)) == set()
