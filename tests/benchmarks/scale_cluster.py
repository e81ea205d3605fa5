"""A scheduler in a process of its own, and many workers of one thread in a few others.

Each worker is a whole one of Dask's: a connection, a heartbeat, a thread. What they do sleeps, so
that a machine of two cores can have a thousand.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from distributed import Scheduler, Worker

HOST = "127.0.0.1"
SECONDS = 30.0  # for a process to end


@dataclass(frozen=True)
class Cluster:
    """A scheduler with workers.

    Attributes
    ----------
    address : of the scheduler
    scheduler : its process
    """

    address: str
    scheduler: psutil.Process

    @property
    def cpu_seconds(self) -> float:
        """Processor time of the scheduler so far."""
        times = self.scheduler.cpu_times()
        return float(times.user + times.system)

    @property
    def peak_mb(self) -> float:
        """The most memory that the scheduler has had so far."""
        return peak_mb(str(self.scheduler.pid))


def peak_mb(process: str) -> float:
    """Return the most memory that a process has had; a new one's by getrusage is its parent's."""
    status = Path(f"/proc/{process}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024 / 1e6


@contextmanager
def cluster(workers: int, processes: int) -> Iterator[Cluster]:
    """Run a scheduler and so many workers in so many processes."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        first = stack.enter_context(_process("scheduler"))
        assert first.stdout is not None
        address = first.stdout.readline().strip()
        shares = [len(range(i, workers, processes)) for i in range(processes)]
        others = [stack.enter_context(_process("workers", address, str(n), folder)) for n in shares]
        for other in others:
            assert other.stdout is not None
            assert other.stdout.readline().strip() == "ready"
        yield Cluster(address, psutil.Process(first.pid))


@contextmanager
def _process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, __file__, *arguments]
    quiet = {**os.environ, "DASK_LOGGING__DISTRIBUTED": "error"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env=quiet, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


async def _schedule() -> None:
    async with Scheduler(host=HOST, port=0, dashboard=False) as scheduler:
        sys.stdout.write(f"{scheduler.address}\n")
        sys.stdout.flush()
        await scheduler.finished()


async def _work(address: str, n: int, folder: str) -> None:
    how = {"nthreads": 1, "host": HOST, "memory_limit": 0, "local_directory": folder}
    workers = [Worker(address, dashboard=False, **how) for _ in range(n)]
    await asyncio.gather(*workers)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.gather(*(worker.finished() for worker in workers))


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


def main(arguments: Sequence[str]) -> None:
    """Serve until killed, or until who started it is no more."""
    what, *rest = arguments
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if what == "scheduler":
        asyncio.run(_schedule())
    else:
        asyncio.run(_work(rest[0], int(rest[1]), rest[2]))


if __name__ == "__main__":
    main(sys.argv[1:])
