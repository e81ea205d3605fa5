"""Which tasks are late: what a hung worker has is given to another one, too."""

from __future__ import annotations

from dataclasses import dataclass

TIMES = 5.0  # of the longest that a task took
LEAST_SECONDS = 20.0  # a worker may compile, or be asked to wait by a disk
FADES = 0.98  # of the longest, with each task that took less


@dataclass
class Turnaround:
    """Seconds from the submission of a task to its result.

    Attributes
    ----------
    longest : lately; None before the first result
    """

    longest: float | None = None

    def saw(self, seconds: float) -> None:
        """Record a task that ended."""
        self.longest = max(seconds, FADES * (self.longest or 0.0))

    def is_late(self, seconds: float, copies: int) -> bool:
        """Whether a task that is at so many workers is late: each copy gets twice the time."""
        if self.longest is None:
            return False
        most: float = max(LEAST_SECONDS, TIMES * self.longest) * 2 ** (copies - 1)
        return seconds > most
