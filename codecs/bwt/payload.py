"""Payload of a block: its kind, the rows of its transform, the coded string. SPEC.md, Block."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.dense import cpu as dense
from gangsaw.codecs.bwt.fast import cpu as fast
from gangsaw.codecs.bwt.transform.forward import transform
from gangsaw.codecs.bwt.transform.inverse import invert
from gangsaw.codecs.bwt.transform.rows import row_count
from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.errors import CorruptChunk

Rows: TypeAlias = npt.NDArray[np.uint32]

RAW, DENSE, FAST = range(3)  # kinds
ROW_BYTES = 3  # bytes of a row number: there are at most 2^23 + 1


class EntropyStage(NamedTuple):
    """Encoder and decoder of the transformed string, for one effort.

    Attributes
    ----------
    encode : function from (n,) uint8 and an optional buffer to (k,) uint8; None if not shorter
    decode : function that fills (n,) uint8 from (k,) uint8; raises CorruptChunk
    """

    encode: Callable[[Bytes, Bytes | None], Bytes | None]
    decode: Callable[[Bytes, Bytes], None]


STAGES = {
    DENSE: EntropyStage(dense.encode_dense_string, dense.decode_dense_string),
    FAST: EntropyStage(fast.encode_fast_string, fast.decode_fast_string),
}


def write_payload(block: Bytes, kind: int) -> tuple[Bytes, ...]:
    """Return the parts of a block's payload: of `kind`, or raw if that is not shorter.

    block : (n,) uint8
    kind : DENSE or FAST
    """
    transformed = transform(block)
    body = STAGES[kind].encode(transformed.bwt, None)
    parts = None if body is None else shorter(kind, transformed.rows, (body,), block.size)
    return raw(block) if parts is None else parts


def shorter(kind: int, rows: Rows, body: tuple[Bytes, ...], n: int) -> tuple[Bytes, ...] | None:
    """Return the parts of a payload of `kind`; None if these are longer than n bytes.

    rows : stored rows of the transform
    body : parts of the coded string
    """
    parts = np.array([kind], np.uint8), _packed(rows), *body
    return parts if sum(part.size for part in parts) <= n else None


def raw(block: Bytes) -> tuple[Bytes, ...]:
    """Return the parts of a raw payload, the block without compression."""
    return np.array([RAW], np.uint8), block


def read_payload(data: Bytes, block: Bytes) -> None:
    """Decode a payload of kind DENSE or FAST to a block, (n,) uint8.

    Raises
    ------
    CorruptChunk : the payload is not that of a block of this length
    """
    rows, body = split_payload(data, block.size)
    bwt = np.empty(block.size, np.uint8)
    STAGES[int(data[0])].decode(body, bwt)
    invert(bwt, rows, block)


def split_payload(data: Bytes, n: int) -> tuple[Rows, Bytes]:
    """Split a payload of kind DENSE or FAST, for n bytes: rows of the transform, coded string.

    Raises
    ------
    CorruptChunk : it is too short for the rows
    """
    lead = 1 + ROW_BYTES * row_count(n)
    if data.size < lead:
        raise CorruptChunk("it ends before the rows of its transform do")
    return _unpacked(data[1:lead]), data[lead:]


def read_raw(data: Bytes, block: Bytes) -> None:
    """Decode a raw payload to a block; raise CorruptChunk if the length differs."""
    if data.size != 1 + block.size:
        raise CorruptChunk(f"{block.size} bytes expected, there are {data.size - 1}")
    block[:] = data[1:]


def _packed(rows: Rows) -> Bytes:
    octets = rows.astype("<u4").view(np.uint8).reshape(rows.size, 4)
    return octets[:, :ROW_BYTES].ravel()


def _unpacked(data: Bytes) -> Rows:
    octets = np.zeros((data.size // ROW_BYTES, 4), np.uint8)
    octets[:, :ROW_BYTES] = data.reshape(-1, ROW_BYTES)
    return octets.view("<u4").ravel().astype(np.uint32)
