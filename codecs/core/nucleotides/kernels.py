"""Letters and codes in kernels, one letter or a word of eight at a time. See nucleotides.cuh.

Bits 1 and 2 of a letter distinguish A, C, G and T in both cases, in the order of a Gray code.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64
from gangsaw.codecs.core.nucleotides import alphabet
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import load_le64

NOT_A_BASE = alphabet.NOT_A_BASE
BASES = int.from_bytes(alphabet.BASES, "little")  # the letters of codes 0 to 3
ONES, LOWS = np.uint64(0x0101010101010101), np.uint64(0x7F7F7F7F7F7F7F7F)
GATHER = np.uint64(0x0102040810204080)  # moves bit 0 of byte k to bit 56 + k
U = np.uint64


@jit(inline=True, part=True, norefs=True)
def letter_of(code: Int64) -> Any:
    """Return the letter of a base code: A, C, G, T for 0 to 3."""
    return BASES >> 8 * code & 255


@jit(inline=True, part=True, norefs=True)
def code_of(letter: Int64) -> Any:
    """Return the code of a letter A, C, G or T."""
    return (letter >> 1 ^ letter >> 2) & 3


@jit(inline=True, part=True, norefs=True)
def is_base(letter: Int64) -> bool:
    """Return True if a byte is A, C, G or T."""
    # with a tuple of names, vectors take a sixth longer
    return letter == 65 or letter == 67 or letter == 71 or letter == 84


@jit(inline=True, part=True, norefs=True)
def is_nucleotide(letter: Int64) -> bool:
    """Return True if a byte is A, C, G, T or U; U has the code of T."""
    return letter == 65 or letter == 67 or letter == 71 or letter >> 1 == 42


@jit(inline=True, part=True, norefs=True)
def paired_code(code: Int64) -> Any:
    """Return the code of the complement, or NOT_A_BASE unchanged."""
    return 3 - code if code < NOT_A_BASE else code


@jit(restrict=True)
def encode_dna(text: Bytes, codes: Bytes) -> None:
    """Fill base codes of DNA letters, NOT_A_BASE for letters other than upper case A, C, G, T.

    It works in vectors: look-ups in a table of 256 codes took a tenth of the time of encoding.
    """
    for i in range(text.size):
        codes[i] = code_of(text[i]) if is_base(text[i]) else NOT_A_BASE


@jit(restrict=True)
def encode_nucleotides(text: Bytes, codes: Bytes) -> None:
    """Fill base codes of upper case DNA or RNA letters, NOT_A_BASE for others; U is coded as T."""
    for i in range(text.size):
        codes[i] = code_of(text[i]) if is_nucleotide(text[i]) else NOT_A_BASE


@jit(inline=True)
def eight_of(text: Bytes, begin: int, n: int) -> Any:
    """Load n <= 8 letters as a 64-bit word, the first one lowest; the other bytes are undefined."""
    if begin + 8 <= text.size:
        return load_le64(text, begin)
    word = U(0)
    for k in range(n):
        word |= U(text[begin + k]) << U(8 * k)
    return word


@jit(inline=True)
def codes_of_eight(word: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Convert eight letters in a word to base codes; return them, and 1 for each letter no base.

    Both are words with a byte per letter. Codes are bits 1 and 2. A letter is no base if it differs
    from the letter of its code.
    """
    low = (word >> U(1) ^ word >> U(2)) & ONES
    high = (word >> U(2) ^ word >> U(3)) & ONES
    made = U(0x41) * ONES + U(2) * low + U(6) * high + U(11) * (low & high)
    differ = made ^ word
    return low | high << U(1), (((differ & LOWS) + LOWS) | differ) >> U(7) & ONES


@jit(inline=True)
def as_dna(word: np.uint64) -> np.uint64:
    """Replace U by T in eight letters of a word."""
    differ = word ^ U(0x55) * ONES
    is_other = ((differ & LOWS) + LOWS | differ) >> U(7) & ONES
    return word ^ ONES ^ is_other


@jit(inline=True)
def pack_codes(codes: np.uint64) -> np.uint64:
    """Pack eight base codes, one per byte of a word, to 16 bits, the lowest byte's code on top."""
    codes = (codes << U(2) | codes >> U(8)) & U(0x000F000F000F000F)
    codes = (codes << U(4) | codes >> U(16)) & U(0x000000FF000000FF)
    return (codes << U(8) | codes >> U(32)) & U(0xFFFF)


@jit(inline=True)
def pack_marks(marks: np.uint64) -> np.uint64:
    """Pack eight bytes 0 or 1 of a word to eight bits, the lowest byte first."""
    return marks * GATHER >> U(56)
