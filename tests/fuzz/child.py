"""Attempts at one target in a process of its own, which may crash or take all the memory.

Lines of JSON: each new finding, and at the end how many attempts there were. The number of the
attempt stands in a file: what a crash leaves of it says where it was.
"""

from __future__ import annotations

import faulthandler
import json
import mmap
import resource
import sys
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

from fuzz.targets import targets
from gangsaw.codecs.core.errors import GangsawError

ROOM = 1 << 30  # bytes of addresses that attempts may take more than the first did
SLOW = 20  # seconds, after which an attempt hangs
PROGRESS = 8  # bytes of the number of an attempt


def main(name: str, seed: int, first: int, count: int, seconds: float, progress: str) -> None:
    """Make `count` attempts, from number `first` on, or those that `seconds` are enough for."""
    faulthandler.enable()
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
        faulthandler.dump_traceback_later(SLOW, exit=True)
        found = _try(attempt, seed, number)
        counts["attempts"] += 1
        counts["refused"] += found == "refused"
        counts["accepted"] += found == ""
        kind = found.partition(": ")[0]  # messages name values
        if found not in ("", "refused") and kind not in seen:
            seen.add(kind)
            say({"attempt": number, "finding": found})
    faulthandler.cancel_dump_traceback_later()
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


if __name__ == "__main__":
    target, seed, first, count, seconds, path = sys.argv[1:]
    main(target, int(seed), int(first), int(count), float(seconds), path)
