"""A command is begun, killed at a random instant, and begun again until it ends as undisturbed."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from helpers.hang import HANG
from helpers.sessions import kill_job, session

from kills.commands import Command

CODE = "import sys; from gangsaw.cli import main; sys.exit(main())"
VICTIMS = ("client", "all", "worker")


@dataclass
class Counts:
    """What was done to a command.

    Attributes
    ----------
    kills : processes or groups that were killed
    runs : that were begun
    whole : that ended, each with the right bytes
    """

    kills: int = 0
    runs: int = 0
    whole: int = 0


class Killing:
    """A command in a folder of its own, and what an undisturbed run of it gave."""

    def __init__(self, command: Command, folder: Path, seed: int) -> None:
        self.command, self.folder, self.rng = command, folder, random.Random(seed)
        self.said = folder / "said"
        self.worker_killed = False  # in this run
        command.prepare(folder)
        for words in command.before:
            self.end(self.begin(words))
        began = time.monotonic()
        self.end(self.begin(command.words))
        self.seconds = time.monotonic() - began
        self.wanted = command.found(folder)
        assert bool(self.wanted) == bool(command.result)

    def begin(self, words: tuple[object, ...]) -> subprocess.Popen[bytes]:
        """Begin a command line in a session of its own."""
        with self.said.open("wb") as said:
            return subprocess.Popen(
                [sys.executable, "-c", CODE, *map(str, words)],
                cwd=self.folder,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,
            )

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for a run that must end well."""
        assert process.wait(timeout=HANG) == 0, self.said.read_text()

    @property
    def again(self) -> tuple[object, ...]:
        """What is said after a run that did not end."""
        return (*self.command.words, *(("--resume",) if self.command.goes_on else ()))

    def has_ended_well(self, process: subprocess.Popen[bytes]) -> bool:
        """Wait for a run; one whose worker was killed while the cluster came up may say so."""
        code = process.wait(timeout=HANG)
        if code == 1 and self.worker_killed:
            assert self.said.read_text().startswith("gangsaw: "), self.said.read_text()
            return False
        assert code == 0, self.said.read_text()
        return True

    def go(self, kills: int) -> Counts:
        """Kill so often at least; return the counts when the last run has ended."""
        counts = Counts()
        while counts.kills < kills:
            self.clear()
            self.until_whole(counts, kills)
        return counts

    def until_whole(self, counts: Counts, kills: int) -> None:
        """Begin, kill and begin again until a run ends; its result is the undisturbed one's."""
        words = self.command.words
        while True:
            counts.runs += 1
            began = time.monotonic()
            process = self.begin(words)
            if not self.is_killed(process, counts, kills) and self.has_ended_well(process):
                break
            words = self.again
        assert self.command.found(self.folder).items() >= self.wanted.items()
        assert self.worker_killed or not list(self.folder.rglob("*.partial"))
        counts.whole += 1
        self.seconds = min(self.seconds, time.monotonic() - began)  # the first one compiled

    def is_killed(self, process: subprocess.Popen[bytes], counts: Counts, kills: int) -> bool:
        """Kill parts of a run at any time of it; return whether that ended the run."""
        self.worker_killed = False
        while counts.kills < kills:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=self.rng.uniform(0.0, 1.0) * self.seconds)
                return False
            victim = self.rng.choice(VICTIMS)
            if victim == "worker":
                counts.kills += self.has_lost_worker(process)
                continue
            kill_job(process, victim)
            was_killed = process.returncode == -signal.SIGKILL  # else it ended just before
            counts.kills += was_killed
            return was_killed
        return False

    def has_lost_worker(self, process: subprocess.Popen[bytes]) -> bool:
        """Kill a process of a run other than the client, if there is one."""
        own = sorted(session(process.pid) - {process.pid})
        with suppress(ProcessLookupError, IndexError):
            os.kill(self.rng.choice(own), signal.SIGKILL)
            self.worker_killed = True
            return True
        return False

    def clear(self) -> None:
        """Remove what the last run wrote."""
        for path in self.folder.glob(f"{self.command.result}*") if self.command.result else ():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
