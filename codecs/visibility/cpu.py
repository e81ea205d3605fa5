"""CPU backend of the visibility codec: blocks over threads, kernels in Numba."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.blocks import Blocks
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.threads import run_blocks
from gangsaw.codecs.visibility import construction, raw
from gangsaw.codecs.visibility.arrange import empty_words, from_words, to_words
from gangsaw.codecs.visibility.params import Params

Words = npt.NDArray[Any]
Payload = npt.NDArray[np.uint8]


def encode(sources: Sequence[npt.NDArray[Any]], params: Params) -> Blocks:
    """Encode every block.

    Parameters
    ----------
    sources : blocks (time, frequency, ...) of floats or complex numbers, any byte order and strides
    params : choices of the encoder
    """
    parts: list[Payload] = [np.empty(0, np.uint8)] * len(sources)

    def encode_block(i: int) -> None:
        words = empty_words(sources[i])
        to_words(sources[i], words)
        parts[i] = encode_words(words, params)

    run_blocks(encode_block, len(sources))
    return Blocks(tuple(parts))


def decode(coded: Blocks, targets: Sequence[npt.NDArray[Any]], params: Params) -> None:
    """Decode every block into its target, several at once.

    Parameters
    ----------
    coded : the blocks
    targets : views (time, frequency, ...) to fill, any byte order and strides
    params : what the blocks were encoded with

    Raises
    ------
    CorruptChunk : a block is none of its target's shape and dtype
    """

    def decode_block(i: int) -> None:
        words = empty_words(targets[i])
        try:
            decode_words(coded.parts[i], words, params)
        except CorruptChunk as error:
            raise CorruptChunk(error.reason, block=i) from error
        from_words(words, targets[i])

    run_blocks(decode_block, len(targets))


def encode_words(words: Words, params: Params) -> Payload:
    """Return the payload of a block: what its way of encoding gives, or raw where that is less."""
    way = "construction" if params.is_construction else params.effort
    coded = ENCODERS[way](words, params)
    return coded if coded.size <= words.nbytes else raw.encode(words, params)


def decode_words(data: Payload, words: Words, params: Params) -> None:
    """Fill words (component, rest, frequency, time) from a payload; CorruptChunk if it is none."""
    decoder = DECODERS.get(int(data[0])) if data.size else None
    if decoder is None:
        raise CorruptChunk(f"no kind of block is known that begins with {bytes(data[:1]).hex()}")
    decoder(data, words, params)


def _by_difference(words: Words, params: Params) -> Payload:
    predictor = "time" if words.shape[3] > 1 else "frequency"
    chosen = replace(params, predictor=predictor, residual="difference", packing="bits")
    return construction.encode(words, chosen)


# Each takes (words, params) and returns a payload that begins with its kind.
ENCODERS = {"construction": construction.encode, "fast": _by_difference, "dense": _by_difference}
# By the kind that a payload begins with; each takes (payload, words, params) and fills the words.
DECODERS = {raw.KIND: raw.decode, construction.KIND: construction.decode}
