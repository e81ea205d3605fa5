"""What two bits a base cannot say: runs of other letters, and runs of lower case. SPEC.md, Block.

Only pieces in which a test found such letters are looked at. Genomes have them in long runs (N,
masked repeats): words of 8 letters inside of a run, or outside of all, are told at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.bits import load_raw64
from gangsaw.codecs.core.numba.jit import jit, jit_norefs_inline
from gangsaw.codecs.dna.letters.numbers import WRONG, get_number, put_number
from gangsaw.codecs.dna.letters.pack import LOWER, ONES, PIECE, strangeness

MOST_RECORD = 11  # bytes of two numbers and a letter
NOTHING = -1
A, C, G, T = b"ACGT"


class Marks(NamedTuple):
    """Runs as they are stored.

    Attributes
    ----------
    exceptions, cases : (n,) uint8 each
    """

    exceptions: NumpyArray
    cases: NumpyArray


class Run(NamedTuple):
    """Where a run that is open began, or NOTHING; and where the one before it ended."""

    begin: int
    value: int
    before: int


@jit_norefs_inline
def closed(run: Run, at: int, out: Any, used: int, has_value: bool) -> tuple[Run, int]:
    """Write a run that ends at a place, if one is open; return what is open, and bytes used."""
    if run.begin == NOTHING:
        return run, used
    used = put_number(out, used, run.begin - run.before)
    used = put_number(out, used, at - run.begin - 1)
    if has_value:
        out[used] = run.value
        used += 1
    return Run(NOTHING, 0, at), used


@jit_norefs_inline
def is_base(letter: int) -> bool:
    """Whether an upper case letter is a base."""
    return letter in (A, C, G, T)


@jit
def find_marks(text: Any, dirty: Any, packed: Any, exceptions: Any, cases: Any) -> Any:
    """Write the marks of the pieces listed, and set codes of exceptions to 0.

    text : (n,) uint8; dirty : (n_pieces,) int64, ascending; packed : (n / 4 + 1,) uint8 or more;
    exceptions, cases : (n + MOST_RECORD,) uint8. Returns bytes of both, or NOTHING twice where
    either is longer than the text.
    """
    odd, low = Run(NOTHING, 0, 0), Run(NOTHING, 0, 0)
    n_odd, n_low, end = 0, 0, 0
    for piece in dirty:
        if piece * PIECE != end:
            odd, n_odd = closed(odd, end, exceptions, n_odd, True)
            low, n_low = closed(low, end, cases, n_low, False)
        end, i = min(text.size, (piece + 1) * PIECE), piece * PIECE
        while i < end:
            if i & 7 == 0 and i + 8 <= end and is_all_alike(text, i, odd, low):
                if odd.begin != NOTHING:
                    packed[i >> 2] = packed[(i >> 2) + 1] = 0
                i += 8
                continue
            letter = int(text[i])
            if 97 <= letter <= 122:
                letter -= 32
                if low.begin == NOTHING:
                    low = Run(i, 0, low.before)
            else:
                low, n_low = closed(low, i, cases, n_low, False)
            if odd.begin != NOTHING and letter != odd.value:
                odd, n_odd = closed(odd, i, exceptions, n_odd, True)
            if not is_base(letter):
                if odd.begin == NOTHING:
                    odd = Run(i, letter, odd.before)
                packed[i >> 2] &= ~(3 << (6 - 2 * (i & 3))) & 255
            if n_odd > text.size or n_low > text.size:
                return NOTHING, NOTHING
            i += 1
    odd, n_odd = closed(odd, end, exceptions, n_odd, True)
    low, n_low = closed(low, end, cases, n_low, False)
    return n_odd, n_low


@jit_norefs_inline
def is_all_alike(text: Any, i: int, odd: Run, low: Run) -> bool:
    """Whether 8 letters go on with the runs that are open, or with none of either kind."""
    word = load_raw64(text, i)
    case = np.uint64(LOWER) if low.begin != NOTHING else np.uint64(0)
    if odd.begin != NOTHING:
        letter = np.uint64(odd.value)
        is_letter = 65 <= odd.value <= 90  # other bytes have no lower case
        is_alike = word == letter * np.uint64(ONES) | case
        return bool(is_alike and (is_letter or low.begin == NOTHING))
    return bool(strangeness(word) == case)


@jit
def put_exceptions(data: Any, out: Any) -> bool:
    """Overwrite letters by exceptions; return whether these are such as an encoder writes."""
    at, place = 0, 0
    while at < data.size:
        gap, at = get_number(data, at)
        if at == WRONG:
            return False
        length, at = get_number(data, at)
        if at == WRONG or at >= data.size or place + gap + length >= out.size:
            return False
        value = data[at]
        if is_base(value) or 97 <= value <= 122:
            return False
        place += gap
        out[place : place + length + 1] = value
        place, at = place + length + 1, at + 1
    return True


@jit
def put_cases(data: Any, out: Any) -> bool:
    """Make runs of letters lower case; return whether these are such as an encoder writes."""
    at, place = 0, 0
    while at < data.size:
        gap, at = get_number(data, at)
        if at == WRONG:
            return False
        length, at = get_number(data, at)
        if at == WRONG or place + gap + length >= out.size:
            return False
        place += gap
        are_letters = True
        for i in range(place, place + length + 1):
            are_letters &= 65 <= out[i] <= 90
            out[i] |= 32
        if not are_letters:
            return False
        place += length + 1
    return True


def put_marks(marks: Marks, text: NumpyArray) -> None:
    """Put marks into upper case bases, (n,) uint8; CorruptChunk for what no encoder writes."""
    if marks.exceptions.size and not put_exceptions(marks.exceptions, text):
        raise CorruptChunk("its exceptions are not such")
    if marks.cases.size and not put_cases(marks.cases, text):
        raise CorruptChunk("its runs of lower case are not such")
