"""Cache of decoded reference bases by windows; each window is decoded once if all of them fit."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.compressed_text.text import Positions
from gangsaw.tasks.genomics.genomes.related.marks import are_bases
from gangsaw.tasks.genomics.genomes.related.pieces import WINDOW
from gangsaw.tasks.sources.source import SourceArray

MOST_CACHED = 1 << 11  # windows in the cache: 128 MiB
TOGETHER = 64  # windows that are decoded at once, their blocks in parallel


class KnownWindows:
    """Cache of decoded windows, ranges of 2^16 reference bases; at most MOST_CACHED are in memory.

    Attributes
    ----------
    letters : (m, WINDOW) uint8, cached windows in ASCII
    slots : (n,) int64, index in `letters` of each window, -1 if it is not cached
    """

    def __init__(self, array: SourceArray) -> None:
        self._array, self._next = array, 0
        n = -(-array.shape[0] // WINDOW)
        self.slots = np.full(n, -1, np.int64)
        self.letters = np.zeros((min(n, MOST_CACHED), WINDOW), np.uint8)
        self._owners = np.full(len(self.letters), -1, np.int64)

    def ready(self, numbers: Positions) -> None:
        """Decode the windows that are missing from the cache, adjacent ones at once.

        `numbers` has at most half as many windows as the cache.
        """
        wanted = np.unique(numbers)
        missing = wanted[self.slots[wanted] < 0]
        for run in np.split(missing, np.flatnonzero(np.diff(missing) > 1) + 1):
            for at in range(0, run.size, TOGETHER):
                self._read(run[at : at + TOGETHER], wanted)

    def _read(self, run: Positions, wanted: Positions) -> None:
        """Decode adjacent windows, `run`, into the cache.

        Raise CorruptChunk if they are not all bases.
        """
        begin = int(run[0]) * WINDOW
        end = min((int(run[-1]) + 1) * WINDOW, self._array.shape[0])
        letters = self._array.read((slice(begin, end),)).astype(np.uint8, copy=False)
        if not are_bases(letters):
            raise CorruptChunk("known has other residues than A, C, G and T")
        for i, number in enumerate(run.tolist()):
            slot, own = self._free(wanted), letters[i * WINDOW : (i + 1) * WINDOW]
            self.letters[slot, : own.size] = own
            self.slots[number], self._owners[slot] = slot, number

    def _free(self, wanted: Positions) -> int:
        """Return a free slot of the cache; evict the oldest window that is not wanted."""
        while (owner := self._owners[self._next]) >= 0 and owner in wanted:
            self._next = (self._next + 1) % len(self._owners)
        slot = self._next
        self._next = (slot + 1) % len(self._owners)
        if owner >= 0:
            self.slots[owner] = -1
        return slot
