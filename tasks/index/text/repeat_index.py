"""The index of a text that repeats itself: its size grows with the runs of its transform."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.index.kernels import repeats
from gangsaw.tasks.index.text.base_runs import BaseRuns, check_base_runs
from gangsaw.tasks.index.text.packed import Bytes, Opened, pack
from gangsaw.tasks.index.text.samples import MOST_SEEDS, Places, Suffixes
from gangsaw.tasks.index.text.stored_runs import StoredRuns, count_runs, runs_of
from gangsaw.tasks.sequences.ragged import Ragged

KIND = 3


@dataclass(frozen=True, eq=False)
class RepeatIndex:
    """An r-index of bytes, or of the runs of bases.

    Attributes
    ----------
    n : letters of the text
    stored : the runs of the transform
    runs : of bases among the letters; None of bytes
    """

    n: int
    stored: StoredRuns
    runs: BaseRuns | None

    @classmethod
    def made(cls, text: Bytes, suffixes: Suffixes, runs: BaseRuns | None, n: int) -> RepeatIndex:
        """Return the index of a text of one letter or more; of bases, it has codes from 1 on."""
        table = runs_of(text, suffixes, count_runs(text, suffixes))
        return cls(n, StoredRuns.of(table, text.size), runs)

    @classmethod
    def opened(cls, data: Opened) -> RepeatIndex:
        """Return the index of what `unpack` gave; CorruptChunk where anything does not fit."""
        n, has_bases, n_bases, n_length_words, n_text, *others = data.fields[:9]
        if not has_bases and n_text != n:
            raise CorruptChunk("runs of the index do not make up a text")
        arrays = data.arrays()
        n_runs, primary, n_firsts, n_lasts = others
        sizes = (n_text, n_runs, primary, n_firsts, n_lasts)
        stored = StoredRuns.taken(sizes, n_length_words, arrays)
        runs = None
        if has_bases:
            starts, places = arrays.take(n_bases + 1, np.uint32), arrays.take(n_bases, np.uint32)
            runs = BaseRuns(starts.astype(np.int64), places.astype(np.int64))
            check_base_runs(runs, stored.n, n)
        arrays.end()
        found = cls(n, stored, runs)
        found.of  # noqa: B018 - it is checked as it is made
        return found

    @cached_property
    def of(self) -> repeats.RepeatRows:
        """The transform; CorruptChunk where the runs are those of no text."""
        return self.stored.rows()

    def packed(self) -> Bytes:
        """Return the index as (m,) uint8, which `unpack` and `opened` take."""
        n_bases = 0 if self.runs is None else self.runs.places.size
        fields = (self.n, int(self.runs is not None), n_bases, self.stored.lengths.size)
        arrays: list[NumpyArray] = list(self.stored.arrays)
        if self.runs is not None:
            own = (self.runs.begins, self.runs.places)
            arrays += [array.astype(np.uint32) for array in own]
        return pack(KIND, (*fields, *self.stored.sizes), arrays)

    def counts(self, patterns: Ragged) -> Places:
        """Return how often each pattern is there, (k,) int64."""
        found = self._rows(patterns)
        counts: Places = found[:, repeats.HIGH] - found[:, repeats.LOW]
        return counts

    def located(self, patterns: Ragged) -> tuple[Places, Places]:
        """Return all places, and which pattern is at each, (n,) int64 in any order."""
        return self._expanded(self._rows(patterns))

    def seeds(self, query: Bytes, length: int) -> tuple[Places, Places]:
        """Return where windows of a query are that nothing on their left makes longer.

        The begins in the query and places in the text, (k,) int64. Raises BadParams for too many.
        """
        room = max(1, query.size - length + 1)
        windows, rows = np.empty(room, np.int64), np.empty((room, 3), np.int64)
        used = repeats.find_windows(self.of, self._letters(query), length, windows, rows)
        if int((rows[:used, repeats.HIGH] - rows[:used, repeats.LOW]).sum()) > MOST_SEEDS:
            raise BadParams(
                f"windows of {length} letters are there too often: look for longer matches"
            )
        which, places = self._expanded(rows[:used])
        begins = windows[which]
        keys = begins * (self.n + 1) + places
        # the window before this one is there, too, where the same letter is before both
        is_longer = np.isin(keys - self.n - 2, keys) & (begins > 0) & (places > 0)
        return begins[~is_longer], places[~is_longer]

    def _letters(self, letters: Bytes) -> Bytes:
        return letters if self.runs is None else letters + np.uint8(1)

    def _rows(self, patterns: Ragged) -> Places:
        found = np.empty((len(patterns), 3), np.int64)
        repeats.find_rows(self.of, self._letters(patterns.data), patterns.offsets, found)
        return found

    def _expanded(self, rows: Places) -> tuple[Places, Places]:
        counts = rows[:, repeats.HIGH] - rows[:, repeats.LOW]
        places = np.empty(int(counts.sum()), np.int64)
        if not repeats.fill_places(self.of, rows, places):
            raise CorruptChunk("the index is of no text: a place is outside")
        which = np.repeat(np.arange(counts.size), counts)
        return which, places if self.runs is None else self.runs.places_of(places)
