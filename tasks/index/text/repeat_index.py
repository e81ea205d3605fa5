"""The index of a text that repeats itself: its size grows with the runs of its transform."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.index.kernels import repeats
from gangsaw.tasks.index.text.base_runs import BaseRuns, check_base_runs
from gangsaw.tasks.index.text.packed import Bytes, Opened, pack
from gangsaw.tasks.index.text.samples import MOST_SEEDS, Places, Suffixes
from gangsaw.tasks.sequences.ragged import Ragged

KIND = 3
RUN_BYTES = 20
LETTER, BEGIN, LENGTH, LAST, FIRST = range(5)  # of a run


@dataclass(frozen=True, eq=False)
class RepeatIndex:
    """An r-index of bytes, or of the runs of bases.

    Attributes
    ----------
    n : letters of the text
    of : the transform
    runs : of bases among the letters; None of bytes
    """

    n: int
    of: repeats.RepeatRows
    runs: BaseRuns | None

    @classmethod
    def made(cls, text: Bytes, suffixes: Suffixes, runs: BaseRuns | None, n: int) -> RepeatIndex:
        """Return the index of a text of one letter or more; of bases, it has codes from 1 on."""
        table = np.empty((count_runs(text, suffixes), 5), np.int64)
        _, primary = repeats.fill_runs(text, suffixes, table)
        heads, above = _heads(table, suffixes, int(primary), text.size)
        table = table[np.lexsort((table[:, BEGIN], table[:, LETTER]))]
        own = np.searchsorted(table[:, LETTER], np.arange(257))
        before = np.concatenate(([0], np.cumsum(table[:, LENGTH])))
        begins, ends = table[:, BEGIN].astype(np.uint32), table[:, LAST].astype(np.uint32)
        firsts = 1 + before[own]
        of = repeats.RepeatRows(
            own, begins, before.astype(np.uint32), ends, heads, above, firsts, int(primary),
            int(suffixes[-1]),
        )  # fmt: skip
        return cls(n, of, runs)

    @classmethod
    def opened(cls, data: Opened) -> RepeatIndex:
        """Return the index of what `unpack` gave; CorruptChunk where anything does not fit."""
        n, n_text, n_runs, n_heads, primary, last, has_bases, n_bases, *_ = data.fields
        arrays = data.arrays()
        own = arrays.take(257, np.uint32).astype(np.int64)
        begins, before = arrays.take(n_runs, np.uint32), arrays.take(n_runs + 1, np.uint32)
        ends = arrays.take(n_runs, np.uint32)
        heads, above = arrays.take(n_heads, np.uint32), arrays.take(n_heads, np.uint32)
        runs = None
        if has_bases:
            starts, places = arrays.take(n_bases + 1, np.uint32), arrays.take(n_bases, np.uint32)
            runs = BaseRuns(starts.astype(np.int64), places.astype(np.int64))
            check_base_runs(runs, n_text, n)
        arrays.end()
        _check(own, begins, before, n_text)
        are_heads = bool((np.diff(heads.astype(np.int64)) > 0).all()) and heads[:1].tolist() == [0]
        if not are_heads or not 1 <= primary <= n_text or (runs is None and n != n_text):
            raise CorruptChunk("heads of the runs are not those of a text")
        firsts = 1 + before.astype(np.int64)[own]
        rows = repeats.RepeatRows(own, begins, before, ends, heads, above, firsts, primary, last)
        return cls(n, rows, runs)

    def packed(self) -> Bytes:
        """Return the index as (m,) uint8, which `unpack` and `opened` take."""
        of, n_text = self.of, int(self.of.firsts[repeats.LETTERS]) - 1
        n_bases = 0 if self.runs is None else self.runs.places.size
        sizes = (self.n, n_text, of.begins.size, of.heads.size, of.primary, of.last)
        arrays = [of.own.astype(np.uint32), of.begins, of.before, of.ends, of.heads, of.above]
        if self.runs is not None:
            own = (self.runs.begins, self.runs.places)
            arrays += [array.astype(np.uint32) for array in own]
        return pack(KIND, (*sizes, int(self.runs is not None), n_bases), arrays)

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


def count_runs(text: Bytes, suffixes: Suffixes) -> int:
    """Return the runs of the transform of a text of one letter or more."""
    n_runs, _ = repeats.fill_runs(text, suffixes, np.empty((0, 5), np.int64))
    return int(n_runs)


def _heads(
    table: Places, suffixes: Suffixes, primary: int, n: int
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Return places of first rows of runs and the primary row, and of the rows before them."""
    rows = table[:, BEGIN] + (table[:, BEGIN] >= primary)
    rows = np.append(rows, primary)
    places = np.append(table[:, FIRST], 0)
    # the row before row 1 is that of the end, n; before row 0 there is none
    above = np.where(rows < 2, n, suffixes[np.maximum(rows - 2, 0)])
    order = np.argsort(places)
    return places[order].astype(np.uint32), above[order].astype(np.uint32)


def _check(
    own: Places, begins: npt.NDArray[np.uint32], before: npt.NDArray[np.uint32], n: int
) -> None:
    """Raise CorruptChunk unless the runs of all letters make up the transform, each once."""
    lengths = np.diff(before.astype(np.int64))
    is_own = own[0] == 0 and own[-1] == begins.size and (np.diff(own) >= 0).all()
    order = np.argsort(begins, kind="stable")
    ends = np.cumsum(lengths[order])
    is_whole = begins.size > 0 and before[0] == 0 and int(before[-1]) == n and (lengths > 0).all()
    is_apart = is_whole and bool((ends - lengths[order] == begins[order]).all())
    if not (is_own and is_apart):
        raise CorruptChunk("runs of the index do not make up a text")
    rising = np.diff(begins.astype(np.int64)) > 0
    rising[np.clip(own[(own > 0) & (own < begins.size)] - 1, 0, None)] = True
    if not rising.all():
        raise CorruptChunk("runs of a letter are not in their order")
