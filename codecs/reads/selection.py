"""Capabilities of the codec of reads: formats declare its arrays, and it detects plain lines."""

from __future__ import annotations

from collections.abc import Mapping

from gangsaw.codecs.core.nucleotides.alphabet import BASES
from gangsaw.codecs.core.plugins.contents import (
    LINE_OFFSETS,
    READ_NAMES,
    READ_QUALITIES,
    READ_SEQUENCES,
)
from gangsaw.codecs.core.plugins.selection import (
    ArrayFacts,
    Capabilities,
    Extents,
    Grade,
    Picture,
    Refusal,
)

# contents that a format may declare, and their kinds
CONTENTS = {
    READ_SEQUENCES: "sequence",
    READ_QUALITIES: "quality",
    READ_NAMES: "name",
    LINE_OFFSETS: "offset",
}
CHUNKS = {"sequence": 1 << 25, "quality": 1 << 25, "name": 1 << 25, "offset": 1 << 20}
LETTERS, SHARE = frozenset(BASES + b"UN"), 0.95  # bytes of reads, and their least share of a sample
LINES = 20  # in a sample, at least


class _Capabilities(Capabilities):
    def refusal(self, array: ArrayFacts) -> Refusal | None:
        if array.dtype.str[1:] not in ("u1", "u8"):
            return Refusal(f"holds {array.dtype.name} samples", "codes bytes and their offsets")
        if len(array.shape) != 1:
            return Refusal(f"has {len(array.shape)} axes", "codes lines on one axis")
        return None

    def grade(self, array: ArrayFacts) -> Grade:
        if array.content in CONTENTS:
            return Grade.MADE_FOR
        if array.dtype.str[1:] != "u1" or array.sample is None:
            return Grade.ON_REQUEST
        return Grade.PROVEN if _is_reads(array.sample().tobytes()) else Grade.ON_REQUEST

    def least_chunks(self, array: ArrayFacts) -> Mapping[int, int]:
        return {0: CHUNKS[_kind(array)]}

    def parameters(self, array: ArrayFacts, chunks: Extents) -> Mapping[str, object]:
        return {"kind": _kind(array), "pairs": bool(array.attrs.get("pairs", False))}

    def summary(
        self, params: Mapping[str, object], usual: Mapping[str, object]
    ) -> Mapping[str, object]:
        pairs = {"pairs": True} if params["pairs"] else {}
        return {"lines": params["kind"], **pairs}

    def picture(self, params: Mapping[str, object], dims: tuple[str, ...]) -> Picture:
        return Picture((0,), kind="reads")


CAPABILITIES = _Capabilities()


def _kind(array: ArrayFacts) -> str:
    usual = "offset" if array.dtype.str[1:] == "u8" else "sequence"
    return CONTENTS.get(array.content or "", usual)


def _is_reads(sample: bytes) -> bool:
    """Return True if a sample of text has lines that consist mostly of nucleotide letters."""
    lines = sample.split(b"\n")[1:-1]
    letters = sum(len(line) for line in lines)
    known = sum(sample.count(bytes([letter])) for letter in LETTERS)
    return len(lines) >= LINES and letters > 0 and known >= SHARE * letters
