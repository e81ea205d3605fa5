"""Blocks of kind 0: raw words."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.backends.host import BlockCoding
from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility.params import Params
from gangsaw.codecs.visibility.words.arrange import (
    from_words,
    reused_words,
    to_words,
    words_layout,
)

KIND = 0


def encode_raw(
    block: NumpyArray,
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return the parts of the raw payload of a block (time, frequency, ...).

    The second part lies in memory of this thread that the next call reuses.
    """
    words = reused_words(block)
    to_words(block, words)
    return split_parts(words)


def split_parts(words: NumpyArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return the parts of a raw payload; the second one is a view of the words if possible."""
    stored = words.astype(words.dtype.newbyteorder("<"), copy=False)
    return np.array([KIND], np.uint8), stored.ravel().view(np.uint8)


def decode_raw(data: npt.NDArray[np.uint8], block: NumpyArray) -> None:
    """Copy a raw payload to its block (time, frequency, ...).

    Raise CorruptChunk like `words_of`.
    """
    shape, dtype = words_layout(block)
    from_words(words_of(data, shape, np.dtype(dtype)).astype(dtype, copy=False), block)


def encode_raw_block(block: NumpyArray) -> Encoded:
    """Encode a block as its raw words, in memory of this thread."""
    return Encoded(encode_raw(block))


def encode_block(block: NumpyArray, params: Params, buffer: Payload) -> Encoded:
    """Encode a block as its raw words; see `encode_raw_block`."""
    return encode_raw_block(block)


def decode_block(coded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    """Copy a raw payload to its block (time, frequency, ...).

    Raise CorruptChunk like `words_of`.
    """
    decode_raw(coded.data, block)


def most_bytes(n_bytes: int) -> int:
    """Return the most bytes of a payload of any kind: none is longer than raw."""
    return 1 + n_bytes


CODING = BlockCoding(encode_block, decode_block, likely=most_bytes, lends=True)


def words_of(data: npt.NDArray[np.uint8], shape: tuple[int, ...], dtype: Dtype) -> NumpyArray:
    """Return the words of a raw payload, as a view.

    Raises
    ------
    CorruptChunk : the length is wrong
    """
    expected = math.prod(shape) * dtype.itemsize
    if data.size != 1 + expected:
        raise CorruptChunk(f"{expected} bytes of words expected, there are {data.size - 1}")
    return data[1:].view(dtype.newbyteorder("<")).reshape(shape)
