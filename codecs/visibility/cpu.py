"""CPU backend of the visibility codec: blocks over threads, kernels in Numba."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.blocks import Blocks
from gangsaw.codecs.core.container.frame import Layout
from gangsaw.codecs.core.container.output import Shelf
from gangsaw.codecs.core.container.runs import payloads_of
from gangsaw.codecs.core.container.views import Places, places_of
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.visibility.batch import (
    Coding,
    Decoder,
    Numbers,
    Sources,
    Targets,
    groups_of,
    runs_of,
)
from gangsaw.codecs.visibility.dense import cpu as dense
from gangsaw.codecs.visibility.dense import narrow
from gangsaw.codecs.visibility.fast import cpu as fast
from gangsaw.codecs.visibility.params import Params
from gangsaw.codecs.visibility.words import construction, raw

# By what parameters ask for; blocks that get no shorter are raw.
ENCODERS = {
    "construction": Coding(construction.encode_blocks),
    "fast": Coding(fast.encode_blocks, together=fast.TOGETHER, spare=fast.spare),
    "dense": Coding(narrow.encode_blocks),
}
# By the kind that a payload begins with.
DECODERS: dict[int, Decoder] = {
    raw.KIND: raw.decode_blocks,
    construction.KIND: construction.decode_blocks,
    fast.KIND: fast.decode_blocks,
    dense.KIND: dense.decode_blocks,
    narrow.KIND: narrow.decode_blocks,
}


def encode(sources: Sequence[npt.NDArray[Any]], params: Params) -> Blocks:
    """Encode every block.

    Parameters
    ----------
    sources : blocks (time, frequency, ...) of floats or complex numbers, any byte order and strides
    params : choices of the encoder
    """
    coding, places = ENCODERS[params.coding], places_of(sources)
    runs = runs_of(places.forms, coding.together)
    spare = max((coding.spare(places.forms[first]) for first, _ in runs), default=0)
    output = _output_for(places, spare)
    batch = Sources(sources, places, params, output)

    def encode_run(number: int) -> None:
        coding.encode_blocks(batch, *runs[number])

    run_blocks(encode_run, len(runs))
    return Blocks(output.parts, shelf=output, checksums=output.checksums)


def _output_for(places: Places, spare: int) -> Shelf:
    """Return the place for payloads, each a byte longer than its block at most.

    The frame's index has room in front of them, so that they lie in the frame at once.
    """
    n = len(places.forms)
    return Shelf(n, places.n_bytes + n + spare, Layout(0, 1, n).index_size)


def decode(coded: Blocks, targets: Sequence[npt.NDArray[Any]], params: Params) -> None:
    """Decode every block into its target, several at once; a batch may hold several kinds.

    Parameters
    ----------
    coded : the blocks
    targets : views (time, frequency, ...) to fill, any byte order and strides
    params : what the blocks were encoded with

    Raises
    ------
    CorruptChunk : a block is none of its target's shape and dtype
    """
    parts, checksums = coded.unverified
    places = places_of(targets)
    batch = Targets(coded, parts, payloads_of(parts), checksums, targets, places)
    groups = groups_of(places.forms, ENCODERS[params.coding].together)

    def decode_group(number: int) -> None:
        _decode_group(batch, groups[number])

    try:
        run_blocks(decode_group, len(groups))
    except CorruptChunk as error:  # of blocks in other groups, one in front may be wrong too
        for number in range(error.block or 0):
            _decode_group(batch, np.array([number]))
        raise


def _decode_group(batch: Targets, numbers: Numbers) -> None:
    """Decode blocks of one form, run by run of those of one kind."""
    while numbers.size:
        first = int(numbers[0])
        try:
            done = _decoder_of(batch, first)(batch, numbers)
        except CorruptChunk as error:
            block = first if error.block is None else error.block
            raise CorruptChunk(error.reason, block=block) from error
        numbers = numbers[done:]


def _decoder_of(batch: Targets, number: int) -> Decoder:
    part = batch.parts[number]
    decoder = DECODERS.get(int(part[0])) if part.size else None
    if decoder is None:
        part = batch.coded.parts[number]  # that it is not what was written comes first
        raise CorruptChunk(f"no kind of block is known that begins with {bytes(part[:1]).hex()}")
    return decoder
