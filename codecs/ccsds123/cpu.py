"""CPU backend of the CCSDS-123 codec: blocks over threads, kernels in Numba."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from gangsaw.codecs.ccsds123.header import write_header
from gangsaw.codecs.ccsds123.params import Image, Params
from gangsaw.codecs.ccsds123.sample_decoder import decode_lanes
from gangsaw.codecs.ccsds123.sample_encoder import encode_interleaved, encode_lanes
from gangsaw.codecs.ccsds123.stream import check_extent, decode_body
from gangsaw.codecs.core.blocks import Blocks
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.codecs.core.threads import run_blocks


def block_image(source: npt.NDArray[Any], params: Params) -> Image:
    """Return the image that one block (z, y, x) makes: its dtype gives sign and default depth."""
    if source.dtype.kind not in "iu":
        raise BadParams(f"samples must be integers, got dtype {source.dtype}")
    depth = params.bit_depth or 8 * source.dtype.itemsize
    if depth > 32:
        raise BadParams(f"dtype {source.dtype} needs an explicit bit_depth of at most 32")
    return Image(*source.shape, depth, source.dtype.kind == "i")


def encode(sources: Sequence[npt.NDArray[Any]], params: Params) -> Blocks:
    """Encode every block to one conforming stream.

    Parameters
    ----------
    sources : blocks (z, y, x), integers of one dtype, any byte order and strides
    params : choices of the encoder

    Returns
    -------
    Blocks : lane_bits (n_blocks, NZ) int64 in BSQ order with the sample-adaptive coder, else None

    Raises
    ------
    BadParams : a sample does not fit the bit depth, or a table does not fit the image
    """
    streams: list[Stream] = [_encode_block(source, params) for source in sources]
    return _joined(streams)


Stream = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64] | None]


def _encode_block(source: npt.NDArray[Any], params: Params) -> Stream:
    image = block_image(source, params)
    header = write_header(image, params)
    native = source.astype(source.dtype.newbyteorder("="), copy=False)
    if params.order == "bsq":
        return encode_lanes(native, image, params, header)
    return encode_interleaved(native, image, params, header), None


def _joined(streams: Sequence[Stream]) -> Blocks:
    lengths = np.array([data.size for data, _ in streams], np.int64)
    payload = np.concatenate([data for data, _ in streams]) if streams else np.empty(0, np.uint8)
    lanes = [bits for _, bits in streams if bits is not None]
    return Blocks(payload, lengths, np.stack(lanes) if lanes else None)


def decode(coded: Blocks, targets: Sequence[npt.NDArray[Any]], params: Params) -> None:
    """Decode every block into its target, several at once.

    Parameters
    ----------
    coded : one conforming stream per block
    targets : (z, y, x) views to fill, integers of any byte order and strides
    params : what the blocks were encoded with

    Raises
    ------
    CorruptChunk : a block is no stream of its target's shape and dtype with these params
    """
    offsets = coded.offsets

    def decode_block(i: int) -> None:
        data = coded.payload[offsets[i] : offsets[i + 1]]
        lane_bits = None if coded.lane_bits is None else coded.lane_bits[i]
        try:
            _decode_block(data, lane_bits, targets[i], params)
        except CorruptChunk as error:
            raise CorruptChunk(error.reason, block=i) from error

    run_blocks(decode_block, len(targets))


def _decode_block(
    data: npt.NDArray[np.uint8],
    lane_bits: npt.NDArray[np.int64] | None,
    target: npt.NDArray[Any],
    params: Params,
) -> None:
    image = params.image(target.shape, target.dtype)
    resolved, header = _expected(image, params)
    if data[: len(header)].tobytes() != header:
        raise CorruptChunk("the stream's header is not the one that the array's metadata imply")
    if data.size % params.word_bytes:
        raise CorruptChunk(f"{data.size} bytes are no whole words of {params.word_bytes}")
    if lane_bits is None:
        check_extent(data.size - len(header), image, resolved)
        decode_body(data, len(header), image, resolved, target)
    else:
        decode_lanes(data, 8 * len(header), lane_bits, image, resolved, target)


@lru_cache
def _expected(image: Image, params: Params) -> tuple[Params, bytes]:
    """Return resolved params and header: the same for all blocks of a shape."""
    return params.resolved(image), write_header(image, params)
