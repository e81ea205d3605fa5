"""Index of a text of any bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.transform.suffixes import suffix_array
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.aligned import aligned_zeros
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.genomics.sequences.kernels import LETTERS, TABLES, count_bytes
from gangsaw.tasks.search.fm_index.codes import codes_of, lengths_for, nodes_of
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
from gangsaw.tasks.search.kernels import bits, tree, walks
from gangsaw.tasks.search.kernels.patterns import AT_ONCE, LANE, rows_of_bytes

KIND = 1
RATE = 64  # default sampling rate: 0.06 bytes per byte


@dataclass(frozen=True, eq=False)
class ByteIndex(RowIndex):
    """FM-index of a text of bytes: a Huffman-shaped wavelet tree, with sampled positions.

    Attributes
    ----------
    n : bytes of the text
    of : Burrows-Wheeler transform of the text
    samples : text positions of some rows (suffixes in sorted order)
    """

    n: int
    of: tree.ByteRows
    samples: walks.Samples

    @classmethod
    def build(cls, text: Bytes, rate: int = RATE) -> ByteIndex:
        """Build the index of a text (n,) uint8, with the position of every `rate`-th suffix."""
        return cls.build_from_suffixes(text, suffix_array(text), rate)

    @classmethod
    def build_from_suffixes(cls, text: Bytes, suffixes: Suffixes, rate: int) -> ByteIndex:
        """Build the index of a text from its suffix array."""
        counts = count_byte_values(text)
        lengths = lengths_for(counts)
        samples = build_samples(text, suffixes, rate, has_breaks=False)
        transformed, primary = np.empty(text.size, np.uint8), 0
        if text.size:
            primary = int(tree.gather_bytes_before(text, suffixes, transformed))
        codes = codes_of(lengths, counts)
        nodes, _, n_bits = nodes_of(codes, lengths, counts)
        words = aligned_zeros(bits.count_bit_words(n_bits), np.uint64)
        wide, ends = lengths.astype(np.int64), nodes[:, tree.BEGIN].copy()
        tree.fill_bits(transformed, codes, wide, nodes, ends, words)
        bits.fill_counts(words)
        return cls(text.size, _rows(words, counts, lengths, primary), samples)

    @classmethod
    def unpack(cls, data: UnpackedIndex) -> ByteIndex:
        """Return the index in an unpacked header and body; raise CorruptChunk if inconsistent."""
        n, rate, n_samples, primary, n_bits, *_ = data.fields
        if data.kind != KIND:
            raise CorruptChunk("no index of bytes")
        arrays = data.arrays()
        counts = arrays.take(256, np.uint32).astype(np.int64)
        lengths = arrays.take(256, np.uint8)
        words = arrays.take(bits.count_bit_words(n_bits), np.uint64)
        marks = arrays.take(bits.count_bit_words(n + 1), np.uint64)
        places = arrays.take(n_samples, np.uint32)
        arrays.end()
        if int(counts.sum()) != n or not (primary <= n and (primary > 0) == (n > 0)):
            raise CorruptChunk("counts of bytes are not those of a text")
        of = _rows(words, counts, lengths, primary, n_bits)
        return cls(n, of, check_samples(marks, places, rate, n))

    def pack(self) -> Bytes:
        """Pack the index into bytes (m,) uint8, the input of `unpack_index` and `open_index`."""
        counts = np.diff(self.of.firsts).astype("<u4")
        n_bits = int((counts.astype(np.int64) * self.of.lengths).sum())
        fields = (self.n, self.samples.rate, self.samples.positions.size, self.of.primary, n_bits)
        arrays = (counts, self.of.lengths.astype(np.uint8), self.of.bits)
        return pack_index(KIND, fields, (*arrays, self.samples.marks, self.samples.positions))

    @property
    def nbytes(self) -> int:
        """Memory of the index, in bytes."""
        return int(self.of.bits.nbytes + self.samples.marks.nbytes + self.samples.positions.nbytes)

    def rows(self, patterns: RaggedArray) -> Positions:
        """Return for each pattern the range of rows that begin with it, (k, 2) int64."""
        found = np.empty((len(patterns), 2), np.int64)
        scratch = np.empty((AT_ONCE, LANE), np.int64)
        rows_of_bytes(self.of, patterns.data, patterns.offsets, found, scratch)
        return found

    def seeds(self, query: Bytes, length: int) -> tuple[Positions, Positions]:
        """Return exact matches of a query's windows of `length` bytes, to seed longer matches.

        query : (m,) uint8

        They are starts in the query and positions in the text, (k,) int64. Matches that extend to
        the left are left out. Raises BadParams for too many.
        """
        begins, rows = find_seeds(self.of, query, length)
        return begins, self.locate_rows(rows)

    def locate_rows(self, rows: Positions) -> Positions:
        """Return the text positions of rows (k,) int64; raise CorruptChunk if they are invalid."""
        return locate_rows(walks.locate_bytes, self.of, self.samples, rows, self.n)


def count_byte_values(text: Bytes) -> Positions:
    """Return the count of each byte value, without the int64 copy of NumPy's `bincount`."""
    counts = np.zeros((TABLES, LETTERS), np.int64)
    count_bytes(text, np.zeros(1, np.int64), np.array([text.size]), counts)
    total: Positions = counts.sum(axis=0)
    return total


def _rows(
    words: npt.NDArray[np.uint64],
    counts: Positions,
    lengths: npt.NDArray[np.uint8],
    primary: int,
    n_bits: int | None = None,
) -> tree.ByteRows:
    """Return the wavelet tree with its rank data, from its bits and the Huffman code.

    With `n_bits`, the bits are untrusted and checked against the byte counts.
    """
    codes = codes_of(lengths, counts)
    nodes, ones, n_own = nodes_of(codes, lengths, counts)
    if n_bits is not None and (n_bits != n_own or bits.checked_ones(words, n_bits) < 0):
        raise CorruptChunk("bits of the index do not go with its counts")
    if not tree.are_nodes_whole(words, nodes, ones, n_own):
        raise CorruptChunk("nodes of the index do not go with its counts")
    there = np.flatnonzero(counts)
    root = 0 if len(nodes) else ~int(there[0]) if there.size else ~0
    firsts = 1 + np.concatenate(([0], np.cumsum(counts)))
    return tree.ByteRows(words, nodes, codes, lengths.astype(np.int64), firsts, root, primary)
