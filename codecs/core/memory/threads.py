"""Blocks over threads: one pool and one limit for the whole process.

However many callers there are (Dask tasks, Zarr's own threads), never more kernels run at once
than the limit: each block takes a permit. A caller works on its own blocks too, so that it always
gets on, and takes helpers from the pool only while some are free.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from gangsaw.codecs.core.errors import BadParams

VARIABLE = "GANGSAW_THREADS"
_LIVE = {"init", "running", "paused"}  # states of a Dask worker that has threads


class _ThreadLimits:
    explicit: int | None = None
    default: int | None = None


class _Permits:
    """A semaphore whose size is looked up at every use: the limit may change at any time."""

    def __init__(self) -> None:
        self.free = threading.Condition()
        self.used = 0
        self.mine = threading.local()

    def run(self, function: Callable[[int], object], number: int) -> None:
        """Call a function under a permit; a thread that holds one needs no second (a deadlock)."""
        if getattr(self.mine, "held", False):
            function(number)
            return
        with self.free:
            while self.used >= thread_limit():
                self.free.wait()
            self.used += 1
        self.mine.held = True
        try:
            function(number)
        finally:
            self.mine.held = False
            with self.free:
                self.used -= 1
                self.free.notify()


class _Helpers:
    """The process's helper threads; grows with the limit, never shrinks."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.size = 0
        self.executor: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[[], None], count: int) -> list[Future[None]]:
        """Start `work` up to `count` times; fewer when the interpreter is about to exit."""
        with self.lock:
            if self.executor is None or self.size < count:
                # The old pool is not shut down: it finishes what it has, then goes.
                self.size = count
                self.executor = ThreadPoolExecutor(count, thread_name_prefix="gangsaw")
            try:
                return [self.executor.submit(work) for _ in range(count)]
            except RuntimeError:  # "cannot schedule new futures after interpreter shutdown"
                return []


_settings = _ThreadLimits()
_permits = _Permits()
_pool = _Helpers()


def set_thread_limit(n: int | None) -> None:
    """Let at most `n` kernels run at once in this process; None goes back to the default.

    Raises
    ------
    BadParams : n is less than 1
    """
    _settings.explicit = _checked(n)
    _wake()


def set_default_limit(n: int | None) -> None:
    """Set the limit for a process that is no Dask worker and has no explicit one."""
    if n != _settings.default:
        _settings.default = _checked(n)
        _wake()


def thread_limit() -> int:
    """Kernels that may run at once: explicit, else Dask's, else the default, else the cores.

    Explicit is what `set_thread_limit` said, else the environment variable GANGSAW_THREADS.

    Raises
    ------
    BadParams : the variable is no whole number of at least 1
    """
    explicit = _settings.explicit or _environment()
    return explicit or _dask_threads() or _settings.default or _cores()


def _environment() -> int | None:
    text = os.environ.get(VARIABLE)
    if text and not (text.isdecimal() and int(text)):
        raise BadParams(f"{VARIABLE} must be a number of at least 1, got {text!r}")
    return int(text) if text else None


def run_blocks(function: Callable[[int], object], n_blocks: int) -> None:
    """Call function(i) for each i in range(n_blocks), several at once.

    When one call raises, no further one is started, and of the errors raised that of the lowest
    block is raised here.
    """
    helpers = min(n_blocks, thread_limit()) - 1
    if helpers < 1 or getattr(_permits.mine, "held", False):
        for i in range(n_blocks):
            _permits.run(function, i)
        return
    _Handout(function, n_blocks).over(helpers)


class _Handout:
    """One call of `run_blocks`: blocks are handed out one by one."""

    def __init__(self, function: Callable[[int], object], n_blocks: int) -> None:
        self.function = function
        self.blocks = iter(range(n_blocks))
        self.lock = threading.Lock()
        self.stopped = False
        self.errors: dict[int, BaseException] = {}

    def over(self, helpers: int) -> None:
        futures = _pool.submit(self.work, helpers)
        try:
            self.work()
        finally:
            self.stopped = True
            for future in futures:
                if not future.cancel():  # it runs: its block must end before targets are freed
                    future.result()
        if self.errors:
            raise self.errors[min(self.errors)]

    def work(self) -> None:
        while (i := self.take()) is not None:
            _permits.run(self.one, i)

    def one(self, i: int) -> None:
        try:
            self.function(i)
        except BaseException as error:
            self.errors[i] = error
            self.stopped = True

    def take(self) -> int | None:
        with self.lock:
            return None if self.stopped else next(self.blocks, None)


def _checked(n: int | None) -> int | None:
    if n is not None and n < 1:
        raise BadParams(f"the thread limit must be at least 1, got {n}")
    return n


def _wake() -> None:
    with _permits.free:
        _permits.free.notify_all()


def _dask_threads() -> int:
    """Threads of the Dask workers that live in this process; 0 where Dask is not even loaded.

    `distributed.get_worker` does not do: it knows only the threads that Dask started itself.
    """
    module = sys.modules.get("distributed.worker")
    workers = getattr(getattr(module, "Worker", None), "_instances", ())
    return sum(w.state.nthreads for w in list(workers) if w.status.name in _LIVE)


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _after_fork() -> None:
    """Begin anew in a forked child: threads do not survive a fork, locks may be held for ever."""
    global _permits, _pool
    _permits, _pool = _Permits(), _Helpers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
