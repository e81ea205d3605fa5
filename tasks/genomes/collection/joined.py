"""Letters of a collection, joined from known ones and edits where they are asked for."""

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
from gangsaw.codecs.core.nucleotides.codes import CODES, LETTER_OF_CODE
from gangsaw.codecs.core.nucleotides.letters import NOT_A_BASE
from gangsaw.tasks.genomes.collection import expand
from gangsaw.tasks.genomes.collection.batch import numbers_in, unfolded
from gangsaw.tasks.genomes.collection.bundles import BUNDLE
from gangsaw.tasks.genomes.collection.marks import MarkedRuns
from gangsaw.tasks.genomes.collection.pieces import PIECE_COLUMNS, WINDOW, WINDOW_BITS
from gangsaw.tasks.sequences.files.text import Places, Text
from gangsaw.tasks.sequences.held import HeldChunks
from gangsaw.tasks.source import Described, Region, SourceArray

NEEDED = ("known", "piece", "edit", "bundle")
TABLE_COLUMNS = {"piece": PIECE_COLUMNS - 1, "edit": 3, "bundle": 1, "other": 3, "lower": 2}
ROWS, ROWS_HELD = 1 << 13, 64  # of edits that are read together, and how many such are held
WINDOWS_HELD = 16
LONG = 1 << 22  # known letters that are decoded together where much is read
LONG_HELD = 4

Table = npt.NDArray[np.uint32]


class Pieces(NamedTuple):
    """The pieces of a store.

    Attributes
    ----------
    spans : (n, 4) int64, known letters a..b - 1, strand, letters
    starts : (n + 1,) int64, where each begins among all letters
    order, rank : (n,) int64, pieces by window and by number there; and where each is in that order
    numbers : (n,) int64, of each in its window
    bundles : (n,) int64, of which bundle each is, in that order
    """

    spans: Places
    starts: Places
    order: Places
    rank: Places
    numbers: Places
    bundles: Places


@dataclass(frozen=True, kw_only=True)
class JoinedLetters(Described):
    """The letters of all genomes of a store, as an array.

    `of` is the array of known letters, `tables` the other arrays by name.
    """

    of: SourceArray
    tables: Mapping[str, SourceArray] = field(default_factory=dict, compare=False)

    def read(self, region: Region) -> NumpyArray:
        """Return letters; CorruptChunk where the arrays of the store do not go together."""
        begin, end = region[0].start, region[0].stop
        letters = LETTER_OF_CODE[self._codes(begin, end)]
        for marked in self._marks:
            marked.put(letters, begin)
        return letters

    def _codes(self, begin: int, end: int) -> Text:
        """Return codes of letters begin..end - 1."""
        starts, out = self._pieces.starts, np.empty(end - begin, np.uint8)
        known = self._long if end - begin > LONG // 2 else self._windows
        k = int(np.searchsorted(starts, begin, "right")) - 1
        while k < len(starts) - 1 and starts[k] < end:
            base, letters = int(starts[k]), self._piece(k, known)
            own = letters[max(0, begin - base) : end - base]
            at = max(base, begin) - begin
            out[at : at + own.size] = own
            k += 1
        return out

    def _piece(self, k: int, known: HeldChunks) -> Text:
        """Return the codes of a piece."""
        a, b, strand, n = self._pieces.spans[k].tolist()
        low = a >> WINDOW_BITS << WINDOW_BITS
        codes = CODES[known.read(low, min(low + WINDOW, known.size))]
        if (codes == NOT_A_BASE).any():
            raise CorruptChunk("known has other letters than bases")
        out = np.empty(n, np.uint8)
        span = np.array([a, b, strand, low], np.int64)
        if not expand.expand(codes, self._rows(k), span, out):
            raise CorruptChunk("edit is not of such pieces")
        return out

    def _rows(self, k: int) -> Places:
        """Return the rows of a piece, its parents' among them."""
        pieces = self._pieces
        rank, here = int(pieces.rank[k]), int(pieces.numbers[k]) % BUNDLE
        u = int(pieces.bundles[rank])
        edit = self._edits(*self._bundle_ends[u : u + 2].tolist())
        bounds = np.ascontiguousarray(pieces.spans[pieces.order[rank - here : rank + 1], :2])
        rows = np.empty((len(edit), 3), np.int64)
        n = int(expand.rows_of(edit, bounds, rows))
        if n < 0:
            raise CorruptChunk("edit does not have the pieces of bundle")
        return rows[:n]

    def _edits(self, first: int, last: int) -> Table:
        """Return rows first..last - 1 of edits."""
        held, found = self._edits_held, []
        for number in range(first // ROWS, -(-last // ROWS)):
            if number not in held:
                held[number] = self._table("edit", number * ROWS, (number + 1) * ROWS)
            held.move_to_end(number)
            at = number * ROWS
            found.append(held[number][max(0, first - at) : last - at])
        while len(held) > ROWS_HELD:
            held.popitem(last=False)
        return np.concatenate(found) if len(found) != 1 else np.ascontiguousarray(found[0])

    def _table(self, name: str, first: int = 0, last: int | None = None) -> Table:
        """Return rows of an array; CorruptChunk where it has other columns."""
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
        expand.placed(table, n_known, spans)
        a, b, _, letters = spans.T
        is_whole = (a >= 0) & (a < b) & (b <= n_known) & (letters > 0)
        is_whole &= a >> WINDOW_BITS == b - 1 >> WINDOW_BITS
        numbers, window = np.cumsum(unfolded(table[:, 4])), a >> WINDOW_BITS
        starts = np.concatenate(([0], np.cumsum(letters)))
        if not is_whole.all() or starts[-1] != self.shape[0] or (letters > self.shape[0]).any():
            raise CorruptChunk("piece is not of the letters of the store")
        order = np.lexsort((numbers, window))
        if (numbers_in(window, order) != numbers).any():
            raise CorruptChunk("piece does not number those of a window")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        bundles = np.cumsum(numbers[order] % BUNDLE == 0) - 1
        return Pieces(spans, starts, order, rank, numbers, bundles)

    @cached_property
    def _bundle_ends(self) -> Places:
        """Where bundles begin in the edits, and the last one ends."""
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
    def _edits_held(self) -> OrderedDict[int, Table]:
        return OrderedDict()

    @cached_property
    def _windows(self) -> HeldChunks:
        return HeldChunks(self.of, WINDOW, WINDOWS_HELD)

    @cached_property
    def _long(self) -> HeldChunks:
        return HeldChunks(self.of, LONG, LONG_HELD)


def joined(arrays: Mapping[str, SourceArray], n: int) -> JoinedLetters:
    """Return the letters of a store of n letters; CorruptChunk where it lacks an array."""
    for name in NEEDED:
        if name not in arrays:
            raise CorruptChunk(f"it holds a collection, but no array {name}")
    known = arrays["known"]
    tables = {name: arrays[name] for name in TABLE_COLUMNS if name in arrays}
    return JoinedLetters(
        name="sequence",
        shape=(n,),
        dtype=np.dtype(np.uint8),
        dims=("residue",),
        chunks=(WINDOW,),
        attrs=known.attrs,
        of=known,
        tables=tables,
    )
