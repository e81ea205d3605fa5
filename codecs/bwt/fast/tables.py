"""Frequency tables of effort fast: built from counts, written and read. SPEC.md, "Fast", tables.

A table is stored as weights with three significant bits, without a constraint on their sum: both
encoder and decoder scale weights to frequencies.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.fast.merge import MOST_TABLES, merge_contexts
from gangsaw.codecs.bwt.fast.symbols import CONTEXTS, N_SYMBOLS, WIDTH
from gangsaw.codecs.bwt.lanes.coder import (
    AT,
    DecisionCoder,
    begin_decoder,
    coder_at,
    finish_encoder,
    get_decision,
    put_decision,
)
from gangsaw.codecs.core.arrays import Int64s, UInt32s
from gangsaw.codecs.core.entropy.rans_tables import normalise
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.bits import leading_zeros
from gangsaw.codecs.core.numba.jit import jit

KINDS = 2
BELOW = 2  # bits of a weight after the leading one
WIDTH_BITS = 4  # bits for the bit length of a weight, 0 to 13
MOST_WIDTH = 13
ID_BITS = 5  # bits of a table index
# Decision nodes per kind: bit lengths as a tree, in the context of the same symbol's in the table
# before; bits after the leading one, by bit length; flag of the same table as the context before;
# table index.
LENGTH_NODES = 1 << WIDTH_BITS
BELOW_FIRST = LENGTH_NODES * (MOST_WIDTH + 2)
SAME = BELOW_FIRST + (MOST_WIDTH + 1 << BELOW)
ID = SAME + 2
KIND = ID + (1 << ID_BITS)
NODES = KINDS * KIND


class StaticTables(NamedTuple):
    """Frequency tables of a block, for ranks and for lengths, and the choice of a table by context.

    Attributes
    ----------
    table_of : (2, CONTEXTS) int64, table of each context, numbered from 0 for ranks and for lengths
    weights : (2, MOST_TABLES, WIDTH) uint32, unnormalised frequencies; zeros for unused tables
    """

    table_of: npt.NDArray[np.int64]
    weights: npt.NDArray[np.uint32]


def tables_of(counts: npt.NDArray[np.int64]) -> StaticTables:
    """Build the frequency tables of a block from (2, CONTEXTS * WIDTH) token counts."""
    table_of = np.zeros((KINDS, CONTEXTS), np.int64)
    weights = np.zeros((KINDS, MOST_TABLES, WIDTH), np.uint32)
    for kind, n in enumerate(N_SYMBOLS):
        own = counts[kind].reshape(CONTEXTS, WIDTH)[:, :n]
        table_of[kind] = merge_contexts(own)
        np.add.at(weights[kind, :, :n], table_of[kind], own.astype(np.uint32))
        normalise(weights[kind])
        shorten(weights[kind])
    return StaticTables(table_of, weights)


def frequencies_of(tables: StaticTables) -> npt.NDArray[np.uint32]:
    """Normalise weights to frequencies, (2, MOST_TABLES, WIDTH) uint32.

    Each row sums to 4096, or to 0 if unused.
    """
    frequencies = tables.weights.copy()
    for rows in frequencies:
        normalise(rows)
    return frequencies


def encode_tables(tables: StaticTables) -> npt.NDArray[np.uint8]:
    """Return the stored form of frequency tables."""
    out = np.zeros(2 * tables.weights.size + 1024, np.uint8)
    end = write_fast_tables(coder_at(out, 0, NODES), tables.table_of, tables.weights)
    return out[: int(end)]


def decode_tables(data: npt.NDArray[np.uint8]) -> tuple[StaticTables, int]:
    """Read the frequency tables at the start of (k,) uint8; return them and the bytes read.

    Raises
    ------
    CorruptChunk : the tables are invalid
    """
    table_of = np.zeros((KINDS, CONTEXTS), np.int64)
    weights = np.zeros((KINDS, MOST_TABLES, WIDTH), np.uint32)
    end = int(read_fast_tables(coder_at(data, 0, NODES), table_of, weights))
    if not 0 <= end <= data.size:
        raise CorruptChunk("its tables of frequencies are wrong")
    return StaticTables(table_of, weights), end


@jit
def shorten(weights: UInt32s) -> None:
    """Round each of (n_tables, n_symbols) weights to BELOW + 1 significant bits, halves up."""
    for t in range(len(weights)):
        for s in range(weights.shape[1]):
            shift = max(0, _bit_length(weights[t, s]) - BELOW - 1)
            weights[t, s] = (weights[t, s] + (1 << shift >> 1)) >> shift << shift


@jit(part=True)
def _bit_length(value: int) -> Any:
    return 64 - np.int64(leading_zeros(np.uint64(value)))


@jit
def write_fast_tables(coder: DecisionCoder, table_of: Int64s, weights: UInt32s) -> int:
    """Write frequency tables as binary decisions; return the end offset."""
    for kind in range(KINDS):
        tables = _write_map(coder, kind * KIND, table_of[kind])
        for t in range(tables):
            for s in range(N_SYMBOLS[kind]):
                above = _bit_length(weights[kind, t - 1, s]) if t else MOST_WIDTH + 1
                _write_weight(coder, kind * KIND, above, weights[kind, t, s])
    return finish_encoder(coder)


@jit(part=True)
def _write_map(coder: DecisionCoder, first: int, table_of: Int64s) -> int:
    """Write the table index of each context for ranks or lengths; return the number of tables."""
    tables, same = 1, 1
    for i in range(1, CONTEXTS):
        is_same = 1 if table_of[i] == table_of[i - 1] else 0
        put_decision(coder, first + SAME + same, is_same)
        same = is_same
        if not same:
            _write_tree(coder, first + ID, ID_BITS, table_of[i])
            tables = max(tables, table_of[i] + 1)
    return tables


@jit(part=True)
def _write_weight(coder: DecisionCoder, first: int, above: int, weight: int) -> None:
    length = _bit_length(weight)
    _write_tree(coder, first + above * LENGTH_NODES, WIDTH_BITS, length)
    bits = min(BELOW, length - 1)
    if bits > 0:
        shift = length - 1 - bits
        node = first + BELOW_FIRST + (length << BELOW)
        _write_tree(coder, node, bits, np.int64(weight) >> shift & (1 << bits) - 1)


@jit(part=True)
def _write_tree(coder: DecisionCoder, first: int, bits: int, value: int) -> None:
    """Write the `bits` lowest bits of a number as adaptive decisions, the highest bit first.

    first : first decision of this tree of counts
    """
    node = 1
    for i in range(bits - 1, -1, -1):
        bit = value >> i & 1
        put_decision(coder, first + node, bit)
        node = 2 * node + bit


@jit
def read_fast_tables(coder: DecisionCoder, table_of: Int64s, weights: UInt32s) -> int:
    """Fill zeroed frequency tables from decisions; return the end offset, -1 if invalid."""
    begin_decoder(coder)
    for kind in range(KINDS):
        tables = _read_map(coder, kind * KIND, table_of[kind])
        for t in range(tables):
            some = 0
            for s in range(N_SYMBOLS[kind]):
                above = _bit_length(weights[kind, t - 1, s]) if t else MOST_WIDTH + 1
                weight = _read_weight(coder, kind * KIND, above)
                if weight < 0:
                    return -1
                weights[kind, t, s] = weight
                some |= weight
            if some == 0:
                return -1
        if tables == 0:
            return -1
    return int(coder.state[AT])


@jit(part=True)
def _read_map(coder: DecisionCoder, first: int, table_of: Int64s) -> int:
    """Fill the table index of each context; return the number of tables, 0 if it is invalid."""
    tables, same = 1, 1
    for i in range(1, CONTEXTS):
        same = get_decision(coder, first + SAME + same)
        if same:
            table_of[i] = table_of[i - 1]
            continue
        table_of[i] = _read_tree(coder, first + ID, ID_BITS)
        if table_of[i] > tables or table_of[i] >= MOST_TABLES or table_of[i] == table_of[i - 1]:
            return 0
        tables = max(tables, table_of[i] + 1)
    return tables


@jit(part=True)
def _read_weight(coder: DecisionCoder, first: int, above: int) -> int:
    """Read the weight of a symbol in a table; return -1 if it is too large.

    above : bit length of the same symbol's weight in the previous table
    """
    length = _read_tree(coder, first + above * LENGTH_NODES, WIDTH_BITS)
    if length > MOST_WIDTH:
        return -1
    if length < 2:
        return length
    bits = min(BELOW, length - 1)
    below = _read_tree(coder, first + BELOW_FIRST + (length << BELOW), bits)
    return (1 << bits | below) << length - 1 - bits


@jit(part=True)
def _read_tree(coder: DecisionCoder, first: int, bits: int) -> int:
    node = 1
    for _ in range(bits):
        node = 2 * node + get_decision(coder, first + node)
    return node - (1 << bits)
