"""Blocks of kind 0: the words as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility.params import Params

KIND = 0


def encode(words: npt.NDArray[Any], params: Params) -> npt.NDArray[np.uint8]:
    """Return the payload of a block, its kind included, (n,) uint8."""
    return np.concatenate(encode_parts(words))


def encode_parts(words: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return the parts of the same payload; the second is of the memory of the words."""
    stored = words.astype(_stored(words), copy=False)
    return np.array([KIND], np.uint8), stored.ravel().view(np.uint8)


def decode(data: npt.NDArray[np.uint8], words: npt.NDArray[Any], params: Params) -> None:
    """Fill words (component, rest, frequency, time) from a payload.

    Raises
    ------
    CorruptChunk : its length is wrong
    """
    if data.size != 1 + words.nbytes:
        raise CorruptChunk(f"{words.nbytes} bytes of words expected, there are {data.size - 1}")
    words.ravel()[:] = data[1:].view(_stored(words))


def _stored(words: npt.NDArray[Any]) -> np.dtype[Any]:
    return words.dtype.newbyteorder("<")
