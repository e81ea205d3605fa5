"""Checks of a block before a backend decodes it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.header.header import write_header
from gangsaw.codecs.ccsds123.params import Image, Params
from gangsaw.codecs.core.errors import CorruptChunk


@lru_cache
def expected_header(image: Image, params: Params) -> tuple[Params, bytes]:
    """Return the resolved params and the header, which all blocks of a shape share."""
    return params.resolved(image), write_header(image, params)


def check_block(data: npt.NDArray[np.uint8], image: Image, params: Params) -> tuple[Params, int]:
    """Check a block's stream; return its resolved params and the offset of its body in bytes.

    Raises
    ------
    CorruptChunk : the header differs from what is expected, or the last word is not whole
    """
    resolved, header = expected_header(image, params)
    if data[: len(header)].tobytes() != header:
        raise CorruptChunk("the stream's header is not what the array's metadata implies")
    if data.size % params.word_bytes:
        raise CorruptChunk(
            f"{data.size} bytes are no multiple of the word size, {params.word_bytes}"
        )
    return resolved, len(header)


def own_lanes(lane_bits: npt.NDArray[np.int64], image: Image) -> npt.NDArray[np.int64]:
    """Return the bit lengths of a block's lanes, one per band of the image.

    Raise CorruptChunk if the index of the chunk has more lanes for the block.
    """
    own, others = lane_bits[: image.n_bands], lane_bits[image.n_bands :]
    if others.any():
        raise CorruptChunk(f"the index has lanes beyond the {image.n_bands} bands of the block")
    return own
