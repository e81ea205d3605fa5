"""Marks of letters without a two-bit code: runs of other letters and of lower case. SPEC.md, Block.

Only pieces in which a test found such letters are searched. Runs are found as runs of one bits in
words with a bit for each letter of a vector.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.nucleotides.kernels import is_base
from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.byte_lanes import OF_BYTES, VECTOR_BYTES, first_lanes
from gangsaw.codecs.core.numba.vectors.integers import bits_of, load, select, store
from gangsaw.codecs.core.numba.vectors.logic import both
from gangsaw.codecs.dna.letters.numbers import WRONG, get_leb128, put_leb128
from gangsaw.codecs.dna.letters.pack import expected_bases

MOST_RECORD = 11  # bytes of two numbers and a letter
SLACK = MOST_RECORD * VECTOR_BYTES  # bytes that a vector of letters may add
NOTHING = -1
ALL_LANES = np.uint64((1 << VECTOR_BYTES) - 1)
ONE = np.uint64(1)


class Marks(NamedTuple):
    """Stored runs of letters other than upper case bases.

    Attributes
    ----------
    exceptions, cases : (n,) uint8 each, runs of letters that are no bases, and of lower case
    """

    exceptions: Bytes
    cases: Bytes


class OddRun(NamedTuple):
    """Run of one exception (a letter that is no base) that is not written yet.

    Attributes
    ----------
    begin, end, value : bounds and letter of the run; `begin` is NOTHING without a run
    before : position of the end of the last written run
    used : bytes of exceptions written so far
    """

    begin: int
    end: int
    value: int
    before: int
    used: int


class Turns(NamedTuple):
    """State of the search for runs of lower case, up to the last searched piece.

    Attributes
    ----------
    is_low : 1 inside a run of lower case, else 0
    last : start of the current run, or end of the last one
    end : end of the last searched piece
    used : bytes of cases written so far
    """

    is_low: int
    last: int
    end: int
    used: int


class FoundMarks(NamedTuple):
    """State of the search for exceptions and for lower case."""

    odd: OddRun
    low: Turns


NONE_FOUND = FoundMarks(OddRun(NOTHING, 0, 0, 0, 0), Turns(0, 0, 0, 0))


@jit(inline=True, part=True, norefs=True)
def toggle_case(low: Turns, at: int, out: Marks) -> Turns:
    """Begin or end a run of lower case at a position; write the length of what ended there."""
    used = put_leb128(out.cases, low.used, at - low.last - low.is_low)
    return Turns(1 - low.is_low, at, low.end, used)


@jit(inline=True, part=True, norefs=True)
def close_case(low: Turns, out: Marks) -> Turns:
    """End the current run of lower case, if any, at the end of the last searched piece."""
    return toggle_case(low, low.end, out) if low.is_low else low


@jit(inline=True, part=True, norefs=True)
def close_run(run: OddRun, out: Marks) -> OddRun:
    """Write the current run of an exception, if any."""
    if run.begin == NOTHING:
        return run
    used = put_leb128(out.exceptions, run.used, run.begin - run.before)
    used = put_leb128(out.exceptions, used, run.end - run.begin - 1)
    out.exceptions[used] = run.value
    return OddRun(NOTHING, 0, 0, run.end, used + 1)


@jit(inline=True, part=True, norefs=True)
def extend_run(run: OddRun, begin: int, end: int, value: int, out: Marks) -> OddRun:
    """Extend the current run by letters [begin, end) of an exception, or write it and begin one."""
    if run.begin != NOTHING and run.end == begin and run.value == value:
        return OddRun(run.begin, end, value, run.before, run.used)
    run = close_run(run, out)
    return OddRun(begin, end, value, run.before, run.used)


@jit(inline=True, part=True, norefs=True)
def is_low(letter: int) -> bool:
    """Return True if a byte is a lower case letter."""
    return 97 <= letter <= 122


@jit(inline=True, part=True, norefs=True)
def first_run(bits: int) -> tuple[Any, int, int]:
    """Return the lowest run of one bits in a nonzero word: as mask, its first bit, and its end."""
    begin = trailing_zeros(bits)
    carried = bits + (ONE << np.uint64(begin))
    end = trailing_zeros(carried) if carried != 0 else 64
    return bits & ~carried, begin, end


@jit(inline=True, part=True, norefs=True)
def mark_vector(text: Bytes, at: int, packed: Bytes, found: FoundMarks, out: Marks) -> FoundMarks:
    """Find and write the marks of VECTOR_BYTES letters from `at` on; see `mark_piece`."""
    odd, low = found
    letters = load(text, at, OF_BYTES)
    are_low = both(letters > 96, letters < 123)
    upper = select(are_low, letters - 32, letters)
    bits = bits_of(are_low)
    turns = (bits ^ (bits << ONE | np.uint64(low.is_low))) & ALL_LANES
    while turns != 0:
        low = toggle_case(low, at + trailing_zeros(turns), out)
        turns &= turns - ONE
    bits = bits_of(upper == expected_bases(upper)) ^ ALL_LANES
    while bits != 0:
        letter = upper_of(int(text[at + trailing_zeros(bits)]))
        run, begin, end = first_run(bits_of(upper == letter) & bits)
        odd = extend_run(odd, at + begin, at + end, letter, out)
        clear_codes(packed, at + begin, at + end)
        bits ^= run
    return FoundMarks(odd, low)


@jit(inline=True, part=True, norefs=True)
def upper_of(letter: int) -> int:
    """Return a letter in upper case."""
    return letter - 32 if is_low(letter) else letter


@jit(inline=True, part=True, norefs=True)
def clear_codes(packed: Bytes, begin: int, end: int) -> None:
    """Set the packed base codes of letters [begin, end) to 0."""
    first, last = begin >> 2, end - 1 >> 2
    before, behind = 0xFF00 >> (2 * (begin & 3)) & 255, 0x3F >> (2 * (end - 1 & 3))
    if first == last:
        packed[first] &= before | behind
        return
    packed[first] &= before
    packed[last] &= behind
    for i in range(first + 1, last):
        packed[i] = 0


@jit(inline=True, part=True, norefs=True)
def mark_piece(
    text: Bytes, begin: int, end: int, packed: Bytes, found: FoundMarks, out: Marks
) -> FoundMarks:
    """Find and write the marks of text[begin:end]; clear the packed codes of exceptions.

    The first run may extend the last one before.

    begin : a multiple of VECTOR_BYTES; out : buffers, SLACK bytes longer than the marks may be
    """
    odd, low = found
    if low.end != begin:  # the skipped pieces have no lower case
        low = close_case(low, out)
    found, at = FoundMarks(odd, low), begin
    while at + VECTOR_BYTES <= end and has_space(found, out):
        found = mark_vector(text, at, packed, found, out)
        at += VECTOR_BYTES
    if has_space(found, out):
        found = mark_rest(text, at, end, packed, found, out)
    odd, low = found
    return FoundMarks(odd, Turns(low.is_low, low.last, end, low.used))


@jit(inline=True, part=True, norefs=True)
def mark_rest(
    text: Bytes, begin: int, end: int, packed: Bytes, found: FoundMarks, out: Marks
) -> FoundMarks:
    """Find and write the marks of fewer than VECTOR_BYTES letters; see `mark_piece`."""
    odd, low = found
    for i in range(begin, end):
        letter = int(text[i])
        if is_low(letter) != low.is_low:
            low = toggle_case(low, i, out)
        letter = upper_of(letter)
        if not is_base(letter):
            odd = extend_run(odd, i, i + 1, letter, out)
            clear_codes(packed, i, i + 1)
    return FoundMarks(odd, low)


@jit(inline=True, part=True, norefs=True)
def has_space(found: FoundMarks, out: Marks) -> bool:
    """Return True if the buffers have space for the marks of another vector of letters."""
    odd, low = found
    return bool(odd.used + SLACK <= out.exceptions.size and low.used + SLACK <= out.cases.size)


@jit(norefs=True)
def put_exceptions(data: Bytes, out: Bytes) -> bool:
    """Overwrite letters by stored exceptions; return True if an encoder can have written these."""
    at, place = 0, 0
    while at < data.size:
        gap, at = get_leb128(data, at)
        if at == WRONG:
            return False
        length, at = get_leb128(data, at)
        if at == WRONG or at >= data.size or place + gap + length >= out.size:
            return False
        value = int(data[at])
        if is_base(value) or is_low(value):
            return False
        place += gap
        for i in range(place, place + length + 1):
            out[i] = value
        place, at = place + length + 1, at + 1
    return True


@jit(norefs=True)
def put_cases(data: Bytes, out: Bytes) -> bool:
    """Convert stored runs to lower case; return True if an encoder could have written these."""
    at, place = 0, 0
    while at < data.size:
        gap, at = get_leb128(data, at)
        if at == WRONG:
            return False
        length, at = get_leb128(data, at)
        if at == WRONG or place + gap + length >= out.size:
            return False
        place += gap
        if not lower_run(out, place, place + length + 1):
            return False
        place += length + 1
    return True


@jit(inline=True, part=True, norefs=True)
def lower_run(out: Bytes, begin: int, end: int) -> bool:
    """Convert letters [begin, end) to lower case; return True if all were upper case letters."""
    at, are_letters = begin, True
    while at < end and at + VECTOR_BYTES <= out.size:
        letters, lanes = load(out, at, OF_BYTES), first_lanes(min(end - at, VECTOR_BYTES), OF_BYTES)
        others = bits_of(both(letters > 64, letters < 91)) ^ ALL_LANES
        are_letters &= others & bits_of(lanes) == 0
        store(out, at, select(lanes, letters | 32, letters))
        at += VECTOR_BYTES
    for i in range(at, end):
        are_letters &= 65 <= int(out[i]) <= 90
        out[i] |= 32
    return are_letters


def put_marks(marks: Marks, text: Bytes) -> None:
    """Apply marks to upper case bases of a text, (n,) uint8; raise CorruptChunk if invalid."""
    if marks.exceptions.size and not put_exceptions(marks.exceptions, text):
        raise CorruptChunk("its exceptions are not such")
    if marks.cases.size and not put_cases(marks.cases, text):
        raise CorruptChunk("its runs of lower case are not such")
