"""RNA: text that has U where DNA has T. Codecs say in their SPEC.md whether both are exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Array

Octets: TypeAlias = "npt.NDArray[np.uint8]"

PIECE = 1 << 16  # letters of a host that are looked at together: what they need stays small
THYMINE, URACIL = ord("T"), ord("U")
UPPER = 0xDF  # the bits of a letter without that of its case
EITHER = 0x21  # bits in which T, U, t and u differ


def has_uracil(text: Array, piece: int = PIECE) -> bool:
    """Whether a text, (n,) uint8 on either backend, has more U than T, of either case."""
    surplus = 0
    for letters in _pieces(text, piece):
        upper = letters & UPPER
        surplus += int((upper == URACIL).sum()) - int((upper == THYMINE).sum())
    return surplus > 0


def holds_uracil(text: Array) -> bool:
    """Whether a text, (n,) uint8 on either backend, has U: most have none, which is soon seen."""
    return bool((cast("Octets", text) == URACIL).any())


def exchange(text: Array, piece: int = PIECE) -> None:
    """Write T as U and U as T, of either case: twice is as before."""
    for letters in _pieces(text, piece):
        letters ^= (letters | EITHER) == (URACIL | EITHER)


def exchanged(text: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return a copy of a text of the host with T and U exchanged."""
    copy = text.copy()
    exchange(copy)
    return copy


def _pieces(text: Array, piece: int) -> Iterator[Octets]:
    octets = cast("Octets", text)  # CuPy's arrays have the same operators
    yield from (octets[at : at + piece] for at in range(0, text.shape[0], piece))
