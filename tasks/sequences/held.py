"""Parts of an array on one axis, read by chunks, of which the last few are held."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.source import SourceArray

CHUNKS_HELD = 2  # of each array: a line may begin in one and end in the next
SMALL_PART = 8  # of a chunk: an eighth of it or less is read alone, by its windows
SMALL_READS = 3  # of one chunk: whoever comes back more often wants all of it


class HeldChunks:
    """Items of an array on one axis, read by whole chunks, of which the last few are held.

    A few items of a chunk are read alone: of the codec's windows only those that hold them are
    decoded. Not for long, so that a loop over all reads decodes each chunk once.
    """

    def __init__(self, array: SourceArray) -> None:
        self.array, self.size = array, array.shape[0]
        self.step = (array.chunks or array.shape)[0] or 1
        self._held: OrderedDict[int, NumpyArray] = OrderedDict()
        self._small: tuple[int, int] = (-1, 0)  # the chunk of the last small read, and how many

    def read(self, begin: int, end: int) -> NumpyArray:
        """Return items begin..end - 1; CorruptChunk where there are no such."""
        if not 0 <= begin <= end <= self.size:
            raise CorruptChunk(f"{self.array.name} has {self.size} items, none at {begin}..{end}")
        first, last = begin // self.step, max(begin, end - 1) // self.step
        if begin == end:
            return np.empty(0, self.array.dtype)
        if SMALL_PART * (end - begin) <= self.step and self._is_rare(last):
            return self.array.read((slice(begin, end),))
        at = first * self.step
        if first == last:
            return self._chunk(first)[begin - at : end - at]
        return np.concatenate([self._chunk(i) for i in range(first, last + 1)])[
            begin - at : end - at
        ]

    def _is_rare(self, number: int) -> bool:
        """Whether a chunk that is not held has not been asked for often; take note of it."""
        if number in self._held:
            return False
        before, times = self._small
        self._small = number, times + 1 if number == before else 1
        return self._small[1] <= SMALL_READS

    def _chunk(self, number: int) -> NumpyArray:
        if number not in self._held:
            begin = number * self.step
            region = (slice(begin, min(begin + self.step, self.size)),)
            self._held[number] = self.array.read(region)
            while len(self._held) > CHUNKS_HELD:
                self._held.popitem(last=False)
        return self._held[number]
