"""The codec once more, slow and plain, from SPEC.md alone."""

from __future__ import annotations

from typing import Any


def recode_block(
    data: bytes, configuration: dict[str, Any], shape: tuple[int, ...], dtype: Any
) -> tuple[list[int], bytes]:
    """Return the bytes of a block, and the same block encoded from them."""
    octets = [byte for n, byte in zip(data[::2], data[1::2], strict=True) for _ in range(n + 1)]
    assert len(octets) == shape[0]
    return octets, bytes(encoded(octets))


def encoded(octets: list[int]) -> list[int]:
    """Write the runs, byte by byte."""
    out: list[int] = []
    for byte in octets:
        if out and out[-1] == byte and out[-2] < 255:
            out[-2] += 1
        else:
            out += [0, byte]
    return out
