"""Codec selection for nucleotides: capabilities of the codec for an array.

Formats declare their arrays of bases; other arrays are recognized by their letters.
"""

from __future__ import annotations

from collections.abc import Mapping

from gangsaw.codecs.core.nucleotides.alphabet import BASES, both_cases
from gangsaw.codecs.core.plugins.contents import KNOWN_NUCLEOTIDES, NUCLEOTIDES
from gangsaw.codecs.core.plugins.selection import (
    ArrayFacts,
    Capabilities,
    Extents,
    Grade,
    Option,
    Refusal,
)
from gangsaw.codecs.dna.params import MODES

CHUNK = 1 << 25
# least share of nucleotide letters in a sample of DNA or RNA
LETTERS, SHARE = both_cases(BASES + b"UN"), 0.95
NUCLEOTIDE_CONTENTS = (NUCLEOTIDES, KNOWN_NUCLEOTIDES)
KNOWN_BLOCK = (
    1 << 16
)  # small block for known nucleotides: a read of a few letters of a genome decodes one
LEAST = 1000  # bytes of a sample


class _Capabilities(Capabilities):
    options = (
        Option("mode", "pack (two bits a base), gencodex (runs) or dense.", "dense", choices=MODES),
    )

    def refusal(self, array: ArrayFacts) -> Refusal | None:
        if array.dtype.str[1:] != "u1":
            return Refusal(f"holds {array.dtype.name} samples", "codes bytes")
        if len(array.shape) != 1:
            return Refusal(f"has {len(array.shape)} axes", "codes bytes on one axis")
        return None

    def grade(self, array: ArrayFacts) -> Grade:
        if array.content in NUCLEOTIDE_CONTENTS:
            return Grade.MADE_FOR
        if array.sample is None or array.content is not None:
            return Grade.ON_REQUEST
        return Grade.PROVEN if _is_dna(array.sample().tobytes()) else Grade.ON_REQUEST

    def is_aside(self, array: ArrayFacts) -> bool:
        """Return True for arrays of a genome without bases, such as names and line lengths."""
        is_letters = array.content in NUCLEOTIDE_CONTENTS
        return not is_letters and any(one in NUCLEOTIDE_CONTENTS for one in array.other_contents)

    def least_chunks(self, array: ArrayFacts) -> Mapping[int, int]:
        return {0: CHUNK}

    def parameters(self, array: ArrayFacts, chunks: Extents) -> Mapping[str, object]:
        return {"block": KNOWN_BLOCK} if array.content == KNOWN_NUCLEOTIDES else {}


CAPABILITIES = _Capabilities()


def _is_dna(sample: bytes) -> bool:
    """Return True if a sample is nucleotide letters without line ends."""
    known = sum(sample.count(bytes([letter])) for letter in LETTERS)
    return len(sample) >= LEAST and b"\n" not in sample and known >= SHARE * len(sample)
