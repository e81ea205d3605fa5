"""Lazy sequences of batches: a job of 10^8 chunks is described by a few numbers.

Slices of these sequences are lazy too, so the batches of a task are as small to send.
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


class LazyBatches(Sequence[BatchOut]):
    """Sequence that builds its batches on access."""

    @abstractmethod
    def between(self, start: int, stop: int) -> Sequence[BatchOut]:
        """Return batches `start` to `stop` - 1, at least one, as a lazy sequence."""

    @overload
    def __getitem__(self, at: int, /) -> BatchOut: ...
    @overload
    def __getitem__(self, at: Cut, /) -> Sequence[BatchOut]: ...

    def __getitem__(self, at: int | Cut, /) -> BatchOut | Sequence[BatchOut]:
        """Return one batch, or a slice of consecutive batches as a lazy sequence."""
        if isinstance(at, slice):
            start, stop, _ = at.indices(len(self))
            return self.between(start, max(start, stop))
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        (only,) = self.between(at % len(self), at % len(self) + 1)
        return only


@dataclass(frozen=True)
class BatchRanges(LazyBatches[range]):
    """Ranges of chunk numbers, cut into batches at the multiples of `step`.

    Attributes
    ----------
    runs : ranges to cut, none of them empty
    step : length of the longest batch
    """

    ranges: tuple[range, ...]
    step: int

    @cached_property
    def ends(self) -> list[int]:
        """Cumulative number of batches at the end of each range."""
        step = self.step
        return list(accumulate(-(-run.stop // step) - run.start // step for run in self.ranges))

    def __len__(self) -> int:
        """Return the number of batches."""
        return self.ends[-1] if self.ranges else 0

    def between(self, start: int, stop: int) -> BatchRanges:
        """Return the batches with index `start` <= i < `stop`."""
        found = find_overlaps(self.ends, start, stop)
        return BatchRanges(tuple(self._span(*one) for one in found), self.step)

    def __iter__(self) -> Iterator[range]:
        """Yield the batches."""
        for run in self.ranges:
            first = run.start // self.step * self.step
            for start in range(first, run.stop, self.step):
                yield range(max(start, run.start), min(start + self.step, run.stop))

    def _span(self, number: int, first: int, last: int) -> range:
        """Return the units in batches `first` to `last` - 1 of the range `ranges[number]`."""
        run, step = self.ranges[number], self.step
        cut = run.start // step
        return range(max(run.start, (cut + first) * step), min(run.stop, (cut + last) * step))


def find_overlaps(ends: Sequence[int], start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """Yield the parts of a concatenated sequence that overlap an interval of it.

    Parameters
    ----------
    ends : end offset of each part in the whole
    start, stop : interval in the whole

    Yields
    ------
    index of a part, and the start and stop of the overlap relative to this part
    """
    number = bisect_right(ends, start)
    while start < stop:
        begin = ends[number - 1] if number else 0
        end = min(stop, ends[number])
        if start < end:
            yield number, start - begin, end - begin
        start, number = end, number + 1


class BatchSupply(Generic[BatchT]):
    """Source of batches for tasks: slices of a sequence, or items of an iterator in order.

    Parameters
    ----------
    batches : all batches of the job
    """

    def __init__(self, batches: Iterable[BatchT]) -> None:
        self.known = batches if isinstance(batches, Sequence) else None
        self.coming = iter(()) if self.known is not None else iter(batches)
        self.at = 0

    @property
    def total(self) -> int | None:
        """Number of all batches, None if unknown."""
        return None if self.known is None else len(self.known)

    def take(self, n: int) -> Sequence[BatchT]:
        """Return the next n batches, fewer at the end; building one may block."""
        if self.known is None:
            return tuple(islice(self.coming, n))
        found = self.known[self.at : self.at + n]
        self.at += len(found)
        return found
