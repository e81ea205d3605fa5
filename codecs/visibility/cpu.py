"""CPU backend of the visibility codec: blocks over threads, kernels in Numba."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.blocks import Blocks
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.frame import Layout
from gangsaw.codecs.core.shelf import Shelf
from gangsaw.codecs.core.threads import run_blocks
from gangsaw.codecs.visibility import construction, dense, fast, raw
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
    n = len(sources)
    most = sum(1 + block.nbytes for block in sources)
    shelf = Shelf(n, most, Layout(0, 1, n).index_size)

    def encode_one(i: int) -> None:
        if not shelf.put(i, encode_block(sources[i], params)):
            fast.leave_payload()

    run_blocks(encode_one, n)
    return Blocks(shelf.parts, shelf=shelf, checksums=shelf.checksums)


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

    def decode_one(i: int) -> None:
        try:
            decode_block(coded.parts[i], targets[i], params)
        except CorruptChunk as error:
            raise CorruptChunk(error.reason, block=i) from error

    run_blocks(decode_one, len(targets))


def encode_block(block: npt.NDArray[Any], params: Params) -> Payload:
    """Return the payload of a block: what its way of encoding gives, or raw where that is less.

    It may lie in memory of this thread that the next call uses again.
    """
    if not params.is_construction and params.effort in BY_LANES:
        coded = BY_LANES[params.effort](block)
        if coded.size <= block.nbytes:
            return coded
    words = empty_words(block)
    to_words(block, words)
    return encode_words(words, params)


def encode_raw(block: npt.NDArray[Any]) -> Payload:
    """Return the payload of a block that no way of encoding makes shorter."""
    words = empty_words(block)
    to_words(block, words)
    return raw.encode(words, Params())


def decode_block(data: Payload, block: npt.NDArray[Any], params: Params) -> None:
    """Fill a block from its payload; CorruptChunk if it is none."""
    decoder = FROM_LANES.get(int(data[0])) if data.size else None
    if decoder is not None:
        decoder(data, block)
        return
    words = empty_words(block)
    decode_words(data, words, params)
    from_words(words, block)


def encode_words(words: Words, params: Params) -> Payload:
    """Return the payload of words (component, rest, frequency, time), raw where that is less."""
    encoder = ENCODERS.get("construction" if params.is_construction else params.effort, raw.encode)
    coded = encoder(words, params)
    return coded if coded.size <= words.nbytes else raw.encode(words, params)


def decode_words(data: Payload, words: Words, params: Params) -> None:
    """Fill words (component, rest, frequency, time) from a payload; CorruptChunk if it is none."""
    decoder = DECODERS.get(int(data[0])) if data.size else None
    if decoder is None:
        raise CorruptChunk(f"no kind of block is known that begins with {bytes(data[:1]).hex()}")
    decoder(data, words, params)


# Each takes (words, params) and returns a payload that begins with its kind.
ENCODERS = {"construction": construction.encode}
# By the kind that a payload begins with; each takes (payload, words, params) and fills the words.
DECODERS = {raw.KIND: raw.decode, construction.KIND: construction.decode}
# The same for what goes from lanes to a payload and back; these take and fill the block itself.
BY_LANES = {"fast": fast.encode_here, "dense": dense.encode}
FROM_LANES = {fast.KIND: fast.decode, dense.KIND: dense.decode}
