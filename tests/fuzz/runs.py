"""Runs of attempts at a target, one process after another: a crash ends one of them only."""

from __future__ import annotations

import atexit
import json
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
MOST_CRASHES = 10  # after which a target is left
STARTING = 300  # seconds: imports, compiling


@dataclass
class Outcome:
    """What became of the attempts at one target.

    Attributes
    ----------
    attempts, refused, accepted : counts
    seconds : of attempts
    findings : one line each, with the number of an attempt that shows it
    """

    attempts: int = 0
    refused: int = 0
    accepted: int = 0
    seconds: float = 0.0
    findings: list[str] = field(default_factory=list)


def run(name: str, seed: int, count: int, seconds: float, first: int = 0) -> Outcome:
    """Make so many attempts at a target, or those that `seconds` are enough for."""
    outcome, end = Outcome(), first + count
    with tempfile.NamedTemporaryFile() as progress:
        while first < end and outcome.seconds < seconds:
            progress.seek(0)
            progress.write(bytes(8))
            progress.flush()
            left, begin = seconds - outcome.seconds, time.monotonic()
            ran = _child(name, seed, first, end - first, left, progress.name)
            if _take(ran.stdout, outcome):
                break
            outcome.seconds += time.monotonic() - begin
            number = int.from_bytes(Path(progress.name).read_bytes()[:8], "little")
            outcome.attempts += number + 1 - first
            outcome.findings.append(f"attempt {number}: {_ended(ran)}")
            first = number + 1
            if len(outcome.findings) >= MOST_CRASHES:
                break
    return outcome


def _child(
    name: str, seed: int, first: int, count: int, seconds: float, progress: str
) -> subprocess.CompletedProcess[str]:
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        out, errors = Path(folder, "out"), Path(folder, "errors")
        files_and_limit = [str(out), str(errors), seconds + STARTING]
        request = [*files_and_limit, name, seed, first, count, seconds, progress]
        server.stdin.write(f"{json.dumps(request)}\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        texts = [path.read_text(errors="replace") for path in (out, errors)]
        return subprocess.CompletedProcess(name, code, *texts)


@lru_cache
def _server() -> subprocess.Popen[str]:
    """Return a process that runs attempts in forks of its own, until this process ends."""
    command = [sys.executable, "-m", "fuzz.child"]
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=TESTS
    )
    atexit.register(server.communicate)
    return server


def _take(output: str, outcome: Outcome) -> bool:
    """Add what a process said; return whether it came to its end."""
    for line in output.splitlines():
        try:
            said = json.loads(line)
        except ValueError:  # of a library
            continue
        if "finding" in said:
            outcome.findings.append(f"attempt {said['attempt']}: {said['finding']}")
        elif "attempts" in said:
            outcome.attempts += said["attempts"]
            outcome.refused += said["refused"]
            outcome.accepted += said["accepted"]
            outcome.seconds += said["seconds"]
            return True
    return False


def _ended(ran: subprocess.CompletedProcess[str]) -> str:
    how = signal.Signals(-ran.returncode).name if ran.returncode < 0 else f"exit {ran.returncode}"
    lines = [line.strip() for line in ran.stderr.splitlines() if line.strip().startswith("File")]
    return f"{how}: {' < '.join(lines[:6]) or ran.stderr[-800:]}"
