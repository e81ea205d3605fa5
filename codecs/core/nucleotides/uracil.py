"""RNA: text with U instead of T. The SPEC.md of a codec defines whether it exchanges both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Array, Bytes

PIECE = 1 << 16  # letters per step on the host, which limits temporary arrays
THYMINE, URACIL = ord("T"), ord("U")
UPPER = 0xDF  # mask of a letter's bits without the case bit
EITHER = 0x21  # bits in which T, U, t and u differ


def has_uracil(text: Array, piece: int = PIECE) -> bool:
    """Return True if a text has more U than T, in both cases: that is, if it is RNA.

    text : (n,) uint8, in host or device memory
    piece : letters per step, which limits temporary arrays
    """
    surplus = 0
    for letters in _pieces(text, piece):
        upper = letters & UPPER
        surplus += int((upper == URACIL).sum()) - int((upper == THYMINE).sum())
    return surplus > 0


def holds_uracil(text: Array) -> bool:
    """Return True if a text, (n,) uint8 in host or device memory, contains an upper case U."""
    return bool((cast("Bytes", text) == URACIL).any())


def exchange(text: Array, piece: int = PIECE) -> None:
    """Exchange T and U of a text in place, in both cases; a second call restores the text.

    text : (n,) uint8, in host or device memory
    piece : letters per step, which limits temporary arrays
    """
    for letters in _pieces(text, piece):
        letters ^= (letters | EITHER) == (URACIL | EITHER)


def exchanged(text: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return a copy of a host text with T and U exchanged."""
    copy = text.copy()
    exchange(copy)
    return copy


def _pieces(text: Array, piece: int) -> Iterator[Bytes]:
    octets = cast("Bytes", text)  # CuPy's arrays have the same operators
    yield from (octets[at : at + piece] for at in range(0, text.shape[0], piece))
