"""Blocks of kind 0: the words as they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility.params import Params
from gangsaw.codecs.visibility.words.arrange import from_words, words_layout

KIND = 0


def encode(words: npt.NDArray[Any], params: Params) -> npt.NDArray[np.uint8]:
    """Return the payload of a block, its kind included, (n,) uint8."""
    return np.concatenate(encode_parts(words))


def encode_parts(words: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return the parts of the same payload; the second is of the memory of the words."""
    stored = words.astype(words.dtype.newbyteorder("<"), copy=False)
    return np.array([KIND], np.uint8), stored.ravel().view(np.uint8)


def decode(data: npt.NDArray[np.uint8], words: npt.NDArray[Any], params: Params) -> None:
    """Fill words (component, rest, frequency, time) from a payload; CorruptChunk as `words_of`."""
    words[...] = words_of(data, words.shape, words.dtype)


def decode_block(data: npt.NDArray[np.uint8], block: npt.NDArray[Any]) -> None:
    """Fill a block (time, frequency, ...) from a payload; CorruptChunk as `words_of`."""
    shape, dtype = words_layout(block)
    from_words(words_of(data, shape, np.dtype(dtype)).astype(dtype, copy=False), block)


def words_of(
    data: npt.NDArray[np.uint8], shape: tuple[int, ...], dtype: np.dtype[Any]
) -> npt.NDArray[Any]:
    """Return the words in a payload, where they are.

    Raises
    ------
    CorruptChunk : its length is wrong
    """
    expected = math.prod(shape) * dtype.itemsize
    if data.size != 1 + expected:
        raise CorruptChunk(f"{expected} bytes of words expected, there are {data.size - 1}")
    return data[1:].view(dtype.newbyteorder("<")).reshape(shape)
