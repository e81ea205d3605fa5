"""CRC-32C by folding, in vectors of words.

A message is a polynomial over GF(2). Four vectors of 128-bit lanes process it in parallel: each
step multiplies their contents by x^(bits of a step) modulo P and adds the next bytes. The final
contents have the checksum of all bytes. (V. Gopal et al., Fast CRC Computation for Generic
Polynomials Using PCLMULQDQ Instruction, Intel 2009, with reflected bits.)
"""

from __future__ import annotations

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.numba.bits import prefetch
from gangsaw.codecs.core.numba.jit import folding_words, jit
from gangsaw.codecs.core.numba.vectors.folding import (
    VECTORS,
    first_lane,
    load_words,
    moved_on,
    read_by,
    read_octet,
)
from gangsaw.codecs.core.numba.vectors.integers import static

WORDS = folding_words()  # 64-bit words in a vector
STEP = 8 * WORDS * VECTORS  # bytes
CAN_FOLD = STEP > 0
OF_WORDS = static(WORDS)
ALL_ONES = (1 << 32) - 1
LINE, PAGE = 64, 4096  # bytes; the hardware prefetches no lines of another page


def fold_bytes(data: Bytes, before: int) -> tuple[int, int]:
    """Return the CRC-32C of data up to the last multiple of STEP bytes, and that multiple.

    Parameters
    ----------
    data : (n,) uint8, at least STEP
    before : CRC-32C of the bytes before them
    """
    end = data.size // STEP * STEP
    data = data.view()
    data.flags.writeable = False  # so that kernels are compiled for one type only
    return _folded(data, end, before ^ ALL_ONES, OF_WORDS) ^ ALL_ONES, end


@jit(norefs=True)
def _crc32c(data: Bytes) -> int:
    words = OF_WORDS
    end = data.size // STEP * STEP
    state = _folded(data, end, ALL_ONES, words) if end else ALL_ONES
    for i in range(end, data.size):
        state = read_octet(state, data[i])
    return state ^ ALL_ONES


@jit(norefs=True)
def _unknown(data: Bytes) -> int:
    return 0


# For kernels: CRC-32C of (n,) uint8; requires CAN_FOLD.
kernel_crc32c = _crc32c if STEP else _unknown


@jit(norefs=True)
def _folded(data: Bytes, end: int, crc: int, words: tuple[None, ...]) -> int:
    """Return the CRC-32C state after data[:end], a multiple of STEP bytes, from the state `crc`.

    words : `static` number of 64-bit words in a vector
    """
    side = 8 * len(words)
    a = load_words(data, 0, words) ^ first_lane(crc, words)
    b, c = load_words(data, side, words), load_words(data, 2 * side, words)
    d = load_words(data, 3 * side, words)
    for at in range(4 * side, end, 4 * side):
        for line in range(at, at + 4 * side, LINE):
            prefetch(data, line + PAGE)
        a = moved_on(a) ^ load_words(data, at, words)
        b = moved_on(b) ^ load_words(data, at + side, words)
        c = moved_on(c) ^ load_words(data, at + 2 * side, words)
        d = moved_on(d) ^ load_words(data, at + 3 * side, words)
    state: int = read_by(read_by(read_by(read_by(0, a), b), c), d)
    return state
