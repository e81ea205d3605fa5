"""Sequences of batches that hold none of them: a job of 10^8 chunks is some numbers.

Slices are such sequences, too, so what a task gets is as small.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice
from typing import Generic, TypeAlias, TypeVar, overload

BatchT = TypeVar("BatchT")
BatchOut = TypeVar("BatchOut", covariant=True)
Cut: TypeAlias = "slice[int | None, int | None, int | None]"


class Lazy(Sequence[BatchOut]):
    """A sequence that makes its batches where they are asked for."""

    @abstractmethod
    def between(self, start: int, stop: int) -> Sequence[BatchOut]:
        """Return what stands between two places, `start` below `stop`, as such a sequence."""

    @overload
    def __getitem__(self, at: int, /) -> BatchOut: ...
    @overload
    def __getitem__(self, at: Cut, /) -> Sequence[BatchOut]: ...

    def __getitem__(self, at: int | Cut, /) -> BatchOut | Sequence[BatchOut]:
        """Return a batch, or some that follow each other as such a sequence."""
        if isinstance(at, slice):
            start, stop, _ = at.indices(len(self))
            return self.between(start, max(start, stop))
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        (only,) = self.between(at % len(self), at % len(self) + 1)
        return only


@dataclass(frozen=True)
class Units(Lazy[range]):
    """Runs of numbers, cut at the multiples of `step`: a batch is what lies between two cuts.

    Attributes
    ----------
    runs : of which none is empty
    step : longest batch
    """

    runs: tuple[range, ...]
    step: int

    @cached_property
    def ends(self) -> list[int]:
        """Number of batches up to the end of each run."""
        step = self.step
        return list(accumulate(-(-run.stop // step) - run.start // step for run in self.runs))

    def __len__(self) -> int:
        """Number of batches."""
        return self.ends[-1] if self.runs else 0

    def between(self, start: int, stop: int) -> Units:
        """Return some of the batches."""
        found = overlaps(self.ends, start, stop)
        return Units(tuple(self._span(*one) for one in found), self.step)

    def __iter__(self) -> Iterator[range]:
        """Yield the batches."""
        for run in self.runs:
            first = run.start // self.step * self.step
            for start in range(first, run.stop, self.step):
                yield range(max(start, run.start), min(start + self.step, run.stop))

    def _span(self, number: int, first: int, last: int) -> range:
        """Return the numbers of some batches of a run."""
        run, step = self.runs[number], self.step
        cut = run.start // step
        return range(max(run.start, (cut + first) * step), min(run.stop, (cut + last) * step))


def overlaps(ends: Sequence[int], start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """Yield which parts of a joined sequence are between two places of it, and what of each.

    Parameters
    ----------
    ends : of the parts in the whole
    start, stop : in the whole

    Yields
    ------
    number of a part, and from where to where in it
    """
    number = bisect_right(ends, start)
    while start < stop:
        begin = ends[number - 1] if number else 0
        end = min(stop, ends[number])
        if start < end:
            yield number, start - begin, end - begin
        start, number = end, number + 1


class Supply(Generic[BatchT]):
    """Gives tasks their batches: slices of a sequence, others as they come.

    Parameters
    ----------
    batches : all of them
    """

    def __init__(self, batches: Iterable[BatchT]) -> None:
        self.known = batches if isinstance(batches, Sequence) else None
        self.coming = iter(()) if self.known is not None else iter(batches)
        self.at = 0

    @property
    def total(self) -> int | None:
        """Number of all batches, None where it is not known."""
        return None if self.known is None else len(self.known)

    def take(self, n: int) -> Sequence[BatchT]:
        """Return the next n batches, fewer at their end; to make one may mean to wait."""
        if self.known is None:
            return tuple(islice(self.coming, n))
        found = self.known[self.at : self.at + n]
        self.at += len(found)
        return found
