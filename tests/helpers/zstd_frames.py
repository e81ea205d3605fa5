"""Zstandard with frames that readers skip, as pzstd writes it."""

from __future__ import annotations

import pytest


def skippable(data: bytes, low: int = 0x50) -> bytes:
    """Return a frame of Zstandard that readers skip: RFC 8878, 3.1.2."""
    return bytes((low,)) + b"\x2a\x4d\x18" + len(data).to_bytes(4, "little") + data


def zstd(text: bytes) -> bytes:
    """Return text as two frames."""
    zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")
    packed = [zstandard.ZstdCompressor().compress(part) for part in (text[:999], text[999:])]
    return b"".join(packed)


def pzstd(text: bytes) -> bytes:
    """Return text as pzstd writes it, and other frames that are skipped between and behind."""
    first, second = zstd(text[:2000]), zstd(text[2000:])
    middle = skippable(b"any bytes", 0x5F)
    return skippable(bytes(4)) + first + middle + skippable(b"") + second + skippable(b"index")
