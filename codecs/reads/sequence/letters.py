"""Letters, their codes, and copies of runs of letters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.floats import load_le64
from gangsaw.codecs.core.numba.jit import jit_norefs_inline, jit_restrict
from gangsaw.codecs.core.numba.simd import load, static, store

NOT_A_BASE = 4  # code of every byte but A, C, G and T
SPARE = 64  # bytes behind codes and letters that kernels may read
BYTES, VECTOR = 32, static(32)  # that are copied at once
BASES = 0x54474341  # the letters of codes 0 to 3, the lowest byte first
FOURTHS = np.uint64(0x0404040404040404)

# the letters of the four codes of a byte, the high ones first
FOURS = np.array(
    [
        sum((BASES >> 8 * (four >> 6 - 2 * i & 3) & 255) << 8 * i for i in range(4))
        for four in range(256)
    ],
    np.uint64,
)


def read_only(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return bytes that nobody writes: kernels are compiled once, not for either sort of arrays."""
    data = data.view()
    data.flags.writeable = False
    return data


def codes_of(text: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the codes of (n,) letters, and SPARE more that are none of a base."""
    codes = np.full(text.size + SPARE, NOT_A_BASE, np.uint8)
    encode_letters(read_only(text), codes)
    return codes


@jit_restrict
def encode_letters(text: Any, codes: Any) -> None:
    """Fill the codes of letters, by vectors: a map of 256 codes took a tenth of all encoding."""
    for i in range(text.size):
        codes[i] = code_of(text[i]) if is_base(text[i]) else NOT_A_BASE


@jit_norefs_inline
def letter_of(code: Any) -> Any:
    """Letter of a code 0 to 3."""
    return BASES >> 8 * code & 255


@jit_norefs_inline
def code_of(letter: Any) -> Any:
    """Code of a letter A, C, G or T."""
    return (letter >> 1 ^ letter >> 2) & 3


@jit_norefs_inline
def is_base(letter: Any) -> Any:
    """Whether a byte is A, C, G or T."""
    return letter == 65 or letter == 67 or letter == 71 or letter == 84


@jit_norefs_inline
def next_exception(codes: Any, at: Any, end: Any) -> Any:
    """Place from `at` on that is no base, `end` where there is none; reads SPARE bytes beyond."""
    while at < end:
        marks = load_le64(codes, at) & FOURTHS
        if marks:
            return min(at + (trailing_zeros(marks) >> 3), end)
        at += 8
    return end


@jit_norefs_inline
def copy(source: Any, begin: int, out: Any, place: int, n: int, stop: int) -> None:
    """Copy n bytes, of which BYTES more may be read, and written as far as out[stop]."""
    if place + n + BYTES <= stop:
        for i in range(0, n, BYTES):
            store(out, place + i, load(source, begin + i, VECTOR))
    else:
        for i in range(n):
            out[place + i] = source[begin + i]
