"""What a new user waits for: first commands without compiled kernels, and with them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench_startup import FIRST_ENCODE

from gangsaw.codecs.core.numba.kept import levels, places
from gangsaw.tasks.bench.table import Row
from gangsaw.tasks.kernels.first_runs import FirstRun, first_runs
from gangsaw.tasks.kernels.running import COMMAND

MOST_COLD = 30  # processor seconds of a first command without a pack
MOST_MORE = 2  # processor seconds that a first command with a pack takes more than the second
LEFT_OUT = ("search", "verify")  # they take a fraction of what comes before them
WORKER = f"import distributed\n{FIRST_ENCODE}"


@dataclass(frozen=True)
class Spent:
    """Processor and wall-clock seconds of a command, its workers included."""

    cpu: float
    wall: float

    def words(self) -> str:
        """Both, for a remark."""
        return f"{self.cpu:.1f} s, wall {self.wall:.1f} s"


def spent(folder: Path, variables: Mapping[str, str], code: str, *arguments: str) -> Spent:
    """Run Python in a process of its own."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, **variables},
        check=True,
        capture_output=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(cpu, time.perf_counter() - start)


def rows() -> Iterator[Row]:
    """Yield processor seconds: without anything compiled, the second time, and with a pack."""
    for first in first_runs().values():
        with tempfile.TemporaryDirectory() as name:
            yield from _of_run(first, Path(name))
    with tempfile.TemporaryDirectory() as name:
        yield from _of_command("a worker joins and encodes a chunk", Path(name), WORKER, ())


def _of_run(first: FirstRun, folder: Path) -> Iterator[Row]:
    first.make(folder)
    for command in first.commands:
        if command[0] not in LEFT_OUT:
            yield from _of_command(f"{first.name}: {command[0]}", folder, COMMAND, command)


def _of_command(what: str, folder: Path, code: str, command: tuple[str, ...]) -> Iterator[Row]:
    """Each command has a cache of its own: what others compiled is no help."""
    cache = tempfile.mkdtemp(dir=folder)
    alone = {"NUMBA_CACHE_DIR": cache, places.FOLDERS: places.OFF}
    cold = spent(folder, alone, code, *_again(command, 0))
    warm = spent(folder, alone, code, *_again(command, 1))
    note = f"wall {cold.wall:.1f} s; the second: {warm.words()}"
    yield Row(f"{what}, nothing compiled", cold.cpu, "s", f"<= {MOST_COLD}", note)
    if levels.chosen().pack is None:
        why = "no pack is there: gangsaw kernels build makes it"
        yield Row(f"{what}, with a pack, more than the second", None, "s", why=why)
        return
    empty = {"NUMBA_CACHE_DIR": tempfile.mkdtemp(dir=folder)}
    first, again = (spent(folder, empty, code, *_again(command, n)) for n in (2, 3))
    note = f"{first.words()}; the second: {again.words()}"
    more = first.cpu - again.cpu
    yield Row(f"{what}, with a pack, more than the second", more, "s", f"<= {MOST_MORE}", note)


def _again(command: tuple[str, ...], time_: int) -> tuple[str, ...]:
    """Return the command, with what lets it replace what it wrote before."""
    takes = time_ > 0 and command and command[0] not in ("demo", "search")
    return (*command, "--overwrite") if takes else command
