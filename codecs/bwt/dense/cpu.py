"""A Burrows-Wheeler string to bytes and back, by counts that adapt: effort dense."""

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
MODEL = 3 << 20  # counts, of 256 symbols in 16 lanes, and lists
RUN_BYTES = 8  # symbol, label, rank, length, and what comes and goes
# on a GPU
COUNT_BYTES = 4
LANE_BYTES = 256 * (COUNT_BYTES * NODES + 2)  # counts, histories, a list: of all symbols
DEVICE_FIXED = 1 << 13  # places, symbols, bounds, fields, weights, what arrays are rounded up to


def room(n: int) -> int:
    """Bytes of scratch for n bytes, at most, of encoding or decoding."""
    return (RUN_BYTES + 3) * n + 2 * record_bytes(n) + MODEL


def device_room(n_bytes: int, n: int) -> int:
    """Return a bound on the device memory that decoding n bytes from n_bytes takes, besides n."""
    return n_bytes + COUNT_BYTES * SHARED + lane_count(n) * LANE_BYTES + DEVICE_FIXED


def encoder_room(n: int) -> int:
    """Return a bound on the device memory that encoding runs of n bytes takes, besides these."""
    return (
        record_bytes(n) + 2 * n + COUNT_BYTES * SHARED + lane_count(n) * LANE_BYTES + DEVICE_FIXED
    )


def encode(bwt: Octets, room: Octets | None = None) -> Octets | None:
    """Return the bytes of a string, (k,) uint8; None where these are no fewer.

    Parameters
    ----------
    bwt : (n,) uint8, n >= 1
    room : (m,) uint8, where they are put if they fit; else they get room of their own
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
    """Yield the bytes of a string, also where they are more."""
    lanes = lanes_of(bwt, by_decisions=True)
    yield encode_heads(lanes)
    yield from encode_tokens(lanes)


def decode(data: Octets, out: Octets) -> None:
    """Fill (n,) uint8, n >= 1, from the (k,) uint8 that `encode` gave.

    Raises
    ------
    CorruptChunk : these are no bytes of a string of that length
    """
    heads = decode_heads(data, out.size)
    decode_tokens(data[heads.end :], heads, out)
