"""Codes of a text, where its exceptions are, and copies of runs of letters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.nucleotides.kernels import encode_letters
from gangsaw.codecs.core.nucleotides.letters import BASES, NOT_A_BASE
from gangsaw.codecs.core.nucleotides.packing import letters_of_bytes
from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.floats import load_le64
from gangsaw.codecs.core.numba.jit import jit_norefs_inline
from gangsaw.codecs.core.numba.vectors.integers import load, static, store

SPARE = 64  # bytes behind codes and letters that kernels may read
BYTES, VECTOR = 32, static(32)  # that are copied at once
FOURTHS = np.uint64(0x0404040404040404)

# the letters of the four codes of a byte, the high ones first
FOURS = letters_of_bytes(BASES).view("<u4").astype(np.uint64).ravel()


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
