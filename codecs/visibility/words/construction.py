"""Blocks of kind 1: the founding paper's construction (SPEC.md)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.backends.host import BlockCoding
from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility.params import PACKINGS, PREDICTORS, RESIDUALS, Params
from gangsaw.codecs.visibility.words import raw
from gangsaw.codecs.visibility.words.arrange import from_words, reused_words, to_words
from gangsaw.codecs.visibility.words.pack import UNIT_SHIFTS, pack_words, unpack_words
from gangsaw.codecs.visibility.words.predict import from_word_residuals, to_word_residuals

KIND = 1
HEAD_BYTES = 5  # kind, predictor, window, residual, packing
WINDOWED = ("mean", "median")


def encode_block(block: NumpyArray, params: Params, buffer: Payload) -> Encoded:
    """Encode a block (time, frequency, ...) by a construction of the founding paper."""
    words = reused_words(block)
    to_words(block, words)
    return Encoded((encode_construction(words, params),))


def decode_block(encoded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    """Decode a block (time, frequency, ...); raise CorruptChunk like `decode_construction`."""
    words = reused_words(block)
    decode_construction(encoded.data, words)
    from_words(words, block)


CODING = BlockCoding(encode_block, decode_block, likely=raw.most_bytes, lends=True)


def encode_construction(words: NumpyArray, params: Params) -> npt.NDArray[np.uint8]:
    """Encode words by a construction; return the payload, including its kind byte, (n,) uint8.

    Parameters
    ----------
    words : (component, rest, frequency, time) unsigned, C-contiguous
    params : parameters that name a construction
    """
    window = params.window if params.predictor in WINDOWED else 0
    head = (
        KIND,
        PREDICTORS.index(params.predictor),
        window,
        RESIDUALS.index(params.residual),
        PACKINGS.index(params.packing),
    )
    residuals = to_word_residuals(words, params.predictor, window, params.residual == "difference")
    return pack_words(residuals.ravel(), UNIT_SHIFTS[params.packing], bytes(head))


def decode_construction(data: npt.NDArray[np.uint8], words: NumpyArray) -> None:
    """Decode words (component, rest, frequency, time) from the payload of a construction.

    Raises
    ------
    CorruptChunk : the payload is not a construction of this many words
    """
    if data.size < HEAD_BYTES:
        raise CorruptChunk(f"{data.size} bytes are too few for a construction")
    _, predictor, window, residual, packing = (int(octet) for octet in data[:HEAD_BYTES])
    if predictor >= len(PREDICTORS) or residual >= len(RESIDUALS) or packing >= len(PACKINGS):
        raise CorruptChunk(f"no construction {predictor}, {residual}, {packing} is known")
    if (window > 0) != (PREDICTORS[predictor] in WINDOWED):
        raise CorruptChunk(f"a window of {window} for predictor {PREDICTORS[predictor]!r}")
    unpack_words(data, HEAD_BYTES, UNIT_SHIFTS[PACKINGS[packing]], words.ravel())
    from_word_residuals(words, PREDICTORS[predictor], window, RESIDUALS[residual] == "difference")
