"""What backends and codings of blocks encode and decode, without a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.backends.batch import EncodedBlock
from gangsaw.codecs.core.backends.host import OUT_OF_PLACE, BlockCoding
from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Runs


def encoded(backend: Any, sources: Sequence[Any], params: Any) -> Runs:
    """Return what the module of a backend puts into an output."""
    output = Output(len(sources))
    backend.BACKEND.encode(sources, params, output)
    return output.runs()


def encoded_block(coding: BlockCoding[Any], block: Any, params: Any) -> tuple[Any, Any]:
    """Return the payload of a block, and the bits of its lanes."""
    found = coding.encode_block(block, params, OUT_OF_PLACE)
    return found.payload, found.lane_bits


def fill_block(
    coding: BlockCoding[Any], data: npt.NDArray[np.uint8], lane_bits: Any, out: Any, params: Any
) -> None:
    """Decode a block."""
    coding.decode_block(EncodedBlock(data, lane_bits), out, params)
