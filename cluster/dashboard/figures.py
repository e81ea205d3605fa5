"""Figures of jobs and workers, as in /gangsaw.json, on the page and in `gangsaw status`."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gangsaw.cluster.dashboard.jobs import Amount, Jobs, JobState

if TYPE_CHECKING:
    from distributed import Scheduler
    from distributed.scheduler import WorkerState

FORMAT = 1  # of the JSON
BY = ("codec", "backend", "worker")  # keys by which the amounts of a job are grouped
PLAIN: tuple[str, ...] = ("job", "kind", "store", "outcome", "step", "began", "ended", "seconds")
PLAIN += ("done", "total", "resumed", "left", "failed", "decoded", "encoded", "run_bytes")
PLAIN += ("ratio", "throughput", "seconds_left")


def figures(scheduler: Scheduler, jobs: Jobs) -> dict[str, object]:
    """Return the figures of all jobs and workers as JSON: bytes, seconds, seconds since 1970."""
    names = names_of(scheduler)
    return {
        "format": FORMAT,
        "time": time.time(),
        "scheduler": scheduler.address,
        "workers": [worker_figures(worker) for worker in scheduler.workers.values()],
        "jobs": [job_figures(state, names) for state in jobs.newest_first],
    }


def names_of(scheduler: Scheduler) -> dict[str, str]:
    """Return the names of a scheduler's workers by address."""
    return {address: str(worker.name) for address, worker in scheduler.workers.items()}


def worker_figures(worker: WorkerState) -> dict[str, object]:
    """Return the figures of a worker: memory in bytes, and 100 percent per busy core."""
    return {
        "address": worker.address,
        "name": str(worker.name),
        "threads": worker.nthreads,
        "memory": worker.metrics.get("memory", 0),
        "memory_limit": worker.memory_limit,
        "cpu_percent": worker.metrics.get("cpu", 0.0),
        "tasks": len(worker.processing),
    }


def job_figures(state: JobState, names: Mapping[str, str]) -> dict[str, object]:
    """Return the figures of a job; `names` gives the names of workers by address."""
    return {
        **{name: getattr(state, name) for name in PLAIN},
        **{f"by_{by}": _listed(by, parts_by(state, by, names)) for by in BY},
        "failures": list(state.failures),
    }


def _listed(by: str, parts: list[tuple[str, Amount]]) -> list[dict[str, object]]:
    return [{by: name, **vars(amount), "ratio": amount.ratio} for name, amount in parts]


def parts_by(state: JobState, by: str, names: Mapping[str, str]) -> list[tuple[str, Amount]]:
    """Return the amounts of a job by codec, backend or worker, sorted by descending chunks.

    Parameters
    ----------
    by : "codec", "backend" or "worker"
    names : names of workers by address
    """
    sums: dict[str, Amount] = defaultdict(Amount)
    for key, amount in state.parts.items():
        sums[key[BY.index(by)]].add(amount)
    most_first = sorted(sums.items(), key=lambda pair: (-pair[1].chunks, pair[0]))
    return [(names.get(name, name) if by == "worker" else name, a) for name, a in most_first]
