"""Access to the reads of a store by number, by the offsets of lines in each array."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.genomics.reads.files.kernels import line_ends
from gangsaw.tasks.genomics.reads.files.records import Field, Int64s
from gangsaw.tasks.genomics.reads.stored.info import ReadsInfo
from gangsaw.tasks.genomics.sequences.cached_chunks import CachedChunks, are_lost
from gangsaw.tasks.sources.source import SourceArray

RECORDS = ("sequence", "quality", "name")  # arrays with a line for each record


class Stored:
    """Reader of the arrays of a store of reads, by record number.

    Attributes
    ----------
    contents : description of the reads in the store's attributes
    n_records : number of records
    """

    def __init__(self, arrays: Sequence[SourceArray], attrs: Mapping[str, object]) -> None:
        contents = ReadsInfo.from_attrs(attrs)
        if contents is None:
            raise BadParams("it holds no reads: gangsaw compress makes such stores of FASTQ")
        self.contents, self.n_records = contents, contents.records
        self._arrays = {array.name: CachedChunks(array) for array in arrays}
        for name in ("sequence", "sequence_offset"):
            if name not in self._arrays:
                raise BadParams(f"it holds reads, but no array {name}: select all of its arrays")

    def has(self, name: str) -> bool:
        """Return True if the store has this array."""
        return name in self._arrays

    def starts(self, name: str, first: int, last: int) -> Int64s:
        """Return the offsets of lines first..last - 1 of a text array, and the last one's end."""
        found = self._arrays[f"{name}_offset"].read(first, last + 1).astype(np.int64)
        if found[0] < 0 or (np.diff(found) < 1).any():
            raise CorruptChunk(f"{name}_offset does not grow")
        return found

    def lines(self, name: str, first: int, last: int) -> Field:
        """Return lines first..last - 1 of a text array, such as the names of these records."""
        starts = self.starts(name, first, last)
        text = self._arrays[name].read(int(starts[0]), int(starts[-1])).astype(np.uint8, copy=False)
        begins = starts[:-1] - starts[0]
        ends = np.empty_like(begins)
        if not line_ends(text, begins, ends):
            raise CorruptChunk(f"{name} has a line without an end")
        return Field(text, begins, ends)

    def are_lost(self, first: int, last: int) -> bool:
        """Return True if all of records first..last - 1 are known to be damaged."""
        names = [name for name in RECORDS if self.has(name) and self.has(f"{name}_offset")]
        pairs = ((self._arrays[f"{name}_offset"], self._arrays[name]) for name in names)
        return any(are_lost(offsets, text, first, last) for offsets, text in pairs)

    def size(self, name: str) -> int:
        """Return the number of items of an array."""
        return self._arrays[name].size

    def some(self, name: str, begin: int, end: int) -> NumpyArray:
        """Return items begin..end - 1 of an array; raise CorruptChunk if they do not exist."""
        return self._arrays[name].read(begin, end)

    def some_numbers(self, name: str, begin: int, end: int) -> Int64s:
        """Return items of an array of numbers as int64; none if the array does not exist."""
        if not self.has(name):
            return np.empty(0, np.int64)
        return self._arrays[name].read(begin, end).astype(np.int64)

    def between(self, name: str, low: int, high: int) -> tuple[int, int]:
        """Return the range of items with values low..high - 1 in an ascending array of numbers."""
        size = self._arrays[name].size if self.has(name) else 0

        def first(number: int) -> int:
            return bisect_left(
                range(size), number, key=lambda i: int(self.some_numbers(name, i, i + 1)[0])
            )

        return first(low), first(high)
