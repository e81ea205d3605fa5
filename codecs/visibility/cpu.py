"""CPU backend of the visibility codec: blocks over threads, kernels in Numba."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.container.views import block_addresses
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


def encode(sources: Sequence[NumpyArray], params: Params, output: Output) -> None:
    """Encode every block.

    Parameters
    ----------
    sources : blocks (time, frequency, ...) of floats or complex numbers, any byte order and strides
    params : choices of the encoder
    output : takes the payloads, each at most a byte longer than its block
    """
    coding, places = ENCODERS[params.coding], block_addresses(sources)
    runs = runs_of(places.forms, coding.together)
    spare = max((coding.spare(places.forms[first]) for first, _ in runs), default=0)
    output.reserve(places.n_bytes + len(sources) + spare)
    batch = Sources(sources, places, params, output)

    def encode_run(number: int) -> None:
        coding.encode_blocks(batch, *runs[number])

    run_blocks(encode_run, len(runs))


def decode(runs: Runs, targets: Sequence[NumpyArray], params: Params) -> None:
    """Decode every block into its target, several at once; a batch may hold several kinds.

    Parameters
    ----------
    runs : the encoded blocks
    targets : views (time, frequency, ...) to fill, any byte order and strides
    params : what the blocks were encoded with

    Raises
    ------
    CorruptChunk : a block is not of its target's shape and dtype
    """
    batch = Targets(runs, runs.addresses(), targets, block_addresses(targets))
    groups = groups_of(batch.places.forms, ENCODERS[params.coding].together)

    def decode_group(number: int) -> None:
        _decode_group(batch, groups[number])

    try:
        run_blocks(decode_group, len(groups))
    except CorruptChunk as error:  # a block of another group before it may be wrong, too
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
    payload = batch.runs.payloads[number]
    decoder = DECODERS.get(int(payload[0])) if payload.size else None
    if decoder is None:
        payload = batch.runs.take(number)  # a wrong checksum is reported first
        raise CorruptChunk(f"no kind of block is known that begins with {bytes(payload[:1]).hex()}")
    return decoder
