"""Compilation of a command's kernels on the other cores, from its first cache miss on.

A command puts its first word in the environment, so that its workers know it, too. If a kernel is
in no pack and no cache, the lists of that command that contain it predict the other kernels: those
that all of these lists contain. This process continues as it would alone. Meanwhile, helper
processes compile the predicted kernels from the end of the list into the user's cache, so that both
meet in the middle. Locks prevent two compilations of one kernel. A failed helper leaves its work to
the process that needs it.

Helpers are optional: without the variable no process is started.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Thread

from numba.core.types import Type

from gangsaw.codecs.core.folders import user_cache
from gangsaw.codecs.core.memory.threads import usable_cores
from gangsaw.codecs.core.numba.packs import compile_counts, turns
from gangsaw.codecs.core.numba.packs.ahead import compile_listed
from gangsaw.codecs.core.numba.packs.ahead.kernel_lists import KernelList, ListedKernel, lists_of
from gangsaw.codecs.core.numba.packs.ahead.type_text import write_types

COMMAND = "GANGSAW_COMPILE_AHEAD"  # variable with the first word of a command; empty: no helpers
HELPER = (
    "import sys; from gangsaw.codecs.core.numba.packs.ahead import compile_listed; "
    "compile_listed.main(sys.argv[1])"
)
WORTH = 3.0  # seconds of compilation, below which no helper is started
LOCK_WAIT = 0.01  # seconds
SHARE = 1.0  # smallest seconds of compilation per helper, as its start takes half a second


@dataclass
class _Ahead:
    """Kernels that this process missed in its caches, and helper processes that compile others.

    Attributes
    ----------
    missed : keys of kernels that were in no cache
    given : keys of kernels that helpers had to compile, or that were not worth one
    helpers : helper processes, which may have ended
    """

    missed: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)
    helpers: list[subprocess.Popen[bytes]] = field(default_factory=list)


_now = _Ahead()


def missed(function: str, signature: tuple[Type, ...]) -> None:
    """Record that a kernel was in no cache; start helpers for the command's other kernels.

    They are started only if that is worthwhile.
    """
    command = os.environ.get(COMMAND)
    if not command or not sys.executable:
        return
    with suppress(ValueError, OSError, RuntimeError):
        key = f"{function} {write_types(signature)}"
        _now.missed.add(key)
        if key not in _now.given and all(one.poll() is not None for one in _now.helpers):
            _start(compile_listed.missing_kernels(_expected(command, key)))


def _expected(command: str, key: str) -> list[ListedKernel]:
    """Predict the kernels that a command needs after a cache miss, from its recorded lists.

    These are the kernels common to all lists with this kernel and the most earlier misses.
    """
    fitting = [found for found in lists_of(command) if key in _keys(found)]
    if not fitting:
        return []
    most = max(len(_now.missed & _keys(found)) for found in fitting)
    best = [found for found in fitting if len(_now.missed & _keys(found)) == most]
    common = frozenset.intersection(*map(_keys, best)) - _now.given
    return [kernel for kernel in best[0].kernels if kernel.key in common]


@lru_cache
def _keys(found: KernelList) -> frozenset[str]:
    return frozenset(kernel.key for kernel in found.kernels)


def _start(needed: Sequence[ListedKernel]) -> None:
    """Start helper processes to compile kernels, unless it is too little work.

    They are not started either if another process of this command has some.
    """
    seconds = sum(kernel.seconds for kernel in needed)
    count = min(usable_cores() - 1, int(seconds / SHARE))
    if seconds < WORTH or count < 1:
        return
    base = Path(os.environ.get("NUMBA_CACHE_DIR") or user_cache() / "numba")
    release, _ = turns.acquire(base / "ahead.turn", longest=LOCK_WAIT)
    if release is turns.no_turn:  # or no lock file can be written there
        return
    _now.given.update(kernel.key for kernel in needed)
    compile_counts.expect(sum(kernel.count for kernel in needed))
    folder = tempfile.TemporaryDirectory(prefix="gangsaw-", ignore_cleanup_errors=True)
    Path(folder.name, compile_listed.LIST).write_text(
        "".join(kernel.line() for kernel in needed), encoding="ascii"
    )
    _now.helpers = [_helper(folder.name) for _ in range(count)]
    Thread(target=_clean_up, args=(_now.helpers, folder, release), daemon=True).start()


def _helper(folder: str) -> subprocess.Popen[bytes]:
    """Start a helper process for the list in a folder; it ends with this process."""
    return subprocess.Popen(
        [sys.executable, "-P", "-c", HELPER, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, COMMAND: ""},
    )


def _clean_up(
    helpers: Sequence[subprocess.Popen[bytes]],
    folder: tempfile.TemporaryDirectory[str],
    release: Callable[[], None],
) -> None:
    for helper in helpers:
        helper.wait()
    folder.cleanup()
    release()


@atexit.register
def stop() -> None:
    """End the helper processes at exit, as nobody needs their kernels any more."""
    for helper in _now.helpers:
        helper.kill()
        helper.wait()
