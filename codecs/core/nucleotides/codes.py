"""Conversion of letters to codes and sets with tables, for whole arrays; kernels have functions."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.nucleotides.alphabet import BASES, COMPLEMENT, NOT_A_BASE, SETS, paired

LETTER_OF_CODE = np.frombuffer(BASES + b"N", np.uint8)  # of codes 0 to 3, and of NOT_A_BASE
COMPLEMENT_OF_CODE = np.array([3, 2, 1, 0, NOT_A_BASE], np.uint8)
COMPLEMENT_OF_LETTER = np.frombuffer(COMPLEMENT, np.uint8)
COMPLEMENT_OF_SET = np.array([paired(bits) for bits in range(16)], np.uint8)


def code_table(order: bytes = BASES, *, both_cases: bool) -> Bytes:
    """Build the table of base codes by letter, (256,): index in `order`, or NOT_A_BASE.

    With both cases, U has the code of T. With upper case only, each code has a single letter.
    """
    table = np.full(256, NOT_A_BASE, np.uint8)
    for code, letter in enumerate(order.decode()):
        table[ord(letter)] = code
        if both_cases:
            table[ord(letter.lower())] = code
    if both_cases and b"T" in order:
        table[[ord("U"), ord("u")]] = table[ord("T")]
    return table


def _set_table() -> Bytes:
    table = np.zeros(256, np.uint8)
    for letter, bits in SETS.items():
        table[[ord(letter), ord(letter.lower())]] = bits
    return table


CODES = code_table(both_cases=True)
UPPER_CODES = code_table(both_cases=False)  # lower case is NOT_A_BASE
SET_OF_LETTER = _set_table()  # 0 for bytes that are no nucleotide letters


def reverse_complement_bases(bases: Bytes) -> Bytes:
    """Return the reverse complement of (n,) uint8 letters, preserving case and IUPAC letters."""
    return COMPLEMENT_OF_LETTER[bases[::-1]]


def reverse_complement_codes(codes: Bytes) -> Bytes:
    """Return the reverse complement of (n,) uint8 base codes 0 to 3; NOT_A_BASE stays."""
    found: Bytes = np.minimum(codes[::-1] ^ np.uint8(3), np.uint8(NOT_A_BASE))
    return found


def reverse_complement_sets(sets: Bytes) -> Bytes:
    """Return the reverse complement of (n,) uint8 sets of bases, one bit per base."""
    return COMPLEMENT_OF_SET[sets[::-1]]
