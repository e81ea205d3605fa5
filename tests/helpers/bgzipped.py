"""Text as bgzip packs it."""

from __future__ import annotations

import struct
import zlib


def member(text: bytes, extra: bytes = b"") -> bytes:
    """Return one member of BGZF; other fields of its head may come first."""
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    data = deflate.compress(text) + deflate.flush()
    length = len(extra) + 6
    head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff" + struct.pack("<H", length) + extra
    whole = len(head) + 6 + len(data) + 8
    head += b"BC" + struct.pack("<HH", 2, whole - 1)
    return head + data + struct.pack("<II", zlib.crc32(text), len(text))


def bgzip(text: bytes, size: int = 5000) -> bytes:
    """Return a text as members of so many bytes, and the empty one behind them."""
    parts = [text[i : i + size] for i in range(0, len(text), size)]
    return b"".join(member(part, b"XX\2\0ab" * (i == 1)) for i, part in enumerate([*parts, b""]))
