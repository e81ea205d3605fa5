"""Nucleotides as 4-bit sets, so that IUPAC ambiguity codes are what they mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams

Codes = npt.NDArray[np.uint8]

A, T, C, G = 1, 2, 4, 8
R, Y, S, W, K, M = A | G, C | T, C | G, A | T, G | T, A | C
B, D, H, V, N = C | G | T, A | G | T, A | C | T, A | C | G, A | C | G | T
IUPAC = dict(zip("ATCGURYSWKMBDHVN", (A, T, C, G, T, R, Y, S, W, K, M, B, D, H, V, N), strict=True))
NUCLEOTIDES = ("A", "T", "C", "G")  # the order of the bits, and of every composition


def _codes_of_bytes() -> Codes:
    """(256,) code of each ASCII byte, 0 where it is no letter of a nucleotide."""
    table = np.zeros(256, np.uint8)
    for letter, code in IUPAC.items():
        table[[ord(letter), ord(letter.lower())]] = code
    return table


def _complements() -> Codes:
    """(16,) complement of each code: A with T, C with G."""
    codes = np.arange(16)
    return ((codes & 5) << 1 | (codes & 10) >> 1).astype(np.uint8)


CODE_OF_BYTE = _codes_of_bytes()
COMPLEMENT = _complements()


def encoded(sequence: str | bytes) -> Codes:
    """Return the codes of a sequence, 0 for other letters (it matches nothing)."""
    raw = sequence if isinstance(sequence, bytes) else sequence.encode("latin-1", "replace")
    return CODE_OF_BYTE[np.frombuffer(raw, np.uint8)]


def decoded(codes: Codes) -> str:
    """Return the letters of codes, T for T or U; "?" for a code of 0."""
    letters = {code: letter for letter, code in IUPAC.items() if letter != "U"}
    return "".join(letters.get(code, "?") for code in codes.tolist())


def reverse_complement(codes: Codes) -> Codes:
    """Return the codes of the other strand, read in its own direction."""
    return COMPLEMENT[codes[::-1]]


def strict(sequence: str, what: str) -> Codes:
    """Return the codes of a sequence that must consist of nucleotide letters.

    Raises
    ------
    BadParams : it is empty or holds another letter; the message begins with `what`
    """
    codes = encoded(sequence)
    if not len(codes):
        raise BadParams(f"{what} is empty")
    if wrong := np.flatnonzero(codes == 0).tolist():
        at = wrong[0]
        raise BadParams(f"{what}: {sequence[at]!r} at position {at + 1} is no nucleotide letter")
    return codes


def ragged(parts: Sequence[Codes]) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Return all codes back to back, and where each part starts: (n + 1,)."""
    starts = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=starts[1:])
    joined: Codes = np.concatenate(parts) if parts else np.zeros(0, np.uint8)
    return joined, starts
