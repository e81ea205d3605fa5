"""Letters of nucleotides, sets of bases for IUPAC letters, and complements; without NumPy.

A base has a code of 0 to 3, in the order of BASES; codes of complements add up to 3. A set of
bases has a bit for each of them.
"""

from __future__ import annotations

BASES = b"ACGT"
NOT_A_BASE = 4  # the code of a letter that is no base

A, T, C, G = 1, 2, 4, 8
R, Y, S, W, K, M = A | G, C | T, C | G, A | T, G | T, A | C
B, D, H, V, N = C | G | T, A | G | T, A | C | T, A | C | G, A | C | G | T
# IUPAC-IUB (1984); U is T
SETS = dict(zip("ATCGURYSWKMBDHVN", (A, T, C, G, T, R, Y, S, W, K, M, B, D, H, V, N), strict=True))
LETTER_OF_SET = {bits: letter for letter, bits in SETS.items() if letter != "U"}


def both_cases(bases: bytes) -> bytes:
    """Return the letters in upper case, followed by the same letters in lower case."""
    return bases.upper() + bases.lower()


def paired(bits: int) -> int:
    """Return the complement of a set of bases as bits (A 1, T 2, C 4, G 8): A with T, C with G."""
    return (bits & 5) << 1 | (bits & 10) >> 1


def _complement() -> bytes:
    """Build the table of complements of nucleotide letters, 256 bytes for `bytes.translate`.

    Case is preserved; other bytes such as "-" stay.
    """
    table = bytearray(range(256))
    for letter, bits in SETS.items():
        partner = LETTER_OF_SET[paired(bits)]
        table[ord(letter)], table[ord(letter.lower())] = ord(partner), ord(partner.lower())
    return bytes(table)


COMPLEMENT = _complement()  # for `bytes.translate`


def reverse_complement_text(text: bytes) -> bytes:
    """Return the reverse complement of nucleotide letters, preserving case and IUPAC letters."""
    return text.translate(COMPLEMENT)[::-1]
