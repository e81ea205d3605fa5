"""Capabilities of the toy codec: it codes lines of text, which it detects in a sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangsaw.codecs.core.plugins.selection import (
    ArrayFacts,
    Capabilities,
    Extents,
    Grade,
    Option,
    Refusal,
)

CHUNK = 1 << 22  # bytes below which no chunk is cut
CONTENT = "text lines"  # what a format may say that an array holds


class _Capabilities(Capabilities):
    options = (Option("toy_block", "Bytes of a block.", "65536", int),)

    def refusal(self, array: ArrayFacts) -> Refusal | None:
        if array.dtype.str[1:] != "u1":
            return Refusal(f"holds {array.dtype.name} samples", "codes uint8")
        if len(array.shape) != 1:
            return Refusal(f"has {len(array.shape)} axes", "codes texts of one axis")
        return None

    def grade(self, array: ArrayFacts) -> Grade:
        if array.content == CONTENT:
            return Grade.MADE_FOR
        sample = array.sample() if array.sample is not None else None
        is_text = sample is not None and _is_text(sample.tobytes())
        return Grade.PROVEN if is_text else Grade.ON_REQUEST

    def least_chunks(self, array: ArrayFacts) -> Mapping[int, int]:
        return {0: CHUNK}

    def parameters(self, array: ArrayFacts, chunks: Extents) -> Mapping[str, Any]:
        return {"block": [min(chunks[0], 1 << 16) or 1]}

    def settled(self, array: ArrayFacts, options: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"block": [options["toy_block"]]} if "toy_block" in options else {}

    def summary(self, params: Mapping[str, Any], usual: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"bytes of a block": params["block"][0]}


CAPABILITIES = _Capabilities()


def _is_text(data: bytes) -> bool:
    """Whether these are lines of a few dozen printable characters, each begun like another."""
    lines = data.split(b"\n")[1:-1]
    return len(lines) > 3 and data.isascii() and max(map(len, lines)) < 1000 and b"\0" not in data
