"""A job in a process of its own, which at its first progress waits until another one has ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.hang import HANG, wait_until


@dataclass(frozen=True)
class Outcome:
    """How a job ended.

    Attributes
    ----------
    number : of the job
    error : class and message; "" where it succeeded
    """

    number: int
    error: str


def held(number: int, signals: Path, job: Any) -> None:
    """Run a job, given what to call after each batch; print how it ended.

    It begins when the file "go" is there, and its first batch ends when "over" is there.
    """
    wait_until((signals / "go").exists)

    def on_progress(_: object) -> None:
        (signals / f"at-work-{number}").touch()
        wait_until((signals / "over").exists)

    error = ""
    try:
        job(on_progress)
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    (signals / "over").touch()
    sys.stdout.write(json.dumps({"number": number, "error": error}))


@contextmanager
def begun(
    code: str, number: int, signals: Path, *, within: Sequence[str] = (), **env: str
) -> Iterator[subprocess.Popen[str]]:
    """Begin a process that runs `job(on_progress)`, which the code defines for a `number`."""
    program = (
        f"from pathlib import Path\nnumber = {number}\n{code}\n"
        f"from helpers.two_jobs import held\nheld(number, Path({str(signals)!r}), job)\n"
    )
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [*within, sys.executable, "-c", program],
        env={**os.environ, **env, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def ended(process: subprocess.Popen[str]) -> Outcome:
    """Return how a process ended."""
    said, _ = process.communicate(timeout=HANG)
    return Outcome(**json.loads(said))


def run_two(code: str, signals: Path, env: Mapping[str, str] | None = None) -> list[Outcome]:
    """Run two jobs that begin at one moment; none ends before the other one has."""
    with (
        begun(code, 1, signals, **(env or {})) as first,
        begun(code, 2, signals, **(env or {})) as second,
    ):
        (signals / "go").touch()
        return [ended(first), ended(second)]
