"""Runs of a transform: their stored form, and conversion to the form for search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.aligned import aligned_zeros
from gangsaw.tasks.search.fm_index.packed import Arrays, Bytes
from gangsaw.tasks.search.fm_index.samples import Positions, Suffixes
from gangsaw.tasks.search.kernels import repeats, run_bits

Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.uint32]
Sizes = tuple[int, int, int, int, int]  # integer fields of `StoredRuns`
FEWEST = 4  # least average run length of an index to open
SPARE = 4096  # runs that a small text may have in addition


class RunTable(NamedTuple):
    """Runs of equal letters in a Burrows-Wheeler transform, in the order of rows.

    The arrays are (r,) uint8 (symbols) and uint32.

    Attributes
    ----------
    symbols, lengths : letter and length of each run
    firsts, lasts : text positions of the first and last row of each run
    primary : row of the whole text
    """

    symbols: Bytes
    lengths: Numbers
    firsts: Numbers
    lasts: Numbers
    primary: int


@dataclass(frozen=True, eq=False)
class StoredRuns:
    """Runs of equal letters in a Burrows-Wheeler transform, bit-packed.

    Attributes
    ----------
    n : letters of the text
    n_runs : number of runs
    primary : row of the whole text
    n_firsts, n_lasts : numbers of stored positions of first and of last rows
    alphabet : (4,) uint64, a bit for each letter that occurs
    symbols, lengths, firsts, lasts : (w,) uint64, packed values, then a word of zeros
    """

    n: int
    n_runs: int
    primary: int
    n_firsts: int
    n_lasts: int
    alphabet: Words
    symbols: Words
    lengths: Words
    firsts: Words
    lasts: Words

    @classmethod
    def pack(cls, table: RunTable, n: int) -> StoredRuns:
        """Pack the runs of a text of n letters."""
        alphabet, codes = _coded(table.symbols)
        lengths = _words(int(run_bits.count_length_bits(table.lengths)))
        run_bits.put_lengths(table.lengths, lengths)
        order = _Order.of(table.symbols, table.lengths, table.primary)
        first_known = ~_chains(order, table.lengths, of_last=False)[1]
        last_known = ~_chains(order, table.lengths, of_last=True)[1] & (table.lengths > 1)
        firsts, lasts = table.firsts[first_known], table.lasts[last_known]
        sizes = (n, codes.size, table.primary, firsts.size, lasts.size)
        packed = (_pack(own, n.bit_length()) for own in (firsts, lasts))
        return cls(*sizes, alphabet, _pack(codes, _width(alphabet)), lengths, *packed)

    @classmethod
    def read(cls, sizes: Sizes, n_length_words: int, arrays: Arrays) -> StoredRuns:
        """Read the packed runs after the header of an index; raise CorruptChunk if inconsistent."""
        n, n_runs, primary, n_firsts, n_lasts = sizes
        if not 0 < n_runs <= n // FEWEST + SPARE or not 0 < primary <= n:
            raise CorruptChunk("runs of the index are not those of a text")
        if max(n_firsts, n_lasts) > n_runs or n_length_words < 2:
            raise CorruptChunk("the index has more positions than runs")
        alphabet = arrays.take(4, np.uint64)
        letters = arrays.take(_n_words(n_runs * _width(alphabet)), np.uint64)
        lengths = arrays.take(n_length_words, np.uint64)
        width = n.bit_length()
        firsts, lasts = (arrays.take(_n_words(k * width), np.uint64) for k in (n_firsts, n_lasts))
        return cls(*sizes, alphabet, letters, lengths, firsts, lasts)

    @property
    def sizes(self) -> Sizes:
        """Sizes in the header of the index, the input of `read`."""
        return self.n, self.n_runs, self.primary, self.n_firsts, self.n_lasts

    @property
    def arrays(self) -> tuple[Words, ...]:
        """Arrays after the header of the index."""
        return self.alphabet, self.symbols, self.lengths, self.firsts, self.lasts

    def rows(self) -> repeats.RepeatRows:
        """Return the unpacked runs for search.

        Raise CorruptChunk if they are not those of a text.
        """
        table = self._table()
        order = _Order.of(table.symbols, table.lengths, self.primary)
        firsts = self._firsts(_chains(order, table.lengths, of_last=False))
        lasts = self._lasts(_chains(order, table.lengths, of_last=True), table.lengths, firsts)
        heads, above = _heads(order.rows, firsts, lasts, self.primary, self.n)
        begins = order.rows - (order.rows > self.primary).astype(np.uint32)
        last = 0 if self.primary == self.n else int(lasts[-1])
        return repeats.RepeatRows(
            order.own, begins[order.order], order.before, lasts[order.order], heads, above,
            1 + order.before.astype(np.int64)[order.own], self.primary, last,
        )  # fmt: skip

    def _table(self) -> RunTable:
        """Unpack letters and lengths of the runs, without positions."""
        there = np.flatnonzero(_bits(self.alphabet)).astype(np.uint8)
        codes, lengths = np.empty(self.n_runs, np.uint8), np.empty(self.n_runs, np.uint32)
        run_bits.take_numbers(self.symbols, _width(self.alphabet), codes)
        if int(codes.max(initial=0)) >= there.size:
            raise CorruptChunk("a run of a byte that is not in the alphabet")
        if not run_bits.take_lengths(self.lengths, self.n, lengths):
            raise CorruptChunk("runs of the index do not make up a text")
        none = np.empty(0, np.uint32)
        return RunTable(there[codes], lengths, none, none, self.primary)

    def _firsts(self, chains: _Chains) -> Numbers:
        """Return the text position of each run's first row, (r,)."""
        known = self._unpack_known(self.firsts, self.n_firsts, int(np.count_nonzero(~chains[1])))
        return self._follow_chains(chains, known)

    def _lasts(self, chains: _Chains, lengths: Numbers, firsts: Numbers) -> Numbers:
        """Return the text position of each run's last row, (r,).

        A run of one letter has one row.
        """
        begins = np.flatnonzero(~chains[1])
        is_long = lengths[begins] > 1
        known = firsts[begins].astype(np.int64)
        known[is_long] = self._unpack_known(
            self.lasts, self.n_lasts, int(np.count_nonzero(is_long))
        )
        found = self._follow_chains(chains, known)
        if (found != firsts)[lengths == 1].any():
            raise CorruptChunk("a run of length one has two positions")
        return found

    def _unpack_known(self, words: Words, n: int, n_wanted: int) -> Positions:
        """Unpack the n stored positions; raise CorruptChunk unless n equals `n_wanted`."""
        if n != n_wanted:
            raise CorruptChunk("the index has other positions than its runs")
        known = np.empty(n, np.int64)
        run_bits.take_numbers(words, self.n.bit_length(), known)
        return known

    def _follow_chains(self, chains: _Chains, known: Positions) -> Numbers:
        """Return the positions of all runs, (r,), from those of the first run of each chain."""
        found = np.empty(self.n_runs, np.int64)
        is_whole = run_bits.follow_run_chains(*chains, known, found)
        if not is_whole or not 0 <= int(found.min()) <= int(found.max()) <= self.n:
            raise CorruptChunk("positions of the runs are not those of a text")
        return found.astype(np.uint32)


