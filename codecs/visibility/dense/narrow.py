"""Host coding of blocks of kind 4: doubles with float32 values, coded as float32.

Many programs write such data. As doubles they have 29 bits without information each, predictions
that are not float32 values, and twice as many bytes. SPEC.md, "Kind 4".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.backends.host import BlockCoding
from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.per_thread import ThreadScratch
from gangsaw.codecs.core.numba.bits import pointer
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.visibility.arrays import Words
from gangsaw.codecs.visibility.dense import cpu as dense
from gangsaw.codecs.visibility.lanes.table import Lanes, gather_block, scatter_block
from gangsaw.codecs.visibility.params import Params
from gangsaw.codecs.visibility.words import raw

KIND = 4
WIDE, NARROW = 8, 4  # bytes of a word
NOT_WIDE = "it holds narrowed doubles, and the array has none"
MOVED = 896  # difference of the exponent biases of double and float32
PIECE = 1024  # words between checks that all of them fit

_per_thread = ThreadScratch()


def encode_narrow(block: NumpyArray) -> tuple[Payload, ...]:
    """Encode a block, doubles as float32 (kind 4) if all are exact, else as words (kind 3).

    Return the parts of the payload.

    The parts lie in memory of this thread that the next call reuses.

    block : (time, frequency, ...) of any byte order and strides
    """
    table, lanes = dense.reused_table(block)
    gather_block(block, lanes, table)
    return encode_narrow_table(table, lanes)


def encode_narrow_table(table: Words, lanes: Lanes) -> tuple[Payload, ...]:
    """Return the result of `encode_narrow` for a table of words, (n_strips * n_rows, 32)."""
    if table.itemsize == WIDE:
        narrow = _narrow_like(table)
        if narrow_words(table.ravel(), narrow.ravel()):
            return dense.encode_table(narrow, lanes, KIND)
    return dense.encode_table(table, lanes)


def decode_narrow(data: Payload, block: NumpyArray) -> None:
    """Fill a block (time, frequency, ...) of any byte order and strides from a payload of kind 4.

    Raises
    ------
    CorruptChunk : the payload is not a block of this kind, shape and dtype
    """
    table, lanes = dense.reused_table(block)
    if table.itemsize != WIDE:
        raise CorruptChunk(NOT_WIDE)
    narrow = _narrow_like(table)
    dense.decode_table(data, narrow, lanes)
    widen_words(narrow.ravel(), table.ravel())
    scatter_block(table, lanes, block)


def encode_block(block: NumpyArray, params: Params, buffer: Payload) -> Encoded:
    """Encode a block as kind 4 or 3; see `encode_narrow`."""
    return Encoded(encode_narrow(block))


def decode_block(coded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    """Fill a block from a payload; see `decode_narrow`."""
    decode_narrow(coded.data, block)


CODING = BlockCoding(encode_block, decode_block, likely=raw.most_bytes, lends=True)


def _narrow_like(table: Words) -> Words:
    return _per_thread.array("narrow", table.size, "u4")[: table.size].reshape(table.shape)


@jit(inline=True, part=True, norefs=True)
def is_end(field: np.uint64 | np.int64) -> Any:
    """Return True for the least and the largest exponent field, which become those of float32."""
    return (field + np.uint64(1) & np.uint64(2047)) < np.uint64(2)


@jit(inline=True, part=True, norefs=True)
def fits(word: np.uint64) -> Any:
    """Return True if a double, given as its bits, is exactly a float32."""
    field = word >> np.uint64(52) & np.uint64(2047)
    is_near = field - np.uint64(MOVED + 1) < np.uint64(254)
    return (is_end(field) | is_near) & (word & np.uint64(0x1FFFFFFF) == np.uint64(0))


@jit(inline=True, part=True, norefs=True)
def narrowed(word: np.uint64) -> Any:
    """Return the float32 bits of a double that fits."""
    field = word >> np.uint64(52) & np.uint64(2047)
    exponent = (field if is_end(field) else field - np.uint64(MOVED)) & np.uint64(255)
    sign, fraction = word >> np.uint64(63), word >> np.uint64(29) & np.uint64(0x7FFFFF)
    return np.uint32(sign << np.uint64(31) | exponent << np.uint64(23) | fraction)


@jit(inline=True, part=True, norefs=True)
def widened(word: int | np.int64) -> Any:
    """Return the double bits of a float32: the inverse of `narrowed`, for any words."""
    field = word >> 23 & 255
    exponent = field << 3 | field & 7 if field == 0 or field == 255 else field + MOVED
    sign, fraction = np.uint64(word >> 31), np.uint64(word & 0x7FFFFF)
    high = sign << np.uint64(63) | np.uint64(exponent) << np.uint64(52)
    return high | fraction << np.uint64(29)


@jit(norefs=True)
def narrow_words(words: NumpyArray, out: NumpyArray) -> bool:
    """Fill (n,) uint32 from (n,) uint64 doubles; return True if all fit, else stop early.

    Bit fields are moved and no number is converted. NaN payloads are preserved, and denormals map
    only to those with the same fraction field.
    """
    for first in range(0, words.size, PIECE):
        wrong, word_of, out_of = np.uint64(0), pointer(words, first), pointer(out, first)
        for i in range(min(PIECE, words.size - first)):
            word = np.uint64(word_of[i])
            wrong |= np.uint64(not fits(word))
            out_of[i] = narrowed(word)
        if wrong:
            return False
    return True


@jit(norefs=True)
def widen_words(words: NumpyArray, out: NumpyArray) -> None:
    """Fill (n,) uint64 with the doubles of (n,) uint32: the inverse, for any words."""
    for i in range(words.size):
        out[i] = widened(np.int64(words[i]))
