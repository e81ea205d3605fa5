"""Index of a repetitive text, with a size proportional to the runs of its transform."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.search.fm_index.base_runs import BaseRuns, check_base_runs
from gangsaw.tasks.search.fm_index.packed import Bytes, UnpackedIndex, pack_index
from gangsaw.tasks.search.fm_index.samples import MOST_SEEDS, Positions, Suffixes
from gangsaw.tasks.search.fm_index.stored_runs import StoredRuns, count_runs, find_transform_runs
from gangsaw.tasks.search.kernels import repeats

KIND = 3


@dataclass(frozen=True, eq=False)
class RepeatIndex:
    """r-index of a repetitive text of bytes, or of its runs of bases.

    Attributes
    ----------
    n : letters of the text
    stored : runs of equal letters in the Burrows-Wheeler transform
    runs : positions of the runs of bases in the text; None for bytes
    """

    n: int
    stored: StoredRuns
    runs: BaseRuns | None

    @classmethod
    def build(cls, text: Bytes, suffixes: Suffixes, runs: BaseRuns | None, n: int) -> RepeatIndex:
        """Build the index of a nonempty text from its suffix array; codes of bases start at 1."""
        table = find_transform_runs(text, suffixes, count_runs(text, suffixes))
        return cls(n, StoredRuns.pack(table, text.size), runs)

    @classmethod
    def unpack(cls, data: UnpackedIndex) -> RepeatIndex:
        """Return the index in an unpacked header and body; raise CorruptChunk if inconsistent."""
        n, has_bases, n_bases, n_length_words, n_text, *others = data.fields[:9]
        if not has_bases and n_text != n:
            raise CorruptChunk("runs of the index do not make up a text")
        arrays = data.arrays()
        n_runs, primary, n_firsts, n_lasts = others
        sizes = (n_text, n_runs, primary, n_firsts, n_lasts)
        stored = StoredRuns.read(sizes, n_length_words, arrays)
        runs = None
        if has_bases:
            starts, places = arrays.take(n_bases + 1, np.uint32), arrays.take(n_bases, np.uint32)
            runs = BaseRuns(starts.astype(np.int64), places.astype(np.int64))
            check_base_runs(runs, stored.n, n)
        arrays.end()
        found = cls(n, stored, runs)
        found.of  # noqa: B018 - the property checks the runs
        return found

    @cached_property
    def of(self) -> repeats.RepeatRows:
        """Runs of the transform, unpacked; raises CorruptChunk if they are not those of a text."""
        return self.stored.rows()

    def pack(self) -> Bytes:
        """Pack the index into bytes (m,) uint8, the input of `unpack_index` and `open_index`."""
        n_bases = 0 if self.runs is None else self.runs.positions.size
        fields = (self.n, int(self.runs is not None), n_bases, self.stored.lengths.size)
        arrays: list[NumpyArray] = list(self.stored.arrays)
        if self.runs is not None:
            own = (self.runs.begins, self.runs.positions)
            arrays += [array.astype(np.uint32) for array in own]
        return pack_index(KIND, (*fields, *self.stored.sizes), arrays)

    def counts(self, patterns: RaggedArray) -> Positions:
        """Return the number of occurrences of each pattern, (k,) int64."""
        found = self._rows(patterns)
        counts: Positions = found[:, repeats.HIGH] - found[:, repeats.LOW]
        return counts

    def locate(self, patterns: RaggedArray) -> tuple[Positions, Positions]:
        """Return pattern indices and positions of all occurrences, (n,) int64 in any order."""
        return self._expanded(self._rows(patterns))

    def seeds(self, query: Bytes, length: int) -> tuple[Positions, Positions]:
        """Return exact matches of a query's windows of `length` letters, to seed longer matches.

        They are starts in the query and positions in the text, (k,) int64. Matches that extend to
        the left are left out. Raises BadParams for too many.
        """
        room = max(1, query.size - length + 1)
        windows, rows = np.empty(room, np.int64), np.empty((room, 3), np.int64)
        used = repeats.find_repeat_windows(self.of, self._to_symbols(query), length, windows, rows)
        if int((rows[:used, repeats.HIGH] - rows[:used, repeats.LOW]).sum()) > MOST_SEEDS:
            raise BadParams(f"windows of {length} bytes occur too often: look for longer matches")
        which, places = self._expanded(rows[:used])
        begins = windows[which]
        keys = begins * (self.n + 1) + places
        # a window extends to the left if the window before it occurs one position before
        is_longer = np.isin(keys - self.n - 2, keys) & (begins > 0) & (places > 0)
        return begins[~is_longer], places[~is_longer]

    def _to_symbols(self, bases: Bytes) -> Bytes:
        return bases if self.runs is None else bases + np.uint8(1)

    def _rows(self, patterns: RaggedArray) -> Positions:
        found = np.empty((len(patterns), 3), np.int64)
        repeats.find_pattern_rows(self.of, self._to_symbols(patterns.data), patterns.offsets, found)
        return found

    def _expanded(self, rows: Positions) -> tuple[Positions, Positions]:
        counts = rows[:, repeats.HIGH] - rows[:, repeats.LOW]
        places = np.empty(int(counts.sum()), np.int64)
        if not repeats.fill_row_positions(self.of, rows, places):
            raise CorruptChunk("the index describes no text: a position is outside")
        which = np.repeat(np.arange(counts.size), counts)
        return which, places if self.runs is None else self.runs.map_positions(places)