class _Order(NamedTuple):
    """Runs sorted by letter, with the fields that `sort_runs` describes."""

    own: Positions
    order: Numbers
    rows: Numbers
    before: Numbers

    @classmethod
    def of(cls, symbols: Bytes, lengths: Numbers, primary: int) -> _Order:
        r = symbols.size
        own, order = np.empty(257, np.int64), np.empty(r, np.uint32)
        rows, before = np.empty(r, np.uint32), np.empty(r + 1, np.uint32)
        run_bits.sort_runs(symbols, lengths, primary, own, order, rows, before)
        return cls(own, order, rows, before)


_Chains = tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]


def find_transform_runs(text: Bytes, suffixes: Suffixes, n_runs: int) -> RunTable:
    """Return the runs of a nonempty text's Burrows-Wheeler transform, `n_runs` in number."""
    letters = np.empty(n_runs, np.uint8)
    lengths, firsts, lasts = (np.empty(n_runs, np.uint32) for _ in range(3))
    _, primary = repeats.fill_runs(text, suffixes, letters, lengths, firsts, lasts)
    return RunTable(letters, lengths, firsts, lasts, int(primary))


def count_runs(text: Bytes, suffixes: Suffixes) -> int:
    """Count the runs of equal letters in a nonempty text's Burrows-Wheeler transform."""
    none = np.empty(0, np.uint32)
    n_runs, _ = repeats.fill_runs(text, suffixes, none.astype(np.uint8), none, none, none)
    return int(n_runs)


def _chains(order: _Order, lengths: Numbers, *, of_last: bool) -> _Chains:
    """Return the successor of each run in its chain, (r,) int32, and whether it has a predecessor.

    A run's position is its successor's plus one, of first rows, or of last rows if `of_last`.
    """
    following, is_follower = np.empty(lengths.size, np.int32), np.empty(lengths.size, np.bool_)
    run_bits.link(order.rows, lengths, order.order, order.before, of_last, following)
    run_bits.mark_followers(following, is_follower)
    return following, is_follower


def _heads(
    rows: Numbers, firsts: Numbers, lasts: Numbers, primary: int, n: int
) -> tuple[Numbers, Numbers]:
    """Return text positions of first rows of runs, and of the rows before these, ascending.

    The primary row, of the whole text, is included. Row 0 has no row before. Raises CorruptChunk if
    a run extends across the primary row.
    """
    own = int(np.searchsorted(rows, primary))  # the first run after it
    is_apart = int(rows[own]) == primary + 1 if own < rows.size else primary == n
    if not is_apart:
        raise CorruptChunk("a run extends across the row of the whole text")
    places, above = np.append(firsts, np.uint32(0)), np.empty(rows.size + 1, np.uint32)
    above[0], above[1:-1], above[-1] = n, lasts[:-1], lasts[own - 1]
    if own < rows.size:
        above[own] = 0
    order = np.argsort(places)
    heads = places[order]
    if heads[0] != 0 or (heads[1:] <= heads[:-1]).any():
        raise CorruptChunk("heads of the runs are not those of a text")
    return heads, above[order]


def _coded(symbols: Bytes) -> tuple[Words, Bytes]:
    """Return the alphabet, one bit per letter that occurs, and each letter's index in it."""
    there = np.zeros(256, np.bool_)
    there[symbols] = True
    numbers = (np.cumsum(there) - 1).astype(np.uint8)
    alphabet = np.packbits(there, bitorder="little").view("<u8").astype(np.uint64)
    return alphabet, numbers[symbols]


def _bits(alphabet: Words) -> Bytes:
    return np.unpackbits(alphabet.astype("<u8").view(np.uint8), bitorder="little")


def _width(alphabet: Words) -> int:
    """Return the bits of a letter's index in the alphabet."""
    return max(0, int(_bits(alphabet).sum()) - 1).bit_length()


def _pack(numbers: Bytes | Numbers, width: int) -> Words:
    words = _words(numbers.size * width)
    run_bits.put_numbers(numbers, width, words)
    return words


def _words(n_bits: int) -> Words:
    return aligned_zeros(_n_words(n_bits), np.uint64)


def _n_words(n_bits: int) -> int:
    """Return the number of 64-bit words for `n_bits` bits, plus one."""
    return -(-n_bits // 64) + 1
