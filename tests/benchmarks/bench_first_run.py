"""First commands of a new user: from source with an empty cache, and with the packs of a wheel.

python tests/benchmarks/bench_first_run.py            # checks packs: exit status 1 if one is slow

Run as a command it measures only processor time, several commands at once, with an empty cache:
each first command with packs takes at most `MOST_MORE` seconds more than the second.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench_startup import FIRST_ENCODE

from gangsaw.codecs.core.numba.packs import levels, pack_files
from gangsaw.tasks.bench.table import Row, say
from gangsaw.tasks.precompile.first_runs import FirstRun, first_runs
from gangsaw.tasks.precompile.running import COMMAND

# wall seconds of a first command from source, on two idle cores: (name begins with, command)
GOALS = {
    ("demo of the README", "demo"): 12,
    ("scene", "demo"): 12,
    ("FASTQ", "compress"): 15,
    ("genome", "compress"): 12,
    ("alignment", "align"): 12,
    ("repertoire", "tcr"): 12,
}
MOST_WITH_PACKS = 4  # wall seconds of a first command with packs
MOST_MORE = 2  # processor seconds that a first command with packs takes more than the second
LEFT_OUT = ("search", "verify", "append")  # a fraction of what comes before; or it runs only once
DEMO = FirstRun("demo of the README", lambda _: None, (("demo", "--quiet"),))
WORKER = f"import distributed\n{FIRST_ENCODE}"
WORKER_NAME = "a worker joins and encodes a chunk"
NO_PACK = "no pack for this processor: gangsaw kernels build makes it"


@dataclass(frozen=True)
class Spent:
    """Processor and wall-clock seconds of a command, its workers included."""

    cpu: float
    wall: float

    def words(self) -> str:
        """Return both times, for a remark."""
        return f"{self.wall:.1f} s (processor {self.cpu:.1f} s)"


@dataclass(frozen=True)
class Pair:
    """Times of a command that runs twice, first with an empty cache."""

    first: Spent
    second: Spent

    @property
    def more(self) -> float:
        """Processor seconds that the first takes more than the second."""
        return self.first.cpu - self.second.cpu


@dataclass(frozen=True)
class Command:
    """A command of `gangsaw`, or Python code, in a folder that has its data."""

    name: str
    folder: Path
    code: str = WORKER
    arguments: tuple[str, ...] = ()

    @property
    def goal(self) -> int | None:
        """Return the goal of the first command from source in wall seconds, or None."""
        found = (
            seconds
            for (name, command), seconds in GOALS.items()
            if self.name.startswith(name) and self.arguments[:1] == (command,)
        )
        return next(found, None)

    def measure(self, variables: Mapping[str, str]) -> Pair:
        """Run twice with an empty cache of its own: kernels of other commands do not help."""
        cache = {"NUMBA_CACHE_DIR": tempfile.mkdtemp(dir=self.folder), **variables}
        first, second = (self._spent(cache) for _ in range(2))
        return Pair(first, second)

    def _spent(self, variables: Mapping[str, str]) -> Spent:
        start = time.perf_counter()
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                [sys.executable, "-c", self.code, *self._replacing()],
                cwd=self.folder,
                env={**os.environ, **variables},
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
            _, status, used = os.wait4(process.pid, 0)
            wall = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                errors.seek(0)
                raise SystemExit(f"{self.name} {self.arguments}: {errors.read().decode()}")
        return Spent(used.ru_utime + used.ru_stime, wall)

    def _replacing(self) -> tuple[str, ...]:
        """Return the arguments, with the option that replaces earlier results if one is needed."""
        takes = self.arguments and self.arguments[0] not in ("demo", "search")
        return (*self.arguments, "--overwrite") if takes else self.arguments


def rows() -> Iterator[Row]:
    """Yield wall seconds from source and with packs, each with the second call of the same run."""
    for first in (DEMO, *first_runs().values()):
        with tempfile.TemporaryDirectory() as name:
            for command in _commands(first, Path(name)):
                yield from _rows_of(command)
    with tempfile.TemporaryDirectory() as name:
        yield from _rows_of(Command(WORKER_NAME, Path(name)))


def _commands(first: FirstRun, folder: Path) -> Iterator[Command]:
    """Make the data of a run, then yield its commands in order."""
    first.make(folder)
    for arguments in first.commands:
        if arguments[0] not in LEFT_OUT:
            name = f"{first.name}: {arguments[0]}"
            if arguments[0] == "tcr":
                name += f" {arguments[1]}"
            yield Command(name, folder, COMMAND, arguments)


def _rows_of(command: Command) -> Iterator[Row]:
    alone = command.measure({pack_files.FOLDERS: pack_files.OFF})
    target = "" if command.goal is None else f"<= {command.goal}"
    yield _row(f"{command.name}, from source, empty cache", alone, target)
    with_packs, more = f"{command.name}, with packs", "processor time above the second call"
    if levels.level_choice().pack is None:
        yield Row(with_packs, None, "s", f"<= {MOST_WITH_PACKS}", why=NO_PACK)
        yield Row(f"{with_packs}, {more}", None, "s", f"<= {MOST_MORE}", why=NO_PACK)
        return
    packed = command.measure({})
    yield _row(with_packs, packed, f"<= {MOST_WITH_PACKS}")
    yield Row(f"{with_packs}, {more}", packed.more, "s", f"<= {MOST_MORE}")


def _row(what: str, pair: Pair, target: str) -> Row:
    note = f"processor {pair.first.cpu:.1f} s; second call {pair.second.words()}"
    return Row(what, pair.first.wall, "s", target, note)


def check() -> bool:
    """Measure commands with packs, as many at once as there are cores; report those that fail."""
    if levels.level_choice().pack is None:
        say(f"{NO_PACK} ({levels.level_choice().why})")
        return False
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        checked = list(pool.map(_check_run, (DEMO, *first_runs().values())))
    return all(checked)


def _check_run(first: FirstRun) -> bool:
    fast = True
    with tempfile.TemporaryDirectory() as name:
        for command in _commands(first, Path(name)):
            pair = command.measure({})
            verdict = "" if pair.more <= MOST_MORE else f": more than {MOST_MORE} s above"
            say(f"{command.name}: {pair.first.cpu:.1f} s, second {pair.second.cpu:.1f} s{verdict}")
            fast &= pair.more <= MOST_MORE
    return fast


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    sys.exit(0 if check() else 1)
