"""CPU backend of the CCSDS-123 codec: blocks over threads, kernels in Numba."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.header import write_header
from gangsaw.codecs.ccsds123.params import Image, Params
from gangsaw.codecs.ccsds123.sample_encoder import encode_interleaved, encode_lanes
from gangsaw.codecs.core.blocks import Blocks
from gangsaw.codecs.core.errors import BadParams


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
