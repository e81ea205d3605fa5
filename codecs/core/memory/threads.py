"""Distribution of blocks over threads: one pool and one limit for the whole process.

With any number of callers (Dask tasks, Zarr's own threads), at most as many kernels run as the
limit: each block takes a permit. A caller processes its own blocks too, so that it always advances,
and takes helpers from the pool only while some are free.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.memory.limits import cores

VARIABLE = "GANGSAW_THREADS"
_LIVE = {"init", "running", "paused"}  # states of a Dask worker that has threads


class _ThreadLimits:
    explicit: int | None = None
    default: int | None = None


class _Permits:
    """Semaphore of kernels that run in parallel; it reads the thread limit at each use."""

    def __init__(self) -> None:
        self.free = threading.Condition()
        self.used = 0
        self.mine = threading.local()

    def run(self, function: Callable[[int], object], number: int) -> None:
        """Call function(number) under a permit; a thread that has one needs no second.

        Waiting for a second one could be a deadlock.
        """
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
    """Helper threads of the process; their number grows with the limit, never shrinks."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.size = 0
        self.executor: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[[], None], count: int) -> list[Future[None]]:
        """Start `work` up to `count` times; fewer if the interpreter is about to exit."""
        with self.lock:
            if self.executor is None or self.size < count:
                # The old pool is not shut down: it finishes its work, then ends.
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
    """Set the largest number of parallel kernels in this process; None restores the default.

    Raises
    ------
    BadParams : n is less than 1
    """
    _settings.explicit = _checked(n)
    _wake()


def set_default_limit(n: int | None) -> None:
    """Set the limit of a process that is no Dask worker and has no explicit limit."""
    if n != _settings.default:
        _settings.default = _checked(n)
        _wake()


def thread_limit() -> int:
    """Return the number of parallel kernels: explicit, else Dask's, else default, else cores.

    The explicit limit is from `set_thread_limit`, else the environment variable GANGSAW_THREADS.

    Raises
    ------
    BadParams : the variable is no whole number of at least 1
    """
    explicit = _settings.explicit or _environment()
    return explicit or _dask_threads() or _settings.default or cores()


def usable_cores() -> int:
    """Return the cores for other work than kernels: GANGSAW_THREADS, else those of this process.

    Each of Dask's workers may use all cores of the machine. Raises as `thread_limit` does.
    """
    return _environment() or cores()


def _environment() -> int | None:
    text = os.environ.get(VARIABLE)
    if text and not (text.isdecimal() and int(text)):
        raise BadParams(f"{VARIABLE} must be a number of at least 1, got {text!r}")
    return int(text) if text else None


def run_blocks(function: Callable[[int], object], n_blocks: int) -> None:
    """Call function(i) for each i in range(n_blocks), in parallel.

    After an error in one call, no further call is started. The error of the lowest block is raised.
    """
    helpers = min(n_blocks, thread_limit()) - 1
    if helpers < 1 or getattr(_permits.mine, "held", False):
        for i in range(n_blocks):
            _permits.run(function, i)
        return
    _Handout(function, n_blocks).over(helpers)


class _Handout:
    """Shared counter that hands the blocks of one `run_blocks` call to threads, one by one."""

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
    """Return the threads of the Dask workers in this process; 0 if Dask is not loaded.

    `distributed.get_worker` does not suffice: it knows only the threads that Dask started itself.
    """
    module = sys.modules.get("distributed.worker")
    workers = getattr(getattr(module, "Worker", None), "_instances", ())
    return sum(w.state.nthreads for w in list(workers) if w.status.name in _LIVE)


def _after_fork() -> None:
    """Reset the state in a forked child: threads do not survive a fork, locks may stay locked."""
    global _permits, _pool
    _permits, _pool = _Permits(), _Helpers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
