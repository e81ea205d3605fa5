"""A job on a cluster that loses parts while it runs: what came of it, and what was done twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed import Client
from numpy.typing import NDArray

from gangsaw.tasks.formats.raw import RawSource, open_raw
from gangsaw.tasks.jobs.compress import Summary, compress
from gangsaw.tasks.jobs.verification.verify import verify
from gangsaw.tasks.source import Region
from gangsaw.tasks.store.state.records import unpack
from helpers.job_data import LoggedArray, cube, objects, reads
from helpers.job_script import CHUNKS, CODECS, SHAPE

N_CHUNKS = 400
SECONDS = 120.0  # for anything to happen on a busy machine


def journalled(target: Path) -> set[int]:
    """Numbers of the chunks in valid journal entries, read without the code under test."""
    folder = target / "data" / ".gangsaw" / "journal"
    files = [p for p in folder.rglob("*") if p.is_file() and p.suffix != ".partial"]
    entries = [unpack(p.read_bytes()) for p in files]
    return {number for entry in entries if entry is not None for number in entry.batch}


def number(starts: tuple[int, ...]) -> int:
    """The number of the chunk that starts there."""
    return starts[1] // 8 * (SHAPE[2] // CHUNKS[2]) + starts[2] // 8


def is_left_by_killed(name: str) -> bool:
    """Whether a worker that was killed leaves such an object: half a file, a late entry."""
    return name.endswith(".partial") or "/.gangsaw/journal/" in name


def wait_until(happened: Callable[[], object], seconds: float = SECONDS) -> None:
    until = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)


@dataclass(frozen=True)
class HeldArray(LoggedArray):
    """An array whose chunks are read only up to a number, so that a job waits for the test.

    Attributes
    ----------
    gate : file with that number
    """

    gate: str = ""

    def read(self, region: Region) -> NDArray[Any]:
        while number(tuple(s.start for s in region)) >= int(Path(self.gate).read_text()):
            time.sleep(0.02)
        return super().read(region)


@dataclass(frozen=True)
class FaultyJob:
    """A job of 400 chunks that runs beside the test, as far as that lets it.

    Attributes
    ----------
    folder : holds the raw file, the targets and the log of reads
    done : its summary, later
    """

    folder: Path
    done: Future[Summary]

    @property
    def target(self) -> Path:
        return self.folder / "a.zarr"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def allow(self, n: int) -> None:
        """Let the job read the first n chunks."""
        new = self.folder / "new"
        new.write_text(str(n))
        new.replace(self.folder / "gate")

    def after(self, n: int) -> set[int]:
        """Let it read n chunks and journal half of them; return these, and log reads anew."""
        self.allow(n)
        wait_until(lambda: self.done.done() or len(journalled(self.target)) >= n // 2)
        assert not self.done.done(), self.done.result()
        found = journalled(self.target)
        self.log.rename(self.folder / f"log before {n}")
        return found

    def check(self, before: set[int]) -> None:
        """It ends as if undisturbed, and reads no more of `before`, which was journalled."""
        self.allow(N_CHUNKS)
        self.done.result(SECONDS)
        whole = self.folder / "whole.zarr"
        source = open_raw(str(self.folder / "cube.raw"), SHAPE, "<u2")
        compress(source, whole, codec=CODECS["zstd"], chunks=CHUNKS)
        found, wanted = objects(self.target), objects(whole)
        assert found.items() >= wanted.items()
        assert all(is_left_by_killed(name) for name in found.keys() - wanted.keys())
        assert verify(self.target, against=source).ok
        again = {number(starts) for _, starts in reads(self.log)}
        assert before.isdisjoint(again)


@contextmanager
def faulty_job(folder: Path, client: Client, seconds: float = 0.0) -> Iterator[FaultyJob]:
    """Run a job on the client's workers, each chunk with a pause; it begins when allowed to."""
    folder.mkdir(exist_ok=True)
    cube(SHAPE).tofile(folder / "cube.raw")
    raw = open_raw(str(folder / "cube.raw"), SHAPE, "<u2")
    log, gate = str(folder / "log"), str(folder / "gate")
    arrays = tuple(HeldArray(array, log, seconds, gate=gate) for array in raw.arrays)
    source = RawSource(raw.name, arrays, raw.coords, raw.attrs)  # type: ignore[arg-type]
    how = {"codec": CODECS["zstd"], "chunks": CHUNKS, "client": client}
    Path(gate).write_text("0")
    with ThreadPoolExecutor(1) as pool:
        job = FaultyJob(folder, pool.submit(compress, source, folder / "a.zarr", **how))
        try:
            yield job
        finally:
            job.allow(N_CHUNKS)  # else a test that failed would wait for it
