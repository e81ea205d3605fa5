"""Bases of a block without its exceptions, and back to text. SPEC.md, Dense."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.nucleotides.codes import LETTER_OF_CODE
from gangsaw.codecs.core.nucleotides.kernels import code_of
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.dna.letters.marks import Marks, put_marks
from gangsaw.codecs.dna.letters.numbers import (
    MOST_BYTES,
    Ints,
    get_leb128,
    number_ends,
    numbers_at,
)

LETTER = 1  # bytes of the letter of a run of exceptions
NOT_SUCH = "its exceptions are not such"


@jit
def take_bases(text: Bytes, exceptions: Bytes, codes: Bytes) -> None:
    """Fill `codes` with the base codes of a text, (n,) uint8, without its runs of exceptions.

    exceptions : stored runs of letters that are no bases
    """
    at, place, used = 0, 0, 0
    while used < codes.size:
        gap, length = codes.size - used, 0
        if at < exceptions.size:
            gap, at = get_leb128(exceptions, at)
            length, at = get_leb128(exceptions, at)
            length, at = length + 1, at + LETTER
        for i in range(gap):
            codes[used + i] = code_of(text[place + i])
        place += gap + length
        used += gap


@jit
def put_bases(codes: Bytes, exceptions: Bytes, alphabet: Bytes, text: Bytes) -> None:
    """Write the letters of base codes to a text, between its runs of exceptions.

    The letters of exceptions, which were counted before, are not changed.
    """
    at, place, used = 0, 0, 0
    while used < codes.size:
        gap, length = codes.size - used, 0
        if at < exceptions.size:
            gap, at = get_leb128(exceptions, at)
            length, at = get_leb128(exceptions, at)
            length, at = length + 1, at + LETTER
        for i in range(gap):
            text[place + i] = alphabet[codes[used + i]]
        place += gap + length
        used += gap


def count_bases(n: int, exceptions: Bytes) -> int:
    """Return the number of bases among n letters, from the stored runs of exceptions.

    It raises CorruptChunk if these have more letters. It uses NumPy only: a GPU decoder needs the
    count first, and nothing is compiled for it.
    """
    gaps, lengths = runs_in(exceptions.view(np.uint8))
    if gaps.size and int((gaps + lengths).sum()) > n:
        raise CorruptChunk(NOT_SUCH)
    return n - int(lengths.sum())


def runs_in(exceptions: npt.NDArray[np.uint8]) -> tuple[Ints, Ints]:
    """Parse runs of exceptions: number of letters before and in each run, (n,) int64 each.

    It raises CorruptChunk if they are invalid.
    """
    n = exceptions.size
    ends = number_ends(exceptions)
    behind = (ends[ends[:n]] + LETTER).data  # end offset of a run, if one starts at that byte
    starts, at = list[int](), 0
    while at < n:
        starts.append(at)
        at = behind[at]
    if at != n:
        raise CorruptChunk(NOT_SUCH)
    first = np.array(starts, np.int64)
    second, third = ends[first], ends[ends[first]]
    if first.size and max((second - first).max(), (third - second).max()) > MOST_BYTES:
        raise CorruptChunk(NOT_SUCH)
    return numbers_at(exceptions, first, second), numbers_at(exceptions, second, third) + 1


def bases_of(text: Bytes, marks: Marks) -> npt.NDArray[np.uint8]:
    """Return the base codes of a text, (n,) uint8, without its exceptions."""
    codes = np.empty(count_bases(text.size, marks.exceptions), np.uint8)
    take_bases(text, marks.exceptions, codes)
    return codes


def join_bases(codes: Bytes, marks: Marks, text: Bytes) -> None:
    """Fill a text, (n,) uint8, from base codes and marks; raise CorruptChunk for invalid marks."""
    put_bases(codes, marks.exceptions, LETTER_OF_CODE, text)
    put_marks(marks, text)
