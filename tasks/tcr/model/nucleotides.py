"""Nucleotides as 4-bit sets of bases, which represent IUPAC ambiguity codes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.alphabet import LETTER_OF_SET
from gangsaw.codecs.core.nucleotides.codes import SET_OF_LETTER

Codes = npt.NDArray[np.uint8]

NUCLEOTIDES = ("A", "T", "C", "G")  # order of the bits, and of every composition


def encoded(sequence: str | bytes) -> Codes:
    """Return the 4-bit codes of a sequence; 0, which matches nothing, for invalid characters."""
    raw = sequence if isinstance(sequence, bytes) else sequence.encode("latin-1", "replace")
    return SET_OF_LETTER[np.frombuffer(raw, np.uint8)]


def decoded(codes: Codes) -> str:
    """Return 4-bit codes as IUPAC text, with T for T and U; "?" for code 0."""
    return "".join(LETTER_OF_SET.get(code, "?") for code in codes.tolist())


def strict(sequence: str, what: str) -> Codes:
    """Return the codes of a sequence that must consist of IUPAC nucleotide codes.

    Raises
    ------
    BadParams : it is empty or has an invalid character; the message begins with `what`
    """
    codes = encoded(sequence)
    if not len(codes):
        raise BadParams(f"{what} is empty")
    if wrong := np.flatnonzero(codes == 0).tolist():
        at = wrong[0]
        raise BadParams(f"{what}: {sequence[at]!r} at position {at + 1} is no nucleotide")
    return codes
