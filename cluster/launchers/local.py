"""Client of workers on this machine."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker

import dask
from distributed import Client, LocalCluster
from distributed.utils import LoopRunner

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.interrupts import defer_interrupts
from gangsaw.cluster.security import security_of
from gangsaw.cluster.settings import setting

LOOPBACK = "127.0.0.1"
# Workers keep freed memory for the next chunk. Dask's own setting returns it at once, and then a
# job waits for fresh pages. 32 MiB is the largest threshold that glibc accepts.
# One arena: otherwise each thread that waits for a disk leaves another one with unused memory.
MALLOC = {
    "MALLOC_ARENA_MAX": 1,
    "MALLOC_TRIM_THRESHOLD_": 256 << 20,
    "MALLOC_MMAP_THRESHOLD_": 32 << 20,
}
KEEP_MEMORY = {f"distributed.nanny.pre-spawn-environ.{name}": MALLOC[name] for name in MALLOC}
# Dask samples threads every 10 ms and event loops every 20 ms by default, which costs a worker
# processor time. The dashboard's profile of chunks, which take longer, needs fewer samples.
LOOK_SELDOM = {
    "distributed.worker.profile.interval": "100ms",
    "distributed.admin.tick.interval": "200ms",
}
CLOSE_SECONDS = 60.0  # time limit for workers to end by themselves; Dask allows 5 s each
# Code that a worker runs first. Ctrl-C in a terminal reaches every process of the group; only the
# client handles it. When a worker ends while a thread stores a chunk, zarr's event loop has work
# that it has not begun. Python would warn of that in addition to our one line.
PRELOAD = (
    "import signal, warnings; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "warnings.filterwarnings('ignore', 'coroutine .* was never awaited', RuntimeWarning)"
)


@contextmanager
def start(config: ClusterConfig) -> Iterator[Client]:
    """Yield a client of workers on this machine; stop the workers at the end."""
    workers, threads = config.size
    with dask.config.set({**KEEP_MEMORY, **LOOK_SELDOM}), ExitStack() as stack:
        with defer_interrupts():
            runner = _deaf_runner()
            stack.callback(runner.stop)
            cluster = LocalCluster(
                loop=runner.loop,
                n_workers=workers,
                threads_per_worker=threads,
                processes=config.processes,
                host=LOOPBACK,
                memory_limit=config.worker_memory,
                dashboard_address=setting("dashboard-address"),
                scheduler_kwargs={"dashboard": config.dashboard},
                resources=config.resources or None,
                silence_logs=logging.CRITICAL + 1 if config.silent else logging.WARNING,
                **(_of_processes(config) if config.processes else {}),
            )
            stack.enter_context(_close_in_time(cluster))
        yield stack.enter_context(Client(cluster, set_as_default=False))


@contextmanager
def _close_in_time(cluster: LocalCluster) -> Iterator[None]:
    """Close the cluster at the end, by force if a worker does not end in time.

    Dask would wait without limit for a worker that is still starting.
    """
    closed = threading.Event()

    def watch() -> None:
        while not closed.wait(CLOSE_SECONDS):
            _end_workers(cluster.workers.values())

    try:
        with cluster:
            try:
                yield
            finally:
                threading.Thread(target=watch, daemon=True).start()
    finally:
        closed.set()


def _end_workers(workers: Iterable[object]) -> None:
    """Kill the worker processes of a closing cluster, which restarts none of them."""
    for pid in [getattr(worker, "pid", None) for worker in [*workers]]:
        if pid and pid != os.getpid():
            with suppress(ProcessLookupError):
                os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def _of_processes(config: ClusterConfig) -> dict[str, object]:
    """Return the options for workers in their own processes: encrypted connections, preload."""
    security = security_of(config)
    return {"preload": [PRELOAD], **({"security": security} if security else {})}


def _deaf_runner() -> LoopRunner:
    """Return an event loop in a thread that blocks Ctrl-C, as do processes started by it.

    Workers import for seconds before they run `PRELOAD`, and would print a traceback on Ctrl-C.
    """
    runner = LoopRunner(asynchronous=False)
    if not hasattr(signal, "pthread_sigmask"):
        runner.start()
        return runner
    resource_tracker.ensure_running()  # else the first worker starts it, which unblocks Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        runner.start()  # a thread inherits the mask
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return runner
