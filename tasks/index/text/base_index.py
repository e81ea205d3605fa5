"""The index of the bases of a text, which other letters and borders of records break."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.transform.suffixes import suffix_array
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.aligned import aligned_zeros
from gangsaw.tasks.index.kernels import bases, bits, walks
from gangsaw.tasks.index.kernels.patterns import AT_ONCE, N_BASES, fill_table, rows_of_bases
from gangsaw.tasks.index.text.base_runs import NO_BORDERS, BaseRuns, check_base_runs, split
from gangsaw.tasks.index.text.by_rows import RowIndex
from gangsaw.tasks.index.text.packed import Bytes, Opened, pack
from gangsaw.tasks.index.text.samples import (
    Places,
    Suffixes,
    made_samples,
    opened_samples,
    places_of,
    seeds_of,
)
from gangsaw.tasks.sequences.ragged import Ragged

KIND = 2
RATE = 32  # of samples, usually: 0.13 bytes a base
TABLE_K = 8  # 512 kB: it stays in the second-level cache
MANY = 1 << 14  # patterns that are worth a table


@dataclass(frozen=True, eq=False)
class BaseIndex(RowIndex):
    """An FM-index of bases in lines of 64 bytes, and sampled places.

    Attributes
    ----------
    n : letters of the text
    of : the transform of the runs
    samples : places of some rows
    runs : of bases among the letters
    """

    n: int
    of: bases.BaseRows
    samples: walks.Samples
    runs: BaseRuns
    _tables: dict[int, npt.NDArray[np.uint32]] = field(default_factory=dict)

    @classmethod
    def made(cls, letters: Bytes, borders: Places = NO_BORDERS, rate: int = RATE) -> BaseIndex:
        """Return the index of (n,) uint8 with the place of every `rate`-th suffix.

        borders : (b,) int64, ascending, where records meet; no pattern is found across them

        It takes 8 bytes of memory a letter where runs are long.
        """
        text, runs = split(letters, borders)
        return cls.of_runs(text, suffix_array(text), runs, letters.size, rate)

    @classmethod
    def of_runs(
        cls, text: Bytes, suffixes: Suffixes, runs: BaseRuns, n: int, rate: int
    ) -> BaseIndex:
        """Return the index of runs of bases in n letters, with their suffix array."""
        samples = made_samples(text, suffixes, rate, has_breaks=True)
        words = aligned_zeros(bases.n_words(text.size + 1), np.uint64)
        odd = np.empty(max(1, runs.places.size), np.int64)
        used = bases.fill_rows(text, suffixes, words, odd)
        return cls(n, _rows(words, odd[:used], text.size + 1), samples, runs)

    @classmethod
    def opened(cls, data: Opened) -> BaseIndex:
        """Return the index of what `unpack` gave; CorruptChunk where anything does not fit."""
        n, rate, n_samples, n_text, n_odd, n_runs, *_ = data.fields
        if data.kind != KIND:
            raise CorruptChunk("no index of bases")
        arrays = data.arrays()
        words = arrays.take(bases.n_words(n_text + 1), np.uint64)
        marks = arrays.take(bits.n_words(n_text + 1), np.uint64)
        places = arrays.take(n_samples, np.uint32)
        odd = arrays.take(n_odd, np.uint32)
        begins, there = arrays.take(n_runs + 1, np.uint32), arrays.take(n_runs, np.uint32)
        arrays.end()
        runs = BaseRuns(begins.astype(np.int64), there.astype(np.int64))
        check_base_runs(runs, n_text, n)
        if n_odd != max(1, n_runs):
            raise CorruptChunk("the index has other breaks than its runs")
        of = _rows(words, odd.astype(np.int64), n_text + 1)
        return cls(n, of, opened_samples(marks, places, rate, n_text), runs)

    def packed(self) -> Bytes:
        """Return the index as (m,) uint8, which `unpack` and `opened` take."""
        runs, odd = self.runs, self.of.odd.astype("<u4")
        n_text = int(self.of.firsts[N_BASES]) - 1
        rate, n_samples = self.samples.rate, self.samples.places.size
        fields = (self.n, rate, n_samples, n_text, odd.size, runs.places.size)
        own = (odd, runs.begins.astype("<u4"), runs.places.astype("<u4"))
        return pack(KIND, fields, (self.of.words, self.samples.marks, self.samples.places, *own))

    @property
    def nbytes(self) -> int:
        """Memory of the index."""
        of, samples, runs = self.of, self.samples, self.runs
        arrays = (of.words, of.has_odd, of.odd, samples.marks, samples.places, runs.begins)
        return sum(int(array.nbytes) for array in (*arrays, runs.places))

    def rows(self, patterns: Ragged) -> Places:
        """Return the rows of patterns of codes, (k, 2) int64: the first one of each, and the end.

        A pattern with another code than 0..3 is nowhere.
        """
        k = TABLE_K if len(patterns) >= MANY else 0
        found = np.empty((len(patterns), 2), np.int64)
        scratch = np.empty(AT_ONCE, np.int64)
        rows_of_bases(self.of, self._table(k), k, patterns.data, patterns.offsets, found, scratch)
        return found

    def seeds(self, query: Bytes, length: int) -> tuple[Places, Places]:
        """Return where windows of a query are that nothing on their left makes longer.

        query : (m,) uint8, codes

        The begins in the query and places in the text, (k,) int64. Raises BadParams for too many.
        """
        begins, rows = seeds_of(self.of, query, length)
        return begins, self.places(rows)

    def places(self, rows: Places) -> Places:
        """Return the places of rows (k,) int64 in the letters; CorruptChunk for a wrong index."""
        n_text = int(self.of.firsts[N_BASES]) - 1
        found = places_of(walks.locate_bases, self.of, self.samples, rows, n_text)
        return self.runs.places_of(found)

    def _table(self, k: int) -> npt.NDArray[np.uint32]:
        """Return the rows of all k-mers, made once."""
        if k not in self._tables:
            table = np.empty((1 << 2 * k, 2), np.uint32)
            fill_table(self.of, k, table)
            self._tables[k] = table
        return self._tables[k]


def _rows(words: npt.NDArray[np.uint64], odd: Places, n_rows: int) -> bases.BaseRows:
    """Return the transform; CorruptChunk where lines and odd rows do not go together."""
    has_odd = np.empty(words.size // bases.WORDS, np.bool_)
    totals = np.empty(N_BASES, np.int64)
    if not bases.check_rows(words, n_rows, odd, has_odd, totals):
        raise CorruptChunk("lines of the index do not go with their counts")
    firsts = np.concatenate(([0], np.cumsum(totals))) + odd.size
    return bases.BaseRows(words, has_odd, odd, firsts)
