"""Host coding of blocks of rows: coded, or stored raw if that is not longer."""

from __future__ import annotations

from struct import Struct

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.entropy import rans_tables
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.integers import coding
from gangsaw.codecs.integers.params import Params
from gangsaw.codecs.integers.symbols import CONTEXTS, SYMBOLS, count_symbols

STORED, CODED = range(2)  # kinds
HEAD = Struct("<BII")  # CODED: kind, state, words
SPARE = 8  # bytes after tables

Counts = npt.NDArray[np.uint32]


def encode_block(rows: NumpyArray, params: Params, buffer: Payload) -> Encoded:
    """Encode rows of integers, (n, m) uint32."""
    parts = _coded(rows)
    if sum(part.size for part in parts) > rows.nbytes:
        plain = rows.astype("<u4", copy=False).view(np.uint8).ravel()
        parts = [np.array([STORED], np.uint8), plain]
    return Encoded((np.concatenate(parts),), None)


def decode_stored(encoded: EncodedBlock, rows: NumpyArray, params: Params) -> None:
    """Copy rows from a raw payload."""
    if encoded.data.size != 1 + rows.nbytes:
        raise CorruptChunk("its number of rows does not match the block")
    rows[...] = np.frombuffer(encoded.data[1:].tobytes(), "<u4").reshape(rows.shape)


def decode_coded(encoded: EncodedBlock, rows: NumpyArray, params: Params) -> None:
    """Decode rows from a coded payload."""
    data = encoded.data
    if data.size < HEAD.size:
        raise CorruptChunk("its head is incomplete")
    _, state, n_words = HEAD.unpack(data[: HEAD.size].tobytes())
    counts, at = _read_tables(data, rows.shape[1])
    end = at + 2 * n_words
    if state < rans_tables.LOWEST or end > data.size:
        raise CorruptChunk("its words are not all there")
    words = np.frombuffer(data[at:end].tobytes() + b"\0\0", "<u2").astype(np.uint16, copy=False)
    raw = np.concatenate((data[end:], np.zeros(coding.SPARE, np.uint8)))
    slots, tables = _slots(counts)
    read, bits, last = coding.decode_rows(rows, slots, tables, state, words, raw)
    if read != n_words or (bits + 7) // 8 != data.size - end or last != rans_tables.LOWEST:
        raise CorruptChunk("its words do not match its rows")


def _coded(rows: NumpyArray) -> list[Payload]:
    """Encode rows of integers; return the parts of their coded payload."""
    m = rows.shape[1]
    counts: Counts = np.zeros((m, CONTEXTS, SYMBOLS), np.uint32)
    count_symbols(rows, counts)
    tables = counts.reshape(m * CONTEXTS, SYMBOLS)
    rans_tables.normalise(tables)
    entries = np.zeros(len(tables) * rans_tables.STRIDE, np.uint32)
    rans_tables.build_encoder_table(tables, entries)
    words = np.empty(rows.size, np.uint16)
    begin, state = coding.encode_symbols(rows, entries, words)
    raw = np.zeros(4 * rows.size + coding.SPARE, np.uint8)
    bits = coding.put_raw_bits(rows, raw)
    head = np.frombuffer(HEAD.pack(CODED, state, words.size - begin), np.uint8)
    own = words[begin:].astype("<u2", copy=False).view(np.uint8)
    return [head, *map(_column, counts), own, raw[: (bits + 7) // 8]]


def _column(counts: Counts) -> Payload:
    """Return the stored frequency tables of one column: its largest symbol, then each table."""
    largest = int(np.flatnonzero(counts.any(axis=0)).max())
    out = np.zeros(
        1 + CONTEXTS * (1 + SYMBOLS * (1 + rans_tables.PRECISION)) // 8 + SPARE, np.uint8
    )
    out[0] = largest
    return out[: 1 + int(rans_tables.write_tables(counts, largest + 1, out[1:]))]


def _read_tables(data: Payload, m: int) -> tuple[Counts, int]:
    """Return the frequency tables of all columns and their end; raise CorruptChunk if invalid."""
    padded = np.concatenate((data, np.zeros(SPARE + 1, np.uint8)))
    counts: Counts = np.zeros((m, CONTEXTS, SYMBOLS), np.uint32)
    at = HEAD.size
    for j in range(m):
        n_symbols = int(padded[at]) + 1
        if at >= data.size or n_symbols > SYMBOLS:
            raise CorruptChunk("its tables are incomplete")
        own = np.zeros((CONTEXTS, n_symbols), np.uint32)
        size = int(rans_tables.read_tables(padded[at + 1 :], data.size - at - 1, own))
        if size < 0:
            raise CorruptChunk("its tables of frequencies are wrong")
        counts[j, :, :n_symbols] = own
        at += 1 + size
    return counts, at


def _slots(counts: Counts) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """Return the rANS decoder's slots, and the offset of each table in them.

    The first table is empty: it takes the place of missing ones.
    """
    tables = counts.reshape(-1, SYMBOLS)
    is_there = tables.any(axis=1)
    own = np.concatenate((np.zeros((1, SYMBOLS), np.uint32), tables[is_there]))
    slots = np.empty(len(own) * rans_tables.TOTAL, np.uint32)
    rans_tables.build_decoder_table(own, slots)
    first = np.where(is_there, np.cumsum(is_there), 0) * rans_tables.TOTAL
    return slots, first.reshape(counts.shape[:2]).astype(np.int64)
