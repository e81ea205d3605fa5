"""Effort dense: Burrows-Wheeler string to bytes and back, with adaptive counts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gangsaw.codecs.bwt.dense.decode import decode_tokens
from gangsaw.codecs.bwt.dense.encode import encode_tokens
from gangsaw.codecs.bwt.dense.model import SHARED
from gangsaw.codecs.bwt.dense.segments import record_bytes
from gangsaw.codecs.bwt.dense.tables import NODES
from gangsaw.codecs.bwt.lanes.cut import divide_into_lanes, lane_count
from gangsaw.codecs.bwt.lanes.estimate import gets_no_shorter
from gangsaw.codecs.bwt.lanes.lists import decode_heads, encode_heads
from gangsaw.codecs.core.arrays import Bytes

MODEL = 3 << 20  # bytes of counts, of 256 symbols in 16 lanes, and lists
RUN_BYTES = 8  # bytes per run: symbol, label, rank, length, and temporaries
# device memory, in bytes
COUNT_BYTES = 4
LANE_BYTES = 256 * (COUNT_BYTES * NODES + 2)  # counts, histories, a list: of all symbols
DEVICE_FIXED = 1 << 13  # places, symbols, bounds, fields, weights, and rounding of allocations


def dense_scratch_bytes(n: int) -> int:
    """Return an upper bound of the scratch memory to encode or decode n bytes with effort dense."""
    return (RUN_BYTES + 3) * n + 2 * record_bytes(n) + MODEL


def dense_decoder_bytes(n_bytes: int, n: int) -> int:
    """Return an upper bound of the device memory to decode n_bytes coded bytes to n bytes.

    The n bytes themselves are not included.
    """
    return n_bytes + COUNT_BYTES * SHARED + lane_count(n) * LANE_BYTES + DEVICE_FIXED


def dense_encoder_bytes(n: int) -> int:
    """Return an upper bound of the device memory to encode n bytes, given as runs.

    The runs themselves are not included.
    """
    return (
        record_bytes(n) + 2 * n + COUNT_BYTES * SHARED + lane_count(n) * LANE_BYTES + DEVICE_FIXED
    )


def encode_dense_string(bwt: Bytes, buffer: Bytes | None = None) -> Bytes | None:
    """Encode a Burrows-Wheeler transformed string with effort dense; None if it gets no shorter.

    Parameters
    ----------
    bwt : (n,) uint8, n >= 1
    buffer : (m,) uint8, output buffer, used if the result fits; else memory is allocated
    """
    if gets_no_shorter(bwt):
        return None
    parts, size = [], 0
    for part in encode_dense_parts(bwt):
        parts.append(part)
        size += part.size
        if size >= bwt.size:
            return None
    fits = buffer is not None and buffer.size >= size
    return np.concatenate(parts, out=buffer[:size] if buffer is not None and fits else None)


def encode_dense_parts(bwt: Bytes) -> Iterator[Bytes]:
    """Encode a transformed string with effort dense; yield the parts, even if they are longer."""
    lanes = divide_into_lanes(bwt, by_decisions=True)
    yield encode_heads(lanes)
    yield from encode_tokens(lanes)


def decode_dense_string(data: Bytes, out: Bytes) -> None:
    """Decode (k,) uint8 of `encode_dense_string` to the transformed string `out`, (n,) uint8.

    Raises
    ------
    CorruptChunk : the data is not a string of this length
    """
    heads = decode_heads(data, out.size)
    decode_tokens(data[heads.end :], heads, out)
