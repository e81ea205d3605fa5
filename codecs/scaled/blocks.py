"""Host coding of blocks: as integers with exceptions, as floats, raw, or constant."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.backends.host import HostBackend
from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Payload, Runs
from gangsaw.codecs.core.cuda.device import backend
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.codecs.scaled import exceptions, steps
from gangsaw.codecs.scaled.params import Params

if TYPE_CHECKING:
    from gangsaw.codecs.core.container.chunk import ChunkCoder

PLAIN, FLOATS, SCALED, CONSTANT = range(4)  # kinds
HEAD = Struct("<BBI")  # SCALED: kind, masks, bytes of exceptions
NO_LANES = np.empty(0, np.int64)


def encode_block(block: NumpyArray, params: Params, buffer: Payload) -> Encoded:
    """Encode floats: as integers with exceptions, by the codec of floats, or raw."""
    floats = np.ascontiguousarray(block, block.dtype.newbyteorder("="))
    if (constant := _constant(floats)) is not None:
        return constant
    found = _scaled(floats, params) or _floats(floats, params)
    if found.size > floats.nbytes:
        words = floats.astype(floats.dtype.newbyteorder("<"), copy=False)
        return _of_kind(PLAIN, words.ravel().view(np.uint8))
    return found


def _constant(floats: NumpyArray) -> Encoded | None:
    """Return the payload of a block of identical floats, None if they differ."""
    words = words_in(floats)
    if words[0] != words[-1] or (words != words[0]).any():
        return None
    return _of_kind(CONSTANT, words[:1].astype(words.dtype.newbyteorder("<")).view(np.uint8))


def _scaled(floats: NumpyArray, params: Params) -> Encoded | None:
    """Return the payload of a block as integers; None if too many floats are exceptions."""
    integers, codes = np.empty(floats.shape, params.dtype), np.empty(floats.size, np.uint8)
    n_others = steps.scale_down(
        floats.ravel(),
        params.constants(floats.dtype),
        params.is_product,
        integer_limits(params),
        integers.ravel(),
        codes,
    )
    apart: tuple[Payload, ...] = ()
    values: list[int] = []
    if n_others:
        words = words_in(floats)
        values, n_others = exceptions.mark_masks(words, codes, n_others)
        if n_others * exceptions.MOST_OTHERS > floats.size:
            return None
        steps.fill_gaps(integers.ravel(), codes)
        apart = exceptions.pack_exceptions(words, codes, floats.size // floats.shape[0], values)
    return joined(apart, len(values), encode_with_inner(integers, params))


def encode_with_inner(integers: NumpyArray, params: Params) -> Encoded | None:
    """Return integers coded by the inner codec; None if its parameters do not allow them."""
    output = Output(1)
    try:
        _inner(params).encode([integers], params.inner.params, output)
    except BadParams:
        return None
    runs = output.runs()
    return Encoded((runs.payloads[0],), NO_LANES if runs.lane_bits is None else runs.lane_bits[0])


def joined(apart: tuple[Payload, ...], n_masks: int, inner: Encoded | None) -> Encoded | None:
    """Return the payload of coded exceptions and integers; None without integers.

    apart : parts of the exceptions
    n_masks : number of masks, the positions of one frequent value each
    """
    if inner is None:
        return None
    head = HEAD.pack(SCALED, n_masks, sum(part.size for part in apart))
    return Encoded((np.frombuffer(head, np.uint8), *apart, *inner.parts), inner.lane_bits)


def _floats(floats: NumpyArray, params: Params) -> Encoded:
    frame = _coder_of_floats(floats, params).encode_part(floats)
    return _of_kind(FLOATS, np.frombuffer(frame, np.uint8))


def _of_kind(kind: int, data: Payload) -> Encoded:
    return Encoded((np.array([kind], np.uint8), data), NO_LANES)


def decode_plain(encoded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    """Copy floats from a raw payload; raise CorruptChunk if their number differs."""
    _fill(block, exceptions.parse_words(encoded.data[1:], block.size, word_type(block)))


def decode_constant(encoded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    """Fill a block with one float; raise CorruptChunk if the payload is not a single float."""
    _fill(block, exceptions.parse_words(encoded.data[1:], 1, word_type(block)))


def decode_floats(encoded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    """Decode floats from a frame of the codec of floats; raise CorruptChunk if it is invalid."""
    out = np.empty(block.shape, block.dtype.newbyteorder("="))
    _coder_of_floats(out, params).decode_part(encoded.data[1:], out)
    block[...] = out


def decode_scaled(encoded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    """Decode floats from integers and exceptions; raise CorruptChunk if either is invalid."""
    n_masks, apart, data = take_apart(encoded)
    integers = np.empty(block.shape, params.dtype)
    _inner(params).decode(inner_runs(data, encoded.lane_bits), [integers], params.inner.params)
    plain = block.flags.c_contiguous and block.dtype.isnative
    out = block if plain else np.empty(block.shape, block.dtype.newbyteorder("="))
    constants = params.constants(out.dtype)
    steps.scale_up(integers.ravel(), constants, params.is_product, out.reshape(-1))
    if apart.size:
        exceptions.restore_exceptions(apart, n_masks, out.size // out.shape[0], words_in(out))
    if not plain:
        block[...] = out


def take_apart(encoded: EncodedBlock) -> tuple[int, Payload, Payload]:
    """Return the parts of a payload: number of masks, bytes of exceptions, inner payload."""
    data = encoded.data
    if data.size < HEAD.size:
        raise CorruptChunk(f"a block of {data.size} bytes is cut short")
    _, n_masks, size = HEAD.unpack(bytes(data[: HEAD.size]))
    if n_masks > exceptions.MOST_MASKS or size > data.size - HEAD.size or (n_masks and not size):
        raise CorruptChunk(f"{n_masks} masks in {size} of {data.size} bytes")
    return n_masks, data[HEAD.size : HEAD.size + size], data[HEAD.size + size :]


def inner_runs(data: Payload, lane_bits: npt.NDArray[np.int64] | None) -> Runs:
    """Return the inner payload as input of its decoder; raise CorruptChunk if lanes exceed it."""
    if lane_bits is not None and int(lane_bits.sum()) > 8 * data.size:
        raise CorruptChunk("the lanes are longer than the integers")
    return Runs((data,), None if lane_bits is None else lane_bits[None])


def integer_limits(params: Params) -> npt.NDArray[np.float64]:
    """Return the smallest and the largest integer of the configured dtype, (2,) float64."""
    info = np.iinfo(params.integers)
    return np.array([info.min, info.max], np.float64)


def word_type(floats: NumpyArray) -> Dtype:
    """Return the unsigned integer dtype as wide as floats."""
    return np.dtype(f"u{floats.dtype.itemsize}")


def words_in(floats: NumpyArray) -> NumpyArray:
    """Return the bits of contiguous floats as a view, (n,) unsigned integers."""
    return floats.reshape(-1).view(word_type(floats))


def _fill(block: NumpyArray, words: NumpyArray) -> None:
    values = words.view(block.dtype.newbyteorder("="))
    block[...] = values.reshape(block.shape) if values.size == block.size else values


def _coder_of_floats(floats: NumpyArray, params: Params) -> ChunkCoder:
    return params.floats.coder(floats.shape, floats.dtype)


def _inner(params: Params) -> HostBackend[object]:
    package = params.inner.coder((1, 1, 1), params.dtype).package
    return cast("HostBackend[object]", backend(np.empty(0), package).BACKEND)
