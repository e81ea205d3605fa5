"""Residues of a collection, decoded on request from reference bases and edits."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.compressed_text.text import Positions, Text
from gangsaw.tasks.genomics.genomes.related import expand
from gangsaw.tasks.genomics.genomes.related.batch import decode_zigzag, numbers_in
from gangsaw.tasks.genomics.genomes.related.bundles import BUNDLE
from gangsaw.tasks.genomics.genomes.related.marks import MarkedRuns
from gangsaw.tasks.genomics.genomes.related.pieces import PIECE_COLUMNS, WINDOW, WINDOW_BITS
from gangsaw.tasks.genomics.genomes.related.windows import KnownWindows
from gangsaw.tasks.sources.source import Described, Region, SourceArray

NEEDED = ("known", "piece", "edit", "bundle")
TABLE_COLUMNS = {"piece": PIECE_COLUMNS - 1, "edit": 3, "bundle": 1, "other": 3, "lower": 2}
ROWS, ROWS_HELD = 1 << 13, 1 << 10  # rows of edits per read, and most cached reads: 96 MiB
ROWS_TOGETHER = 32  # reads of ROWS that are decoded in parallel
TOGETHER = 128  # pieces per call of `join_pieces`
WRONG = {
    expand.WRONG_BUNDLE: "edit does not have the pieces of bundle",
    expand.WRONG_PIECE: "edit does not match the pieces",
}

Table = npt.NDArray[np.uint32]


class Pieces(NamedTuple):
    """Decoded table of a store's pieces: ranges of reference bases that make up the genomes.

    Attributes
    ----------
    spans : (n, 4) int64, reference range a..b - 1, strand, bases
    starts : (n + 1,) int64, offsets among all residues
    order, rank : (n,) int64, pieces by reference window and by number there; and position of
        each piece in that order
    numbers : (n,) int64, number of each piece in its window
    bundles : (n,) int64, bundle of each piece, in the order of `order`
    """

    spans: Positions
    starts: Positions
    order: Positions
    rank: Positions
    numbers: Positions
    bundles: Positions


@dataclass(frozen=True, kw_only=True)
class JoinedBases(Described):
    """Residues of all genomes of a collection as an array, decoded on read.

    Attributes
    ----------
    of : array of reference bases
    windows : cache of decoded reference bases, possibly of more arrays
    tables : arrays of pieces, edits and bundles, by name
    """

    of: SourceArray
    windows: KnownWindows = field(compare=False)
    tables: Mapping[str, SourceArray] = field(default_factory=dict, compare=False)

    def read(self, region: Region) -> NumpyArray:
        """Return the residues of a region; raise CorruptChunk for inconsistent arrays."""
        begin, end = region[0].start, region[0].stop
        letters, starts = np.empty(end - begin, np.uint8), self._pieces.starts
        first = int(np.searchsorted(starts, begin, "right")) - 1
        last = int(np.searchsorted(starts, end)) if end > begin else first
        for k in range(first, last, TOGETHER):
            self._put(k, min(k + TOGETHER, last), begin, letters)
        for marked in self._marks:
            marked.put(letters, begin)
        return letters

    def _put(self, first: int, last: int, begin: int, out: Text) -> None:
        """Write the residues of pieces first..last - 1 to `out`, which begins at `begin`."""
        spans = self._pieces.spans[first:last]
        numbers = spans[:, 0] >> WINDOW_BITS
        self.windows.ready(numbers)
        ends = np.minimum(self.of.shape[0] - numbers * WINDOW, WINDOW)
        windows = np.stack((self.windows.slots[numbers], ends), axis=1)
        at, (edit, begins) = int(self._pieces.starts[first]) - begin, self._rows(first, last)
        members = self._members(first, last)
        known = self.windows.letters
        done = int(expand.join_pieces(known, spans, at, members, edit, begins, windows, out))
        if done != expand.FINE:
            raise CorruptChunk(WRONG[done])

    def _members(self, first: int, last: int) -> Positions:
        """Return each piece's predecessors in its bundle: their number and reference ranges."""
        pieces, own = self._pieces, np.arange(BUNDLE)
        here = pieces.numbers[first:last] % BUNDLE
        ranks = np.minimum((pieces.rank[first:last] - here)[:, None] + own, len(pieces.order) - 1)
        bounds = pieces.spans[pieces.order[ranks], :2].reshape(len(here), -1)
        return np.concatenate((here[:, None] + 1, bounds), axis=1)

    def _rows(self, first: int, last: int) -> tuple[Table, Positions]:
        """Return the edit rows of the pieces' bundles, and the range of rows for each piece."""
        owners = self._pieces.bundles[self._pieces.rank[first:last]]
        bundles, which = np.unique(owners, return_inverse=True)
        self._ready(self._bundle_ends[bundles], self._bundle_ends[bundles + 1])
        found = [self._edits(*self._bundle_ends[u : u + 2].tolist()) for u in bundles.tolist()]
        ends = np.cumsum([0, *map(len, found)])
        return np.concatenate(found), np.stack((ends[which], ends[which + 1]), axis=1)

    def _ready(self, begins: Positions, ends: Positions) -> None:
        """Read missing blocks of edit rows into the cache, adjacent ones together.

        Evict the oldest.
        """
        spans = zip((begins // ROWS).tolist(), (-(-ends // ROWS)).tolist(), strict=True)
        wanted = sorted({number for first, last in spans for number in range(first, last)})
        for number in wanted:
            if number in self._edit_cache:
                self._edit_cache.move_to_end(number)
        missing = np.array([n for n in wanted if n not in self._edit_cache], np.int64)
        for run in np.split(missing, np.flatnonzero(np.diff(missing) > 1) + 1):
            for at in range(0, run.size, ROWS_TOGETHER):
                some = run[at : at + ROWS_TOGETHER].tolist()
                rows = self._table("edit", some[0] * ROWS, (some[-1] + 1) * ROWS)
                for i, number in enumerate(some):
                    self._edit_cache[number] = rows[i * ROWS : (i + 1) * ROWS].copy()
        while len(self._edit_cache) > max(ROWS_HELD, len(wanted)):
            self._edit_cache.popitem(last=False)

    def _edits(self, first: int, last: int) -> Table:
        """Return the edit rows first..last - 1 from the cache."""
        found = [
            self._edit_cache[n][max(0, first - n * ROWS) : last - n * ROWS]
            for n in range(first // ROWS, -(-last // ROWS))
        ]
        return np.concatenate(found) if len(found) != 1 else np.ascontiguousarray(found[0])

    def _table(self, name: str, first: int = 0, last: int | None = None) -> Table:
        """Return rows of an array; raise CorruptChunk for a wrong number of columns."""
        array, columns = self.tables[name], TABLE_COLUMNS[name]
        if len(array.shape) != 2 or array.shape[1] != columns:
            raise CorruptChunk(f"{name} has not {columns} columns")
        last = array.shape[0] if last is None else min(last, array.shape[0])
        if first >= last:
            return np.empty((0, columns), np.uint32)
        return array.read((slice(first, last), slice(0, columns))).astype(np.uint32, copy=False)

    @cached_property
    def _pieces(self) -> Pieces:
        n_known, table = self.of.shape[0], self._table("piece").astype(np.int64)
        spans = np.empty((len(table), 4), np.int64)
        expand.decode_pieces(table, n_known, spans)
        a, b, _, letters = spans.T
        is_whole = (a >= 0) & (a < b) & (b <= n_known) & (letters > 0)
        is_whole &= a >> WINDOW_BITS == b - 1 >> WINDOW_BITS
        numbers, window = np.cumsum(decode_zigzag(table[:, 4])), a >> WINDOW_BITS
        starts = np.concatenate(([0], np.cumsum(letters)))
        if not is_whole.all() or starts[-1] != self.shape[0] or (letters > self.shape[0]).any():
            raise CorruptChunk("piece does not describe the residues of the store")
        order = np.lexsort((numbers, window))
        if (numbers_in(window, order) != numbers).any():
            raise CorruptChunk("piece does not number those of a window")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        bundles = np.cumsum(numbers[order] % BUNDLE == 0) - 1
        return Pieces(spans, starts, order, rank, numbers, bundles)

    @cached_property
    def _bundle_ends(self) -> Positions:
        """Offsets (n + 1) of the bundles in the array of edit rows."""
        sizes = self._table("bundle")[:, 0].astype(np.int64)
        ends = np.concatenate(([0], np.cumsum(sizes)))
        n = int(self._pieces.bundles.max(initial=-1)) + 1
        if len(sizes) != n or ends[-1] != self.tables["edit"].shape[0]:
            raise CorruptChunk("bundle is not of the rows of edit")
        return ends

    @cached_property
    def _marks(self) -> tuple[MarkedRuns, ...]:
        names = [name for name in ("other", "lower") if name in self.tables]
        return tuple(MarkedRuns(name, self._table(name), self.shape[0]) for name in names)

    @cached_property
    def _edit_cache(self) -> OrderedDict[int, Table]:
        return OrderedDict()


def join_residues(arrays: Mapping[str, SourceArray], n: int, windows: KnownWindows) -> JoinedBases:
    """Return the residues of one part of a collection, (n,) uint8, decoded on read.

    Raises CorruptChunk if an array is missing.
    """
    for name in NEEDED:
        if name not in arrays:
            raise CorruptChunk(f"it holds a collection, but no array {name}")
    known = arrays["known"]
    tables = {name: arrays[name] for name in TABLE_COLUMNS if name in arrays}
    return JoinedBases(
        name="sequence",
        shape=(n,),
        dtype=np.dtype(np.uint8),
        dims=("residue",),
        chunks=(WINDOW,),
        attrs=known.attrs,
        of=known,
        windows=windows,
        tables=tables,
    )
