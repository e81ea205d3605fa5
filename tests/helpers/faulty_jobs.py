"""A job on a cluster that loses parts while it runs: what came of it, and what was done twice."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distributed import Client
from numpy.typing import NDArray

from gangsaw.tasks.formats.raw.source import RawSource, open_raw
from gangsaw.tasks.jobs.compress import Summary, compress
from gangsaw.tasks.jobs.verification.verify import verify
from gangsaw.tasks.sources.source import Region
from gangsaw.tasks.store.state.records import unpack_records
from helpers.hang import HANG, wait_until
from helpers.job_data import LoggedArray, cube, objects, reads
from helpers.job_script import CHUNKS, CODECS, SHAPE

N_CHUNKS = 400


def journalled(target: Path) -> set[int]:
    """Numbers of the chunks in valid journal entries, read without the code under test."""
    folder = target / "data" / ".gangsaw" / "journal"
    entries = [unpack_records(data) for data in map(read, folder.rglob("*")) if data is not None]
    return {number for entry in entries if entry is not None for number in entry.batch}


def read(path: Path) -> bytes | None:
    """The bytes of a whole file; None of others, and of one that a job removed meanwhile."""
    if path.suffix == ".partial" or path.is_dir():
        return None
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def number(starts: tuple[int, ...]) -> int:
    """The number of the chunk that starts there."""
    return starts[1] // 8 * (SHAPE[2] // CHUNKS[2]) + starts[2] // 8


def is_left_by_killed(name: str) -> bool:
    """Whether a worker that was killed leaves such an object: half a file, a late entry."""
    return name.endswith(".partial") or "/.gangsaw/journal/" in name


def without_history(names: set[str]) -> set[str]:
    """Names of objects, those apart that tell when jobs ran."""
    return {name for name in names if "history" not in name}


@dataclass(frozen=True)
class HeldArray(LoggedArray):
    """An array that is not read while enough of it is journalled, so that a job waits for the test.

    Which chunks these are does not matter: tasks are of any size, and come in any order.

    Attributes
    ----------
    gate : file with the number of journalled chunks that is enough
    target : that is written
    """

    gate: str = ""
    target: str = ""

    def read(self, region: Region) -> NDArray[Any]:
        while self.is_held:
            time.sleep(0.02)
        return super().read(region)

    @property
    def is_held(self) -> bool:
        enough = int(Path(self.gate).read_text())
        return enough < N_CHUNKS and len(journalled(Path(self.target))) >= enough


def held(source: RawSource, folder: Path, seconds: float = 0.0) -> RawSource:
    """The same source for the job of a folder, each chunk with a pause."""
    files = {"log": str(folder / "log"), "gate": str(folder / "gate")}
    target = str(folder / "a.zarr")
    arrays = (HeldArray(a, seconds=seconds, target=target, **files) for a in source.arrays)
    return RawSource(source.name, tuple(arrays), source.coords, source.attrs)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Outcome:
    """What came of a job.

    Attributes
    ----------
    lost : objects that an undisturbed run writes, and that are missing or have other bytes
    redone : chunks that were read again after they were journalled
    strange : objects that neither an undisturbed run nor a killed worker leaves
    """

    lost: set[str]
    redone: set[int]
    strange: set[str]


@dataclass(frozen=True)
class HeldJob:
    """A job of 400 chunks that runs beside the test, as far as that lets it.

    Attributes
    ----------
    folder : holds the raw file, the targets and the log of reads
    journalled : chunks that were when the test looked, each time
    """

    folder: Path
    journalled: list[set[int]] = field(default_factory=list, kw_only=True)

    @property
    def target(self) -> Path:
        return self.folder / "a.zarr"

    @property
    def whole(self) -> Path:
        """What an undisturbed run writes."""
        return self.folder / "whole.zarr"

    def log(self, looks: int) -> Path:
        """The log of what was read until the test looked for the last of so many times."""
        return self.folder / f"log {looks}"

    def has_ended(self) -> bool:
        """Whether it has, which it does not while it is held."""
        raise NotImplementedError

    def allow(self, n: int) -> None:
        """Let the job go on until n chunks or some more are journalled."""
        new = self.folder / "new"
        new.write_text(str(n))
        new.replace(self.folder / "gate")

    def after(self, n: int) -> set[int]:
        """Let it journal n chunks or some more; return these, and log reads anew."""
        self.allow(n)
        wait_until(lambda: self.has_ended() or len(journalled(self.target)) >= n)
        assert not self.has_ended()
        return self.looked()

    def looked(self) -> set[int]:
        """Return what is journalled, which is not to be read again; log reads anew."""
        self.journalled.append(journalled(self.target))
        with suppress(FileNotFoundError):  # nothing was read since the last time
            (self.folder / "log").rename(self.log(len(self.journalled)))
        return self.journalled[-1]

    def outcome(self) -> Outcome:
        """Compare the result with that of an undisturbed run, and the reads with the journal."""
        found, wanted = objects(self.target), objects(self.whole)
        lost = {name for name, data in wanted.items() if found.get(name) != data}
        strange = {name for name in found.keys() - wanted.keys() if not is_left_by_killed(name)}
        return Outcome(without_history(lost), self.redone(), without_history(strange))

    def redone(self) -> set[int]:
        """Chunks that were read after the test found them in the journal."""
        later = range(2, len(self.journalled) + 1)
        logs = [*map(self.log, later), self.folder / "log"]
        read = [{number(starts) for _, starts in reads(log)} for log in logs]
        pairs = enumerate(self.journalled)
        return set().union(*(done & set().union(*read[i:]) for i, done in pairs))

    def check_outcome(self) -> None:
        """The result is that of an undisturbed run; nothing journalled was read again."""
        assert self.outcome() == Outcome(set(), set(), set())
        assert verify(self.target, against=raw(self.folder)).ok


@dataclass(frozen=True)
class FaultyJob(HeldJob):
    """One that this process runs.

    Attributes
    ----------
    done : its summary, later
    """

    done: Future[Summary]

    def has_ended(self) -> bool:
        return self.done.done()

    def check(self) -> None:
        """It ends as if undisturbed, and reads no more of what was journalled."""
        self.allow(N_CHUNKS)
        self.done.result(HANG)
        compress(raw(self.folder), self.whole, codec=CODECS["zstd"], chunks=CHUNKS)
        self.check_outcome()


def raw(folder: Path) -> RawSource:
    """The raw file of a job, which is made if it is not there."""
    file = folder / "cube.raw"
    if not file.exists():
        folder.mkdir(exist_ok=True)
        cube(SHAPE).tofile(file)
    return open_raw(str(file), SHAPE, "<u2")


@contextmanager
def faulty_job(folder: Path, client: Client, seconds: float = 0.0) -> Iterator[FaultyJob]:
    """Run a job on the client's workers, each chunk with a pause; it begins when allowed to."""
    source = held(raw(folder), folder, seconds)
    how = {"codec": CODECS["zstd"], "chunks": CHUNKS, "client": client}
    (folder / "gate").write_text("0")
    with ThreadPoolExecutor(1) as pool:
        job = FaultyJob(folder, pool.submit(compress, source, folder / "a.zarr", **how))
        try:
            yield job
        finally:
            job.allow(N_CHUNKS)  # else a test that failed would wait for it
