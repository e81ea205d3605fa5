"""Coding of strings: their bytes are extracted from Zarr's form and coded by another codec.

A byte after each string costs less than separate lengths, as the text around predicts it. For lines
of Alice's Adventures in Wonderland it takes 41,051 bytes, separate lengths 43,079; for a log
100,001 and 109,557. Lengths as byte planes or with a variable number of bytes change little.
Strings of one length need neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.codecs.strings.header import (
    ENDED,
    EQUAL,
    HEADER_BYTES,
    LENGTHS,
    MOST_BYTES,
    PLAIN,
    STORED,
    WIDTHS,
    StringsHeader,
    parse,
)
from gangsaw.codecs.strings.items import (
    FIELD,
    Lengths,
    concatenate_items,
    find_ends,
    lengths_of,
    mark_bytes,
    restore_items,
)

if TYPE_CHECKING:
    from gangsaw.codecs.core.zarr.block_codec import BlockCodec

NEWLINE = 10  # end of text lines, which does not occur in strings that are lines


def encode_strings(data: Bytes, inner: BlockCodec) -> Bytes:
    """Encode the serialized strings of a chunk to a frame; BadParams if there are too many bytes.

    inner : codec for the strings' bytes and, if they are separate, the lengths
    """
    if data.size > MOST_BYTES:
        raise BadParams(
            f"a chunk of {data.size:,} bytes of strings, more than {MOST_BYTES:,}: "
            "use chunks of fewer items"
        )
    lengths = lengths_of(data)
    parts = _plain(data, inner) if lengths is None else _items(data, lengths, inner)
    if sum(map(len, parts)) >= HEADER_BYTES + data.size:
        parts = [StringsHeader(STORED, data.size, detail=crc32c(data)).pack(), data]
    return np.concatenate([np.frombuffer(part, np.uint8) for part in parts])


def decode_strings(frame: Bytes, inner: BlockCodec) -> Bytes:
    """Decode a frame to the serialized strings of a chunk.

    Raises
    ------
    CorruptChunk : the bytes are invalid; the frames inside are checked before memory is allocated
    NewerFormat : a later version wrote them
    """
    header, rest = parse(frame), frame[HEADER_BYTES:]
    if header.kind == STORED:
        if rest.size != header.n_bytes or crc32c(rest) != header.detail:
            raise CorruptChunk(f"{rest.size} stored bytes are damaged")
        return rest
    if header.kind != LENGTHS:
        body = _decoded(rest, header.body_bytes, "u1", inner)
        return body if header.kind == PLAIN else _restored(header, body, _lengths(header, body))
    apart, rest = rest[: header.detail], rest[header.detail :]
    lengths = _decoded(apart, header.n_items, f"<u{header.width}", inner).astype(np.uint32)
    if int(lengths.sum(dtype=np.int64)) != header.item_bytes:
        raise CorruptChunk("the lengths of the strings are not those of their bytes")
    return _restored(header, _decoded(rest, header.body_bytes, "u1", inner), lengths)


def _plain(data: Bytes, inner: BlockCodec) -> list[bytes | memoryview | Bytes]:
    return [StringsHeader(PLAIN, data.size).pack(), inner.encode_chunk(data)]


def _items(data: Bytes, lengths: Lengths, inner: BlockCodec) -> list[bytes | memoryview | Bytes]:
    header = _header(data, lengths)
    body = np.empty(header.body_bytes, np.uint8)
    concatenate_items(data[FIELD:], lengths, int(header.kind == ENDED), header.end, body)
    coded = inner.encode_chunk(body)
    if header.kind != LENGTHS:
        return [header.pack(), coded]
    apart = inner.encode_chunk(lengths.astype(f"<u{header.width}"))
    return [header._replace(detail=len(apart)).pack(), apart, coded]


def _header(data: Bytes, lengths: Lengths) -> StringsHeader:
    """Return the header that says how items are separated: by length, or by an unused end byte.

    If all lengths are equal, nothing separates them; else a byte that occurs in no item does.
    """
    size, count = data.size, lengths.size
    if count and lengths.min() == lengths.max():
        return StringsHeader(EQUAL, size, count)
    there = np.zeros(256, np.bool_)
    mark_bytes(data[FIELD:], lengths, there)
    if not there.all():
        end = NEWLINE if not there[NEWLINE] else int(np.argmin(there))
        return StringsHeader(ENDED, size, count, end=end)
    width = next(n for n in WIDTHS if int(lengths.max()) < 1 << 8 * n)
    return StringsHeader(LENGTHS, size, count, width=width)


def _lengths(header: StringsHeader, body: Bytes) -> Lengths:
    if header.kind == EQUAL:
        return np.full(header.n_items, header.item_bytes // header.n_items, np.uint32)
    lengths = np.empty(header.n_items, np.uint32)
    if not find_ends(body, header.end, lengths):
        raise CorruptChunk(f"the bytes are not {header.n_items} strings")
    return lengths


def _restored(header: StringsHeader, body: Bytes, lengths: Lengths) -> Bytes:
    data = np.empty(header.n_bytes, np.uint8)
    data[:FIELD] = np.frombuffer(header.n_items.to_bytes(FIELD, "little"), np.uint8)
    restore_items(body, lengths, int(header.kind == ENDED), data[FIELD:])
    return data


def _decoded(frame: Bytes, count: int, dtype: str, inner: BlockCodec) -> Bytes:
    """Check the index of an inner frame, and decode `count` items of `dtype` from it."""
    coder = inner.coder((count,), dtype)
    runs = coder.whole(frame)
    found: npt.NDArray[np.uint8] = np.empty(count, dtype)
    coder.fill([runs], [found])
    return found
