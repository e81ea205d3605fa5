"""Known letters by windows, as they are decoded: each once where all of them can be held."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.genomes.collection.marks import are_bases
from gangsaw.tasks.genomes.collection.pieces import WINDOW
from gangsaw.tasks.sequences.files.text import Places
from gangsaw.tasks.source import SourceArray

MOST_HELD = 1 << 11  # windows: 128 MiB
TOGETHER = 64  # that are decoded at once, their blocks side by side


class KnownWindows:
    """Letters that pieces lead to, of which so many windows are held.

    Attributes
    ----------
    letters : (m, WINDOW) uint8, those that are held
    slots : (n,) int64, where in `letters` each window is, -1 where it is not
    """

    def __init__(self, array: SourceArray) -> None:
        self._array, self._next = array, 0
        n = -(-array.shape[0] // WINDOW)
        self.slots = np.full(n, -1, np.int64)
        self.letters = np.zeros((min(n, MOST_HELD), WINDOW), np.uint8)
        self._owners = np.full(len(self.letters), -1, np.int64)

    def ready(self, numbers: Places) -> None:
        """Decode those of some windows that are not held, neighbours together.

        There are at most half as many as can be held.
        """
        wanted = np.unique(numbers)
        missing = wanted[self.slots[wanted] < 0]
        for run in np.split(missing, np.flatnonzero(np.diff(missing) > 1) + 1):
            for at in range(0, run.size, TOGETHER):
                self._read(run[at : at + TOGETHER], wanted)

    def _read(self, run: Places, wanted: Places) -> None:
        """Hold neighbours; CorruptChunk for letters that are no bases."""
        begin = int(run[0]) * WINDOW
        end = min((int(run[-1]) + 1) * WINDOW, self._array.shape[0])
        letters = self._array.read((slice(begin, end),)).astype(np.uint8, copy=False)
        if not are_bases(letters):
            raise CorruptChunk("known has other letters than bases")
        for i, number in enumerate(run.tolist()):
            slot, own = self._free(wanted), letters[i * WINDOW : (i + 1) * WINDOW]
            self.letters[slot, : own.size] = own
            self.slots[number], self._owners[slot] = slot, number

    def _free(self, wanted: Places) -> int:
        """Return a place for a window: the one that was filled first, unless its window is wanted.

        Nothing holds it any more.
        """
        while (owner := self._owners[self._next]) >= 0 and owner in wanted:
            self._next = (self._next + 1) % len(self._owners)
        slot = self._next
        self._next = (slot + 1) % len(self._owners)
        if owner >= 0:
            self.slots[owner] = -1
        return slot
