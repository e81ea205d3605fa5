"""Index of the bases of a text, with breaks at other letters and record borders."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.transform.suffixes import suffix_array
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.aligned import aligned_zeros
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.search.fm_index.base_runs import (
    NO_BORDERS,
    BaseRuns,
    check_base_runs,
    split_at_breaks,
)
from gangsaw.tasks.search.fm_index.packed import Bytes, UnpackedIndex, pack_index
from gangsaw.tasks.search.fm_index.row_index import RowIndex
from gangsaw.tasks.search.fm_index.samples import (
    Positions,
    Suffixes,
    build_samples,
    check_samples,
    find_seeds,
    locate_rows,
)
from gangsaw.tasks.search.kernels import bases, bits, walks
from gangsaw.tasks.search.kernels.patterns import AT_ONCE, N_BASES, fill_table, rows_of_bases

KIND = 2
RATE = 32  # default sampling rate: 0.13 bytes per base
TABLE_K = 8  # 512 kB: it stays in the level 2 cache
MANY = 1 << 14  # patterns from which a table pays off


@dataclass(frozen=True, eq=False)
class BaseIndex(RowIndex):
    """FM-index of the bases of a text, in cache lines of 64 bytes, with sampled positions.

    Attributes
    ----------
    n : letters of the text, with those that are no bases
    of : Burrows-Wheeler transform of the runs of bases
    samples : text positions of some rows (suffixes in sorted order)
    runs : positions of the runs of bases in the text
    """

    n: int
    of: bases.BaseRows
    samples: walks.Samples
    runs: BaseRuns
    _tables: dict[int, npt.NDArray[np.uint32]] = field(default_factory=dict)

    @classmethod
    def build(cls, bases: Bytes, borders: Positions = NO_BORDERS, rate: int = RATE) -> BaseIndex:
        """Build the index of base codes (n,) uint8, with the position of every `rate`-th suffix.

        borders : (b,) int64, ascending, record borders; no pattern matches across them

        It takes 8 bytes of memory per letter if runs are long.
        """
        text, runs = split_at_breaks(bases, borders)
        return cls.build_from_runs(text, suffix_array(text), runs, bases.size, rate)

    @classmethod
    def build_from_runs(
        cls, text: Bytes, suffixes: Suffixes, runs: BaseRuns, n: int, rate: int
    ) -> BaseIndex:
        """Build the index of n letters from their runs of bases and the suffix array of these."""
        samples = build_samples(text, suffixes, rate, has_breaks=True)
        words = aligned_zeros(bases.count_row_words(text.size + 1), np.uint64)
        odd = np.empty(max(1, runs.positions.size), np.int64)
        used = bases.fill_rows(text, suffixes, words, odd)
        return cls(n, _rows(words, odd[:used], text.size + 1), samples, runs)

    @classmethod
    def unpack(cls, data: UnpackedIndex) -> BaseIndex:
        """Return the index in an unpacked header and body; raise CorruptChunk if inconsistent."""
        n, rate, n_samples, n_text, n_odd, n_runs, *_ = data.fields
        if data.kind != KIND:
            raise CorruptChunk("no index of bases")
        arrays = data.arrays()
        words = arrays.take(bases.count_row_words(n_text + 1), np.uint64)
        marks = arrays.take(bits.count_bit_words(n_text + 1), np.uint64)
        places = arrays.take(n_samples, np.uint32)
        odd = arrays.take(n_odd, np.uint32)
        begins, there = arrays.take(n_runs + 1, np.uint32), arrays.take(n_runs, np.uint32)
        arrays.end()
        runs = BaseRuns(begins.astype(np.int64), there.astype(np.int64))
        check_base_runs(runs, n_text, n)
        if n_odd != max(1, n_runs):
            raise CorruptChunk("the index has other breaks than its runs")
        of = _rows(words, odd.astype(np.int64), n_text + 1)
        return cls(n, of, check_samples(marks, places, rate, n_text), runs)

    def pack(self) -> Bytes:
        """Pack the index into bytes (m,) uint8, the input of `unpack_index` and `open_index`."""
        runs, odd = self.runs, self.of.odd.astype("<u4")
        n_text = int(self.of.firsts[N_BASES]) - 1
        rate, n_samples = self.samples.rate, self.samples.positions.size
        fields = (self.n, rate, n_samples, n_text, odd.size, runs.positions.size)
        own = (odd, runs.begins.astype("<u4"), runs.positions.astype("<u4"))
        return pack_index(
            KIND, fields, (self.of.words, self.samples.marks, self.samples.positions, *own)
        )

    @property
    def nbytes(self) -> int:
        """Memory of the index, in bytes."""
        of, samples, runs = self.of, self.samples, self.runs
        arrays = (of.words, of.has_odd, of.odd, samples.marks, samples.positions, runs.begins)
        return sum(int(array.nbytes) for array in (*arrays, runs.positions))

    def rows(self, patterns: RaggedArray) -> Positions:
        """Return the range of rows (sorted suffixes) that begin with each pattern, (k, 2) int64.

        A pattern with a code other than 0..3 has no rows.
        """
        k = TABLE_K if len(patterns) >= MANY else 0
        found = np.empty((len(patterns), 2), np.int64)
        scratch = np.empty(AT_ONCE, np.int64)
        rows_of_bases(self.of, self._table(k), k, patterns.data, patterns.offsets, found, scratch)
        return found

    def seeds(self, query: Bytes, length: int) -> tuple[Positions, Positions]:
        """Return exact matches of a query's windows of `length` bases, to seed longer matches.

        query : (m,) uint8, codes

        They are starts in the query and positions in the text, (k,) int64. Matches that extend to
        the left are left out. Raises BadParams for too many.
        """
        begins, rows = find_seeds(self.of, query, length)
        return begins, self.locate_rows(rows)

    def locate_rows(self, rows: Positions) -> Positions:
        """Return the text positions of rows (k,) int64; raise CorruptChunk if they are invalid."""
        n_text = int(self.of.firsts[N_BASES]) - 1
        found = locate_rows(walks.locate_bases, self.of, self.samples, rows, n_text)
        return self.runs.map_positions(found)

    def _table(self, k: int) -> npt.NDArray[np.uint32]:
        """Return the range of rows of each k-mer, (4^k, 2), computed once."""
        if k not in self._tables:
            table = np.empty((1 << 2 * k, 2), np.uint32)
            fill_table(self.of, k, table)
            self._tables[k] = table
        return self._tables[k]


def _rows(words: npt.NDArray[np.uint64], odd: Positions, n_rows: int) -> bases.BaseRows:
    """Return the transform with its rank data; raise CorruptChunk if counts are inconsistent.

    `words` are the cache lines, `odd` the rows without a base before their suffix.
    """
    has_odd = np.empty(words.size // bases.WORDS, np.bool_)
    totals = np.empty(N_BASES, np.int64)
    if not bases.check_base_rows(words, n_rows, odd, has_odd, totals):
        raise CorruptChunk("lines of the index do not go with their counts")
    firsts = np.concatenate(([0], np.cumsum(totals))) + odd.size
    return bases.BaseRows(words, has_odd, odd, firsts)
