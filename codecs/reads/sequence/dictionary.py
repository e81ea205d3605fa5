"""Shared data of all windows of a block, and its bytes in lane 0 (SPEC.md, "Head of sequences")."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.entropy.gamma import SPARE, get_bits, get_gamma, put_bits, put_gamma
from gangsaw.codecs.core.entropy.sparse_tables import (
    RansTables,
    decoder_tables,
    read_stored_tables,
    stored_tables,
)
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.nucleotides.kernels import code_of
from gangsaw.codecs.core.numba.bits import count_ones
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.sequence.columns import CLASS, PLAIN, SECOND
from gangsaw.codecs.reads.sequence.consensus import read_consensus
from gangsaw.codecs.reads.sequence.layout.placed import Anchors
from gangsaw.codecs.reads.sequence.syntax import (
    HIGH_BITS,
    MOST_ANCHORS,
    N_TABLES,
    legal_symbols,
    place_bits,
)

SIZES = struct.Struct("<QQB")  # of the consensus, of its columns of class > 0, of anchors
LEAST_BITS = 5  # of a column
FAR = 1 << 40  # a column that no piece reaches
WORD = 64  # columns per word of marks


class Dictionary(NamedTuple):
    """Tables for decoding the windows of a block of reads: rANS tables, consensus, anchors.

    Attributes
    ----------
    tables : rANS tables of all syntax elements
    forward, backward : (size + SPARE,) uint8, bases of the consensus on both strands
    size : columns of the consensus
    low_bits : raw bits of a position that is coded in full
    hot : (MOST_ANCHORS + 1,) int64, frequent anchors (2 * column + strand) from 1 on; -1 for none
    columns : (n + 2,) int64, columns of class > 0, between two that are FAR off
    variants : (n + 2,) uint8: their class - 1, and from bit 2 on their second base
    marks : (n_words,) uint64: bits of such columns, 64 per word
    ranks : (n_words,) int64: index in `columns` of the first one from there on
    """

    tables: RansTables
    forward: Text
    backward: Text
    size: int
    low_bits: int
    hot: Anchors
    columns: Int64s
    variants: Text
    marks: npt.NDArray[np.uint64]
    ranks: Int64s


class DictionaryHead(NamedTuple):
    """Part of a `Dictionary` that lane 0 contains: all but the consensus."""

    tables: RansTables
    size: int
    low_bits: int
    hot: Anchors
    columns: Int64s
    variants: Text
    marks: npt.NDArray[np.uint64]
    ranks: Int64s


def stored_dictionary(columns: Text, hot: Anchors, frequencies: npt.NDArray[np.uint16]) -> Text:
    """Return lane 0 after the fixed header of a block.

    Parameters
    ----------
    columns : (size,) uint8, see `ConsensusColumns`
    hot : anchors with a number, ascending
    frequencies : (N_TABLES, 256) of all rANS tables
    """
    positions = np.flatnonzero(columns >= PLAIN)
    sizes = SIZES.pack(columns.size, positions.size, hot.size)
    out = np.zeros(2 * SPARE + positions.size * 11 + hot.size * 5, np.uint8)
    n = int(
        write_variant_columns(positions, columns[positions], hot, place_bits(columns.size), out)
    )
    return np.concatenate((np.frombuffer(sizes, np.uint8), out[:n], stored_tables(frequencies)))


def read_dictionary(rest: Text, shared: Text, used: int) -> Dictionary:
    """Return the dictionary of lanes 0 (after the fixed header of a block) and 1.

    Raises
    ------
    CorruptChunk : they are invalid for a block of `used` bytes
    """
    head = read_dictionary_head(rest, used)
    consensus = read_consensus(shared, head.size, head.tables)
    if not are_second(head.columns, head.variants, consensus.forward):
        raise CorruptChunk("the second base of a column equals its first")
    return Dictionary(
        head.tables, consensus.forward, consensus.backward, head.size, head.low_bits, head.hot,
        head.columns, head.variants, head.marks, head.ranks,
    )  # fmt: skip


def read_dictionary_head(rest: Text, used: int) -> DictionaryHead:
    """Return the contents of lane 0 after the fixed header; raise CorruptChunk if invalid."""
    if rest.size < SIZES.size:
        raise CorruptChunk("its head ends too early")
    size, n_columns, n_hot = SIZES.unpack(rest[: SIZES.size].tobytes())
    stored = rest[SIZES.size :]
    if size > used or n_columns > size or n_columns * LEAST_BITS > 8 * stored.size:
        raise CorruptChunk(f"its head says {n_columns} of {size} columns of {used} bytes")
    columns, variants = np.full(n_columns + 2, FAR), np.zeros(n_columns + 2, np.uint8)
    columns[0], hot = -FAR, np.full(MOST_ANCHORS + 1, -1)
    padded = np.concatenate((stored, np.zeros(SPARE, np.uint8)))
    bits = place_bits(size)
    n = int(
        read_variant_columns(padded, stored.size, size, bits, columns, variants, hot[1 : n_hot + 1])
    )
    if n < 0:
        raise CorruptChunk("its columns or its anchors are wrong")
    frequencies, left = read_stored_tables(stored[n:], N_TABLES)
    if left.size or frequencies[~legal_symbols(n_hot)].any():
        raise CorruptChunk("its head has extra bytes, or a table has a symbol that it cannot have")
    marks, ranks = index_columns(columns, size // WORD + 1)
    low_bits = max(0, bits - HIGH_BITS)
    tables = decoder_tables(frequencies)
    return DictionaryHead(tables, size, low_bits, hot, columns, variants, marks, ranks)


@jit
def write_variant_columns(
    positions: Int64s, columns: Bytes, hot: Int64s, bits: int, out: Bytes
) -> int:
    """Write columns of class > 0 and anchors to zeroed bytes; return the number of bytes."""
    at, before = 0, -1
    for k in range(positions.size):
        at = put_gamma(out, at, positions[k] - before)
        column = np.int64(columns[k])
        at = put_bits(out, at, (column >> CLASS & 7) - 1 | column >> SECOND << 2, 4)
        before = positions[k]
    for k in range(hot.size):
        at = put_bits(out, at, hot[k], bits + 1)
    return (at + 7) // 8


@jit
def read_variant_columns(
    data: Bytes, n: int, size: int, bits: int, columns: Int64s, variants: Bytes, hot: Int64s
) -> int:
    """Read anchors, and `columns` and `variants` without their ends, from padded bytes.

    Return the bytes read, -1 if columns or anchors are invalid.
    """
    at, stop, before = 0, 8 * n, -1
    for k in range(1, columns.size - 1):
        gap, at = get_gamma(data, at, stop)
        before += gap
        if at + 4 > stop or before >= size:
            return -1
        columns[k], variants[k] = before, get_bits(data, at, 4)
        at += 4
    for k in range(hot.size):
        if at + bits + 1 > stop:
            return -1
        hot[k] = get_bits(data, at, bits + 1)
        at += bits + 1
        if hot[k] >> 1 > size or (k > 0 and hot[k] <= hot[k - 1]):
            return -1
    return (at + 7) // 8


@jit
def are_second(columns: Int64s, variants: Bytes, bases: Bytes) -> bool:
    """Return True if the second base of every column differs from the consensus."""
    for k in range(1, columns.size - 1):
        if np.int64(variants[k]) >> 2 == code_of(np.int64(bases[columns[k]])):
            return False
    return True


def index_columns(columns: Int64s, n_words: int) -> tuple[npt.NDArray[np.uint64], Int64s]:
    """Return an index of sorted columns: a bit per column in 64-bit words, and their ranks.

    The rank of a word is the position in `columns` of the first column at or after its start.
    """
    words, bits = np.divmod(columns[1:-1], WORD)
    firsts = np.flatnonzero(np.diff(words, prepend=-1))
    marks = np.zeros(n_words, np.uint64)
    if firsts.size:
        own = np.uint64(1) << bits.astype(np.uint64)
        marks[words[firsts]] = np.bitwise_or.reduceat(own, firsts)
    counts = np.bincount(words, minlength=n_words)
    return marks, 1 + np.cumsum(counts) - counts


@jit(inline=True, part=True)
def first_column(dictionary: Dictionary, place: int) -> Any:
    """Return the index in `columns` of the first one from a position on, 0 <= place <= size."""
    word, bit = place // WORD, np.uint64(place % WORD)
    before = dictionary.marks[word] & ((np.uint64(1) << bit) - np.uint64(1))
    return dictionary.ranks[word] + count_ones(before)
