"""Damage to single objects of a store."""

from __future__ import annotations

from pathlib import Path


def flip(path: Path, share: float = 0.5) -> None:
    """Change one byte of a file, at this share of its length."""
    data = bytearray(path.read_bytes())
    data[int(share * len(data))] ^= 0xFF
    path.write_bytes(data)
