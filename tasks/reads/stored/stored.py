"""Reads of a store by number: lines of each array, found by where they start."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.reads.files.kernels import line_ends
from gangsaw.tasks.reads.files.records import Field, Places
from gangsaw.tasks.reads.stored.info import ReadsInfo
from gangsaw.tasks.sequences.held import HeldChunks
from gangsaw.tasks.source import SourceArray


class Stored:
    """The reads of a store.

    Attributes
    ----------
    contents : what it says of itself
    n_records : how many there are
    """

    def __init__(self, arrays: Sequence[SourceArray], attrs: Mapping[str, object]) -> None:
        contents = ReadsInfo.from_attrs(attrs)
        if contents is None:
            raise BadParams("it holds no reads")
        self.contents, self.n_records = contents, contents.records
        self._arrays = {array.name: HeldChunks(array) for array in arrays}
        for name in ("sequence", "sequence_offset"):
            if name not in self._arrays:
                raise BadParams(f"it holds reads, but no array {name}: take all of its arrays")

    def has(self, name: str) -> bool:
        """Whether there is such an array."""
        return name in self._arrays

    def starts(self, name: str, first: int, last: int) -> Places:
        """Return where lines first..last - 1 start, and what follows the last of them."""
        found = self._arrays[f"{name}_offset"].read(first, last + 1).astype(np.int64)
        if found[0] < 0 or (np.diff(found) < 1).any():
            raise CorruptChunk(f"{name}_offset does not grow")
        return found

    def lines(self, name: str, first: int, last: int) -> Field:
        """Return lines first..last - 1 of an array of text."""
        starts = self.starts(name, first, last)
        text = self._arrays[name].read(int(starts[0]), int(starts[-1])).astype(np.uint8, copy=False)
        begins = starts[:-1] - starts[0]
        ends = np.empty_like(begins)
        if not line_ends(text, begins, ends):
            raise CorruptChunk(f"{name} has a line without an end")
        return Field(text, begins, ends)

    def size(self, name: str) -> int:
        """Return how many items an array has."""
        return self._arrays[name].size

    def some(self, name: str, begin: int, end: int) -> NumpyArray:
        """Return items begin..end - 1 of an array; CorruptChunk where there are no such."""
        return self._arrays[name].read(begin, end)

    def some_numbers(self, name: str, begin: int, end: int) -> Places:
        """Return items of an array of numbers, none where it is not there."""
        if not self.has(name):
            return np.empty(0, np.int64)
        return self._arrays[name].read(begin, end).astype(np.int64)

    def between(self, name: str, low: int, high: int) -> tuple[int, int]:
        """Return which items of an array of growing numbers are low..high - 1: first and end."""
        size = self._arrays[name].size if self.has(name) else 0

        def first(number: int) -> int:
            return bisect_left(
                range(size), number, key=lambda i: int(self.some_numbers(name, i, i + 1)[0])
            )

        return first(low), first(high)
