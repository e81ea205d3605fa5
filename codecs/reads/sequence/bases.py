"""Codes of a text's bases, search for its exceptions, and copies of runs of bases."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.nucleotides.alphabet import BASES, NOT_A_BASE
from gangsaw.codecs.core.nucleotides.kernels import encode_dna
from gangsaw.codecs.core.nucleotides.packing import build_unpacking_table
from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import load, static, store
from gangsaw.codecs.core.numba.words import load_le64

SPARE = 64  # bytes after codes and texts that kernels may read
BYTES, VECTOR = 32, static(32)  # bytes per copy
FOURTHS = np.uint64(0x0404040404040404)

# the bases of the four codes of a byte, the high ones first
FOURS = build_unpacking_table(BASES).view("<u4").astype(np.uint64).ravel()


def read_only(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return a read-only view, so that kernels are compiled for one kind of array only."""
    data = data.view()
    data.flags.writeable = False
    return data


def to_base_codes(text: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return base codes of (n,) bytes, 0..3 for A C G T; NOT_A_BASE for others and SPARE more."""
    codes = np.full(text.size + SPARE, NOT_A_BASE, np.uint8)
    encode_dna(read_only(text), codes)
    return codes


@jit(inline=True, part=True, norefs=True)
def next_exception(codes: Bytes, at: int, end: int) -> Any:
    """Return the first index from `at` on that is no base, or `end`; reads SPARE bytes beyond."""
    while at < end:
        marks = load_le64(codes, at) & FOURTHS
        if marks:
            return min(at + (trailing_zeros(marks) >> 3), end)
        at += 8
    return end


@jit(inline=True, part=True, norefs=True)
def copy_bases(source: Bytes, begin: int, out: Bytes, place: int, n: int, stop: int) -> None:
    """Copy n bytes from source[begin:] to out[place:], in vectors of BYTES bytes.

    BYTES more may be read, and written up to out[stop].
    """
    if place + n + BYTES <= stop:
        for i in range(0, n, BYTES):
            store(out, place + i, load(source, begin + i, VECTOR))
    else:
        for i in range(n):
            out[place + i] = source[begin + i]
