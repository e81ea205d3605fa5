"""Codec selection for rows of integers: capabilities of the codec. Formats declare such arrays."""

from __future__ import annotations

from collections.abc import Mapping

from gangsaw.codecs.core.plugins.contents import INTEGER_ROWS
from gangsaw.codecs.core.plugins.selection import ArrayFacts, Capabilities, Grade, Refusal

CHUNK = 1 << 18  # rows


class _Capabilities(Capabilities):
    def refusal(self, array: ArrayFacts) -> Refusal | None:
        from gangsaw.codecs.integers.params import MOST_COLUMNS, refused

        found = refused(array.shape, array.dtype.str[1:])
        takes = f"codes uint32 of 1 to {MOST_COLUMNS} columns"
        return Refusal(found, takes) if found else None

    def grade(self, array: ArrayFacts) -> Grade:
        return Grade.MADE_FOR if array.content == INTEGER_ROWS else Grade.ON_REQUEST

    def is_aside(self, array: ArrayFacts) -> bool:
        """Return True for an array that is not rows of integers, in a group that contains some."""
        return array.content != INTEGER_ROWS and INTEGER_ROWS in array.other_contents

    def least_chunks(self, array: ArrayFacts) -> Mapping[int, int] | None:
        return {0: CHUNK, 1: array.shape[1]}


CAPABILITIES = _Capabilities()
