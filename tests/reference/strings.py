"""Slow reference of `gangsaw.strings` from its SPEC.md: frames of strings, read by plain Python.

The inner codec is given: it has a reference of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

STORED, PLAIN, EQUAL, ENDED, LENGTHS = range(5)
Inner = Callable[[bytes, int, int], bytes]  # a frame, items, bytes of an item -> their bytes


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for octet in data:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def decode(frame: bytes, inner: Inner) -> bytes:
    """Return the bytes of a chunk."""
    magic, version, kind, end, width, n_bytes, count, detail, checksum = struct.unpack(
        "<4sBBBBIIII", frame[:24]
    )
    assert (magic, version) == (b"GSTR", 1)
    assert checksum == crc32c(frame[:20])
    rest = frame[24:]
    if kind == STORED:
        assert (len(rest), crc32c(rest)) == (n_bytes, detail)
        return rest
    if kind == PLAIN:
        return inner(rest, n_bytes, 1)
    n = n_bytes - 4 - 4 * count
    if kind == EQUAL:
        body, length = inner(rest, n, 1), n // count
        return joined([body[i * length : (i + 1) * length] for i in range(count)])
    if kind == ENDED:
        body = inner(rest, n + count, 1)
        assert not count or body[-1] == end
        items = body.split(bytes([end]))[:-1]
        assert len(items) == count
        return joined(items)
    lengths = inner(rest[:detail], count, width)
    body, items = inner(rest[detail:], n, 1), []
    for i in range(count):
        length = int.from_bytes(lengths[i * width : (i + 1) * width], "little")
        items, body = [*items, body[:length]], body[length:]
    assert not body
    return joined(items)


def joined(items: list[bytes]) -> bytes:
    parts = [struct.pack("<I", len(item)) + item for item in items]
    return struct.pack("<I", len(items)) + b"".join(parts)


def kind_of(data: bytes) -> tuple[int, int, int]:
    """Return kind, end and width that an encoder takes for a chunk, unless it is stored."""
    items = split(data)
    if items is None:
        return PLAIN, 0, 0
    if items and len(set(map(len, items))) == 1:
        return EQUAL, 0, 0
    free = [byte for byte in (10, *range(256)) if not any(byte in item for item in items)]
    if free:
        return ENDED, free[0], 0
    most = max(map(len, items))
    return LENGTHS, 0, next(width for width in (1, 2, 4) if most < 256**width)


def split(data: bytes) -> list[bytes] | None:
    """Return the strings of a chunk, None where it is none of them."""
    if len(data) < 4:
        return None
    count, at, items = int.from_bytes(data[:4], "little"), 4, []
    while len(items) < count and at + 4 <= len(data):
        length = int.from_bytes(data[at : at + 4], "little")
        at += 4 + length
        items.append(data[at - length : at])
    return items if len(items) == count and at == len(data) else None
