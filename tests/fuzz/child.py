"""Attempts at one target in a process of its own, which may crash or take all the memory.

Lines of JSON: each new finding, and at the end how many attempts there were. The number of the
attempt stands in a file: what a crash leaves of it says where it was.
"""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.targets import targets
from gangsaw.codecs.core.errors import GangsawError

ROOM = 1 << 30  # bytes of addresses that attempts may take more than the first did
SLOW = 20  # seconds of the processor, after which an attempt hangs
PROGRESS = 8  # bytes of the number of an attempt


def main(name: str, seed: int, first: int, count: int, seconds: float, progress: str) -> None:
    """Make `count` attempts, from number `first` on, or those that `seconds` are enough for."""
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)  # says where, then the process ends
    warnings.simplefilter("ignore")
    with Path(progress).open("r+b") as file:
        place = mmap.mmap(file.fileno(), PROGRESS)
    attempt = targets()[name]()
    _try(attempt, seed, 0)  # compiles, imports
    limit_memory()
    begin, seen = time.monotonic(), set()
    counts = {"attempts": 0, "refused": 0, "accepted": 0}
    for number in range(first, first + count):
        if time.monotonic() - begin > seconds:
            break
        place[:] = number.to_bytes(PROGRESS, "little")
        signal.setitimer(signal.ITIMER_PROF, SLOW)
        found = _try(attempt, seed, number)
        counts["attempts"] += 1
        counts["refused"] += found == "refused"
        counts["accepted"] += found == ""
        kind = found.partition(": ")[0]  # messages name values
        if found not in ("", "refused") and kind not in seen:
            seen.add(kind)
            say({"attempt": number, "finding": found})
    signal.setitimer(signal.ITIMER_PROF, 0)
    say({**counts, "seconds": time.monotonic() - begin})


def say(what: object) -> None:
    """Write a line of JSON."""
    sys.stdout.write(f"{json.dumps(what)}\n")
    sys.stdout.flush()


def _try(attempt: object, seed: int, number: int) -> str:
    """Return "" for what was accepted, "refused", or the error that is none of ours."""
    try:
        attempt(np.random.default_rng([seed, number]))  # type: ignore[operator]
    except GangsawError as error:
        return "refused" if str(error).strip() else f"{type(error).__name__} says nothing"
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        where = [f"{f.filename.rpartition('/')[2]}:{f.lineno}" for f in frames[-4:]]
        return f"{type(error).__name__} at {' '.join(where)}: {str(error)[:200]}"
    return ""


def limit_memory() -> None:
    """Let the process take so much more than it has now."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))


def serve() -> None:
    """Read requests, a line of JSON each, run each in a fork and write its exit code.

    Forks share what this process has imported: that takes longer than most attempts.
    """
    targets()
    for line in sys.stdin:
        request = json.loads(line)
        process = os.fork()
        if not process:
            _run(*request)
        say(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))


def _run(out: str, errors: str, limit: float, *arguments: Any) -> None:
    """Run `main` with its output in files, and end this process."""
    code = 1
    try:
        for path, number in ((out, 1), (errors, 2)):
            with Path(path).open("wb") as file:
                os.dup2(file.fileno(), number)
        faulthandler.register(signal.SIGALRM, chain=True)  # says where it was
        signal.setitimer(signal.ITIMER_REAL, limit)
        main(*arguments)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()
