"""Coding of a block of text as packed bases and marks, and back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.nucleotides.packing import packed_size
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.dna.letters import marks, pack
from gangsaw.codecs.dna.letters.marks import NONE_FOUND, NOTHING, SLACK, Marks
from gangsaw.codecs.dna.letters.pack import PIECE

FEW = 1 << 4  # marks of most texts take less than one byte per this many letters


class PackedText(NamedTuple):
    """Text as packed bases and marks, which are runs of exceptions and of lower case.

    Attributes
    ----------
    packed : (ceil(n / 4),) uint8, four bases per byte
    marks : runs of letters other than upper case bases
    """

    packed: Bytes
    marks: Marks


def split_text(text: Bytes, buffer: Bytes) -> PackedText | None:
    """Convert a text to packed bases and marks; None if both take more bytes than the text.

    text : (n,) uint8, contiguous; buffer : (ceil(n / 4),) uint8 or more, filled with packed bases
    """
    packed = buffer[: packed_size(text.size)]
    for most in (text.size // FEW, text.size - packed.size):
        out = Marks(*(np.empty(most + SLACK, np.uint8) for _ in range(2)))
        n_odd, n_low = pack_text(text, packed, out)
        if n_odd != NOTHING:
            return PackedText(packed, Marks(out.exceptions[:n_odd], out.cases[:n_low]))
    return None


@jit(norefs=True)
def pack_text(text: Bytes, packed: Bytes, out: Marks) -> tuple[int, int]:
    """Pack a text, four bases per byte, and write marks of letters that are no upper case bases.

    text : (n,) uint8; packed : (ceil(n / 4),) uint8; out : buffers for marks. Returns bytes of
        exceptions and of cases, or NOTHING twice if either does not fit
    """
    found = NONE_FOUND
    for begin in range(0, text.size, PIECE):
        end = min(begin + PIECE, text.size)
        if not pack.pack_piece(text, begin, end, packed):
            found = marks.mark_piece(text, begin, end, packed, found, out)
            if not marks.has_space(found, out):
                return NOTHING, NOTHING
    return marks.close_run(found.odd, out).used, marks.close_case(found.low, out).used


def join_text(packed_text: PackedText, out: Bytes) -> None:
    """Fill a text, (n,) uint8, from packed bases and marks; raise CorruptChunk if invalid."""
    pack.unpack_text(packed_text.packed, out)
    marks.put_marks(packed_text.marks, out)
