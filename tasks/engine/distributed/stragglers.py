"""Detection of stragglers: a task of a hung worker is also given to another worker."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

TIMES = 5.0  # multiple of the longest duration of a task
LEAST_SECONDS = 20.0  # minimum: a worker may compile, or wait for a disk
FIRST_SECONDS = 120.0  # limit for the first tasks, whose workers compile
FADES = 0.98  # factor on the longest duration with each shorter task


@dataclass
class Turnaround:
    """Decaying maximum of the seconds from the submission of a task to its result.

    It decides when a task in flight is a straggler.

    Attributes
    ----------
    longest : recent maximum in seconds; None before the first result
    """

    longest: float | None = None

    def record(self, seconds: float) -> None:
        """Record the duration of a task that ended."""
        self.longest = max(seconds, FADES * (self.longest or 0.0))

    def is_straggler(self, seconds: float, copies: int) -> bool:
        """Return True if a task is a straggler after `seconds`; each copy doubles the limit."""
        usual = FIRST_SECONDS if self.longest is None else TIMES * self.longest
        most: float = max(LEAST_SECONDS, usual) * 2 ** (copies - 1)
        return seconds > most

    def __str__(self) -> str:
        """Return how long other tasks took, as a phrase for messages."""
        if self.longest is None:
            return "which is the first one"
        return f"where others took at most {self.longest:.0f} s"


def workers_for_copy(
    workers: Collection[str], own: Collection[str], silent: Collection[str]
) -> list[str]:
    """Return the workers that may get a copy of a straggler.

    These are the workers that send heartbeats and do not run it. If there are none, and a worker
    is silent, they are the workers that send heartbeats and run it. Dask may otherwise fetch their
    result together with one on the silent worker, and wait for both.

    Parameters
    ----------
    workers : addresses of the workers that could run it
    own : addresses of the workers that have it
    silent : addresses of the workers that send no heartbeats
    """
    heard = [address for address in workers if address not in silent]
    others = [address for address in heard if address not in own]
    return others if others or len(heard) == len(workers) else heard
