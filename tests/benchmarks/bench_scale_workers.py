"""Many workers: how many of them one scheduler and one client keep busy, and the model of it.

The workers are whole ones, each with its connection and heartbeat, in a few processes; tasks sleep.
Of so many processes on two cores the clock tells little, so the model is from processor time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from distributed import Client
from scale_cluster import cluster

from gangsaw.tasks.bench.table import Row
from gangsaw.tasks.engine.run.run import run_batches
from gangsaw.tasks.engine.scheduling.batch_size import Pace
from gangsaw.tasks.engine.scheduling.lazy import BatchRanges

PROCESSES = 4
WORKERS = (100, 300, 1000)
SECONDS = 40.0  # that each worker has to do
BATCH_SECONDS = 0.5
THREADS = (1000, 4000, 10_000)
CHUNKS = 10**8


@dataclass(frozen=True)
class Sleep:
    """Sleeps for each batch, and says when it ended."""

    name: str = "sleep"
    peak_bytes: int = 0

    def __call__(self, batch: range) -> float:
        """Return the time."""
        time.sleep(BATCH_SECONDS * len(batch))
        return time.time()


@dataclass(frozen=True)
class Found:
    """What a run took.

    Attributes
    ----------
    workers : of one thread
    clock : seconds
    busy : part of the threads' time in which tasks slept, of the whole run and of its middle half
    client, scheduler : processor seconds
    scheduler_mb : its memory at most
    """

    workers: int
    clock: float
    busy: tuple[float, float]
    client: float
    scheduler: float
    scheduler_mb: float

    @property
    def tasks(self) -> float:
        """Number of tasks, of the length that the engine chooses."""
        return SECONDS * self.workers / Pace.task_seconds(self.workers)


def measure(workers: int) -> Found:
    """Run a job of sleeping tasks."""
    n_batches, ends = int(workers * SECONDS / BATCH_SECONDS), []
    with cluster(workers, PROCESSES) as served, Client(served.address) as client:
        scheduler, own, began = served.cpu_seconds, time.process_time(), time.time()
        units = BatchRanges((range(n_batches),), 1)
        run_batches(Sleep(), units, lambda _, end: ends.append(end), client=client)
        clock, own = time.time() - began, time.process_time() - own
        scheduler = served.cpu_seconds - scheduler
        busy = n_batches * BATCH_SECONDS / workers / clock
        first, last = began + clock / 4, began + 3 * clock / 4
        middle = sum(first < end <= last for end in ends) * BATCH_SECONDS / workers / (clock / 2)
        return Found(workers, clock, (busy, middle), own, scheduler, served.peak_mb)


def rows(workers: tuple[int, ...] = WORKERS) -> Iterator[Row]:
    """Yield how busy workers are, what that costs, and what follows for 10^8 chunks."""
    runs = [measure(n) for n in workers]
    for one in runs:
        what = f"{one.workers:,} workers"
        note = f"of the middle half of the run {100 * one.busy[1]:.0f} %; {one.clock:.0f} s"
        yield Row(f"{what}: threads that are busy", 100 * one.busy[0], "%", "> 90", note)
        load = 100 * (one.scheduler + one.client) / one.clock
        note = (
            f"client {one.client:.1f} s, scheduler {one.scheduler:.1f} s, {one.scheduler_mb:.0f} MB"
        )
        yield Row(f"{what}: processor of client and scheduler", load, "% of a core", note=note)
    yield from model(runs)


def model(runs: list[Found]) -> Iterator[Row]:
    """Yield the cost of a task, and what a job of 10^8 chunks of a second takes of a scheduler."""
    costs = [(one.scheduler + one.client) / one.tasks for one in runs]
    note = "client and scheduler, heartbeats included, the most of these runs"
    yield Row("a task", 1e3 * max(costs), "ms of processor time", note=note)
    for threads in THREADS:
        seconds = Pace.task_seconds(threads)
        share = 100 * max(costs) * threads / seconds
        tasks = CHUNKS / seconds
        note = f"tasks of {seconds:.1f} s, {tasks:,.0f} of them in {CHUNKS / threads / 3600:.0f} h"
        name = f"10^8 chunks of a second, {threads:,} threads: client and scheduler"
        yield Row(name, share, "% of a core", note=note)
