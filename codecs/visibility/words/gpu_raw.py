"""Blocks of kind 0 on a GPU: the device copies words into their order, and back."""

from __future__ import annotations

from collections.abc import Sequence

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import pull
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility.lanes.gpu_table import word_bytes
from gangsaw.codecs.visibility.params import Params, component_count
from gangsaw.codecs.visibility.words.raw import split_parts, words_of


def encode_raw_block(block: DeviceArray) -> Encoded:
    """Encode a CuPy block (time, frequency, ...) as its raw words, in host memory."""
    words = pull(cupy().ascontiguousarray(_words_in(block)))
    return Encoded(split_parts(_swapped(words, block)))


def decode_blocks(
    coded: Sequence[EncodedBlock], targets: Sequence[DeviceArray], params: Params
) -> dict[int, CorruptChunk]:
    """Decode raw payloads to CuPy blocks; return the errors of invalid ones by index.

    targets : CuPy views (time, frequency, ...) of one dtype
    """
    errors: dict[int, CorruptChunk] = {}
    for i, (own, target) in enumerate(zip(coded, targets, strict=True)):
        place = _words_in(target)
        try:
            words = words_of(own.data, place.shape, place.dtype).astype(place.dtype, copy=False)
        except CorruptChunk as error:
            errors[i] = error
        else:
            place[...] = cupy().asarray(_swapped(words, target))
    return errors


def _words_in(block: DeviceArray) -> DeviceArray:
    """Return a view of a block as unsigned words, (component, ..., frequency, time), not copied."""
    width, n = word_bytes(block), len(block.shape)
    shape, strides = (*block.shape, component_count(block.dtype)), (*block.strides, width)
    words: DeviceArray = cupy().ndarray(shape, f"u{width}", block.data, strides)
    return words.transpose((n, *range(2, n), 1, 0))


def _swapped(words: NumpyArray, block: DeviceArray) -> NumpyArray:
    """Return words with their bytes swapped if the block is of foreign byte order."""
    return words if block.dtype.isnative else words.byteswap()
