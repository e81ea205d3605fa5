"""Effort dense: Burrows-Wheeler string to bytes and back, with adaptive counts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.dense.decode import decode_tokens
from gangsaw.codecs.bwt.dense.encode import encode_tokens
from gangsaw.codecs.bwt.dense.model import SHARED
from gangsaw.codecs.bwt.dense.segments import record_bytes
from gangsaw.codecs.bwt.dense.tables import NODES
from gangsaw.codecs.bwt.lanes.cut import lane_count, lanes_of
from gangsaw.codecs.bwt.lanes.estimate import gets_no_shorter
from gangsaw.codecs.bwt.lanes.lists import decode_heads, encode_heads

Octets = npt.NDArray[np.uint8]
MODEL = 3 << 20  # bytes of counts, of 256 symbols in 16 lanes, and lists
RUN_BYTES = 8  # bytes per run: symbol, label, rank, length, and temporaries
# device memory, in bytes
COUNT_BYTES = 4
LANE_BYTES = 256 * (COUNT_BYTES * NODES + 2)  # counts, histories, a list: of all symbols
DEVICE_FIXED = 1 << 13  # places, symbols, bounds, fields, weights, and rounding of allocations


def room(n: int) -> int:
    """Return an upper bound of the scratch bytes to encode or decode n bytes."""
    return (RUN_BYTES + 3) * n + 2 * record_bytes(n) + MODEL


def device_room(n_bytes: int, n: int) -> int:
    """Return an upper bound of the device bytes to decode n bytes from n_bytes, without n."""
    return n_bytes + COUNT_BYTES * SHARED + lane_count(n) * LANE_BYTES + DEVICE_FIXED


def encoder_room(n: int) -> int:
    """Return an upper bound of the device bytes to encode the runs of n bytes, without the runs."""
    return (
        record_bytes(n) + 2 * n + COUNT_BYTES * SHARED + lane_count(n) * LANE_BYTES + DEVICE_FIXED
    )


def encode(bwt: Octets, room: Octets | None = None) -> Octets | None:
    """Return the coded bytes of a string, (k,) uint8; None if they are not fewer.

    Parameters
    ----------
    bwt : (n,) uint8, n >= 1
    room : (m,) uint8, output buffer, used if the result fits; else memory is allocated
    """
    if gets_no_shorter(bwt):
        return None
    parts, size = [], 0
    for part in coded(bwt):
        parts.append(part)
        size += part.size
        if size >= bwt.size:
            return None
    fits = room is not None and room.size >= size
    return np.concatenate(parts, out=room[:size] if room is not None and fits else None)


def coded(bwt: Octets) -> Iterator[Octets]:
    """Yield the coded bytes of a string, even if they are more."""
    lanes = lanes_of(bwt, by_decisions=True)
    yield encode_heads(lanes)
    yield from encode_tokens(lanes)


def decode(data: Octets, out: Octets) -> None:
    """Fill (n,) uint8, n >= 1, from the (k,) uint8 output of `encode`.

    Raises
    ------
    CorruptChunk : the data is not a string of this length
    """
    heads = decode_heads(data, out.size)
    decode_tokens(data[heads.end :], heads, out)
