"""How many batches one task of Dask gets: enough to be worth its messages, few near the end."""

from __future__ import annotations

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
    """The time that batches take, and how many a task gets.

    Attributes
    ----------
    seconds : of one batch, as last seen; None before the first
    """

    seconds: float | None = None

    def saw(self, batches: int, seconds: float) -> None:
        """Record a task's time; the latest counts, since the first ones compile and import."""
        if batches:
            self.seconds = seconds / batches

    @staticmethod
    def task_seconds(threads: int) -> float:
        """Return how long a task should last where so many threads want one."""
        return max(TASK_SECONDS, threads / THREADS_PER_SECOND)

    def batches(self, left: int | None, threads: int) -> int:
        """Return how many batches the next task gets.

        Parameters
        ----------
        left : batches that no task has yet; None where unknown
        threads : that share them
        """
        if self.seconds is None:
            return 1
        enough = min(MOST, int(self.task_seconds(threads) / max(self.seconds, 1e-9)))
        if left is not None:
            enough = min(enough, left // (SHARE * max(1, threads)))
        return max(1, enough)
