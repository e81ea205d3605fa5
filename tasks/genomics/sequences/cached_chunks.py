"""Chunk-wise reader of a one-dimensional array that caches the last few chunks."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.sources.source import SourceArray

CACHED_CHUNKS = 2  # cached chunks of each array: a line may begin in one and end in the next
SMALL_PART = 8  # an eighth of a chunk or less is read alone, by the codec's windows
SMALL_READS = 3  # small reads of one chunk, after which all of it is read


class CachedChunks:
    """Reader of ranges of a one-dimensional array, with a cache of the last few decoded chunks.

    A few items of a chunk are read alone: only the codec's windows that contain them are decoded.
    After some such reads the whole chunk is read, so that a loop over all reads decodes each chunk
    once.

    Parameters
    ----------
    array : one-dimensional array
    step : items to decode and cache together instead of a chunk; disables small reads
    n_cached : number of cached chunks
    """

    def __init__(self, array: SourceArray, step: int = 0, n_cached: int = CACHED_CHUNKS) -> None:
        self.array, self.size, self.n_cached = array, array.shape[0], n_cached
        self.step = step or (array.chunks or array.shape)[0] or 1
        self._reads_small = not step
        self._cached: OrderedDict[int, NumpyArray] = OrderedDict()
        # chunk of the last small read, and number of such reads in a row
        self._small: tuple[int, int] = (-1, 0)

    def read(self, begin: int, end: int) -> NumpyArray:
        """Return items begin..end - 1; raise CorruptChunk if the range is invalid."""
        if not 0 <= begin <= end <= self.size:
            raise CorruptChunk(f"{self.array.name} has {self.size} items, none at {begin}..{end}")
        first, last = begin // self.step, max(begin, end - 1) // self.step
        if begin == end:
            return np.empty(0, self.array.dtype)
        is_small = self._reads_small and SMALL_PART * (end - begin) <= self.step
        if is_small and self._is_rare(last):
            return self.array.read((slice(begin, end),))
        at = first * self.step
        try:
            chunks = [self._chunk(number) for number in range(first, last + 1)]
        except CorruptChunk:  # other blocks of a damaged chunk may be whole
            return self.array.read((slice(begin, end),))
        return (chunks[0] if first == last else np.concatenate(chunks))[begin - at : end - at]

    def _is_rare(self, number: int) -> bool:
        """Return True if a chunk outside the cache was requested only a few times.

        Count the request.
        """
        if number in self._cached:
            return False
        before, times = self._small
        self._small = number, times + 1 if number == before else 1
        return self._small[1] <= SMALL_READS

    def _chunk(self, number: int) -> NumpyArray:
        if number not in self._cached:
            begin = number * self.step
            region = (slice(begin, min(begin + self.step, self.size)),)
            self._cached[number] = self.array.read(region)
            while len(self._cached) > self.n_cached:
                self._cached.popitem(last=False)
        self._cached.move_to_end(number)
        return self._cached[number]

    def is_lost(self, begin: int, end: int) -> bool:
        """Return True if all of items begin..end - 1 are known to be damaged."""
        mending = getattr(self.array, "mending", None)
        gaps = () if mending is None else mending.gaps
        return any(first <= begin and end <= last for first, last in gaps)


def are_lost(offsets: CachedChunks, text: CachedChunks, first: int, last: int) -> bool:
    """Return True if all of lines first..last - 1, or their offsets, are known to be damaged."""
    if offsets.is_lost(first, last + 1):
        return True
    try:
        begin, end = (int(offsets.read(at, at + 1)[0]) for at in (first, last))
    except CorruptChunk:
        return False
    return text.is_lost(begin, end)
