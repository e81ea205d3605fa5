"""Kinds of indexes: building, opening, and size bounds."""

from __future__ import annotations

from typing import Literal

from gangsaw.codecs.bwt.transform.suffixes import suffix_array
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.search.fm_index import base_index, byte_index, repeat_index
from gangsaw.tasks.search.fm_index.base_index import BaseIndex
from gangsaw.tasks.search.fm_index.base_runs import BaseRuns, split_at_breaks
from gangsaw.tasks.search.fm_index.byte_index import ByteIndex
from gangsaw.tasks.search.fm_index.codes import lengths_for
from gangsaw.tasks.search.fm_index.packed import (
    FIELDS,
    Bytes,
    Section,
    count_padded_bytes,
    unpack_index,
)
from gangsaw.tasks.search.fm_index.repeat_index import RepeatIndex
from gangsaw.tasks.search.fm_index.samples import Positions
from gangsaw.tasks.search.fm_index.stored_runs import count_runs
from gangsaw.tasks.search.kernels import bases, bits

Kind = Literal["bases", "bytes"]
TextIndex = BaseIndex | ByteIndex | RepeatIndex
RATES: dict[Kind, int] = {"bases": base_index.RATE, "bytes": byte_index.RATE}
PER_RUN = 16  # least average run length for an index of bases that is stored
SPARE_RUNS = 64
FEW_RUNS = 8  # ratio of letters to runs: with less, the search by runs takes the memory of the text
MAX_TEXT_SIZE = 1 << 28  # letters of a text: counts of bits have 32 bits
WORKING = 10  # bytes of memory per letter to build an index


def build_text_index(kind: Kind, symbols: Bytes, borders: Positions, rate: int) -> TextIndex:
    """Build the index of a text (n,) uint8: an r-index if it is repetitive, else an FM-index.

    borders : (b,) int64, ascending, borders of records of bases
    """
    text, runs = split_at_breaks(symbols, borders) if kind == "bases" else (symbols, None)
    suffixes = suffix_array(text)
    if text.size and FEW_RUNS * count_runs(text, suffixes) < text.size:
        found = RepeatIndex.build(text, suffixes, runs, symbols.size)
        if found.pack().size < _plain_bytes(text, runs, rate):
            return found
    if runs is None:
        return ByteIndex.build_from_suffixes(text, suffixes, rate)
    return BaseIndex.build_from_runs(text, suffixes, runs, symbols.size, rate)


def is_of(index: TextIndex, kind: Kind) -> bool:
    """Return True if an index is of bases, for kind "bases", or of bytes, for "bytes"."""
    if isinstance(index, RepeatIndex):
        return (index.runs is not None) == (kind == "bases")
    return isinstance(index, BaseIndex) == (kind == "bases")


def open_index(data: Bytes) -> TextIndex:
    """Open an index in packed bytes; raise CorruptChunk if they are damaged or no index."""
    found = unpack_index(data)
    if found.fields[0] > MAX_TEXT_SIZE:
        raise CorruptChunk(f"an index of {found.fields[0]:,} bytes")
    if found.kind == base_index.KIND:
        return BaseIndex.unpack(found)
    if found.kind == byte_index.KIND:
        return ByteIndex.unpack(found)
    if found.kind == repeat_index.KIND:
        return RepeatIndex.unpack(found)
    raise CorruptChunk(f"an index of kind {found.kind}")


def bound_index_bytes(kind: Kind, n: int, rate: int) -> int:
    """Return an upper bound of the bytes of a packed index of n letters.

    An index of bases may have n / PER_RUN + SPARE_RUNS runs of bases.
    """
    if kind == "bytes":
        return _bound_bytes(n, rate, n_bits=8 * n)
    runs = n // PER_RUN + SPARE_RUNS
    return _bound_bytes(n + runs, rate, n_runs=runs)


def _plain_bytes(text: Bytes, runs: BaseRuns | None, rate: int) -> int:
    """Return the bytes that a text would take as an FM-index, not an r-index."""
    if runs is not None:
        return _bound_bytes(text.size, rate, n_runs=runs.positions.size)
    counts = byte_index.count_byte_values(text)
    return _bound_bytes(text.size, rate, n_bits=int((counts * lengths_for(counts)).sum()))


def _bound_bytes(n: int, rate: int, n_runs: int = 0, n_bits: int | None = None) -> int:
    """Return the most bytes of a packed FM-index of n letters.

    It is of bytes if `n_bits`, the bits of its wavelet tree, is given, else of bases.
    """
    if n_bits is None:
        own = [Section(bases.count_row_words(n + 1), "u8"), *3 * [Section(n_runs + 1, "u4")]]
    else:
        own = [Section(256, "u4"), Section(256, "u1"), Section(bits.count_bit_words(n_bits), "u8")]
    marks = [Section(bits.count_bit_words(n + 1), "u8"), Section(n // rate + 2 + n_runs, "u4")]
    return 8 * FIELDS + count_padded_bytes([*own, *marks])
