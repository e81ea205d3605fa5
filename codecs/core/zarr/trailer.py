"""Trailer of a Zarr v2 chunk with its shape and dtype, for codecs without them in the metadata."""

from __future__ import annotations

import math
from struct import Struct, error
from typing import Literal, NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.container.checksum import Bytes, crc32c
from gangsaw.codecs.core.errors import BadParams, CorruptChunk

# dtype in NumPy's notation, memory order, rank, checksum of everything before
END = Struct("<8scBI")
MOST_BYTES = 1 << 30  # of samples: invalid bytes cannot request more
MOST_AXES = 32  # limit of Zarr v2


class ChunkKind(NamedTuple):
    """Description of a chunk: extents, dtype and memory order."""

    shape: tuple[int, ...]
    dtype: Dtype
    memory_order: Literal["C", "F"]


def pack_trailer(place: ChunkKind) -> bytes:
    """Return the description of a chunk as bytes to append to its frame, for Zarr v2.

    Raises
    ------
    BadParams : the chunk exceeds MOST_BYTES or MOST_AXES
    """
    n_bytes = math.prod(place.shape) * place.dtype.itemsize
    if n_bytes > MOST_BYTES or len(place.shape) > MOST_AXES:
        raise BadParams(
            f"a chunk of {n_bytes:,} bytes and {len(place.shape)} axes; above {MOST_BYTES:,} bytes "
            f"or {MOST_AXES} axes give the codec of Zarr v2 the chunk's shape and dtype"
        )
    extents = _extents(len(place.shape)).pack(*place.shape)
    end = END.pack(place.dtype.str.encode(), place.memory_order.encode(), len(place.shape), 0)
    body = (extents + end)[: -Struct("<I").size]
    return body + Struct("<I").pack(crc32c(body))


def unpack_trailer(data: Bytes) -> tuple[ChunkKind, memoryview]:
    """Split a frame with trailer into the description of the chunk and the frame.

    Raises
    ------
    CorruptChunk : the trailer is truncated, damaged, or describes a chunk that
        `pack_trailer` rejects
    """
    octets = np.frombuffer(data, np.uint8).data
    try:
        kind, order, rank, checksum = END.unpack(octets[-END.size :])
        size = _extents(rank).size + END.size
        shape = _extents(rank).unpack(octets[-size : -END.size])
    except error:
        raise CorruptChunk("the chunk's shape, after its frame, is cut short") from None
    body = bytes(octets[-size : -Struct("<I").size])
    if rank > MOST_AXES or checksum != crc32c(body):
        raise CorruptChunk("the chunk's shape, after its frame, is damaged")
    place = ChunkKind(shape, _dtype(kind), "F" if order == b"F" else "C")
    if math.prod(shape) * place.dtype.itemsize > MOST_BYTES:
        raise CorruptChunk(f"a chunk of {shape}, more than {MOST_BYTES:,} bytes")
    return place, octets[:-size]


def _extents(rank: int) -> Struct:
    return Struct(f"<{rank}Q")


def _dtype(kind: bytes) -> Dtype:
    text = kind.rstrip(b"\0").decode("ascii", "replace")
    try:
        dtype = np.dtype(text)
    except (TypeError, ValueError):
        raise CorruptChunk(f"there is no dtype {text!r}") from None
    if dtype.kind not in "biufc":
        raise CorruptChunk(f"a chunk of {dtype}")
    return dtype
