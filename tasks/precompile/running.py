"""Processes that compile kernels: each runs one first run, or the samples of one codec."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.precompile.first_runs import FirstRun, first_runs
from gangsaw.tasks.precompile.samples import checked_codec, codec_names

SAMPLES = (
    "import sys; from gangsaw.tasks.precompile.samples import run_samples; run_samples(sys.argv[1])"
)
COMMAND = "import sys; from gangsaw.cli import main; sys.exit(main(sys.argv[1:]))"
LISTED = (
    "import sys; from gangsaw.tasks.precompile.compiling import compile_lists; "
    "compile_lists(*sys.argv[1:])"
)
COMPILE = "import sys; from gangsaw.tasks.precompile.compiling import main; main(*sys.argv[1:])"
LAST_LINES = 500  # characters of a failed process's output in the message
OnStep = Callable[[str], None]


@dataclass(frozen=True)
class KernelSetting:
    """Working folder and environment of processes that compile kernels.

    Attributes
    ----------
    folder : working folder for data and output
    variables : environment variables added to those of this process
    """

    folder: Path
    variables: Mapping[str, str]

    def run(self, code: str, *arguments: str, where: Path | None = None) -> None:
        """Run Python code in a new process; raise JobFailed if it fails."""
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=where or self.folder,
            env={**os.environ, **self.variables},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            said = (done.stderr or done.stdout)[-LAST_LINES:].strip()
            raise JobFailed(f"{' '.join(arguments)}: {said}")


def tasks_of(setting: KernelSetting, codec: str = "") -> dict[str, Callable[[], None]]:
    """Return the tasks that compile kernels, by name: samples of each codec, and first runs.

    Parameters
    ----------
    codec : codec whose samples alone are run; "" runs all
    """
    chosen = [checked_codec(codec)] if codec else codec_names()
    found: dict[str, Callable[[], None]] = {
        f"samples of {name}": lambda name=name: setting.run(SAMPLES, name)  # type: ignore[misc]
        for name in chosen
    }
    if not codec:
        for name, first in first_runs().items():
            found[name] = lambda first=first: _run_first(setting, first)  # type: ignore[misc]
    return found


def run_all(tasks: Mapping[str, Callable[[], None]], report: OnStep, processes: int) -> None:
    """Run all tasks, `processes` at a time; `report` is called with each finished name."""

    def run(name: str) -> None:
        tasks[name]()
        report(name)

    with ThreadPoolExecutor(processes) as pool:
        _all_of(pool.map(run, tasks))


def _all_of(results: Iterable[None]) -> None:
    for _ in results:
        pass


def _run_first(setting: KernelSetting, first: FirstRun) -> None:
    with tempfile.TemporaryDirectory(dir=setting.folder) as name:  # it is run more than once
        first.make(Path(name))
        for arguments in first.commands:
            setting.run(COMMAND, *arguments, where=Path(name))
