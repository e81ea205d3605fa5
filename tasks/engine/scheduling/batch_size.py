"""Number of batches per Dask task: enough to outweigh its messages, few near the end of a job."""

from __future__ import annotations

import math
from dataclasses import dataclass

# Client, scheduler and worker spend processor time on each task, so short batches share one
# (tests/benchmarks/RESULTS.md, "Scheduling of large jobs").
TASK_SECONDS = 0.25
# A scheduler serves some 530 tasks a second, client and workers included: with many threads each
# task must last longer, or they wait for it.
THREADS_PER_SECOND = 300
MOST = 1024  # batches of a task at most: each has a result, and messages stay moderate
SHARE = 2  # a task gets at most 1 / (SHARE * threads) of the remaining, so that all end together


@dataclass
class Pace:
    """Running estimate of the time per batch, which determines the number of batches per task.

    Attributes
    ----------
    seconds : seconds of one batch in the latest task; None before the first
    """

    seconds: float | None = None

    def record(self, batches: int, seconds: float) -> None:
        """Record the time of a task; the latest counts, since the first ones compile and import."""
        if batches:
            self.seconds = seconds / batches

    @staticmethod
    def task_seconds(threads: int) -> float:
        """Return the target duration of a task, in seconds, for a pool with `threads` threads."""
        return max(TASK_SECONDS, threads / THREADS_PER_SECOND)

    def batches(self, left: int | None, threads: int) -> int:
        """Return the number of batches of the next task.

        Parameters
        ----------
        left : batches that are not yet assigned to a task; None if unknown
        threads : number of threads that share these batches
        """
        if self.seconds is None:
            return 1
        # rounded up: rounded down, a task of 1.9 batches would be one, at twice the tasks a second
        enough = min(MOST, math.ceil(self.task_seconds(threads) / max(self.seconds, 1e-9)))
        if left is not None:
            enough = min(enough, left // (SHARE * max(1, threads)))
        return max(1, enough)
