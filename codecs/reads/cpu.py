"""CPU backend of the codec of reads: blocks over threads, then lanes of a block over threads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.reads.coding import KindCoding
from gangsaw.codecs.reads.name.coding import NAME
from gangsaw.codecs.reads.offset.coding import OFFSET
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.quality.coding import QUALITY
from gangsaw.codecs.reads.sequence.coding import SEQUENCE

CODINGS: dict[str, KindCoding] = {
    "sequence": SEQUENCE,
    "quality": QUALITY,
    "name": NAME,
    "offset": OFFSET,
}


def encode(sources: Sequence[NumpyArray], params: Params, output: Output) -> None:
    """Encode every block.

    Parameters
    ----------
    sources : blocks (n,) of uint8, or of uint64 for offsets, any strides and byte order
    params : choices of the encoder
    output : takes the payloads and (n_lanes,) int64 bits of their lanes
    """
    coding = CODINGS[params.kind]

    def encode_block(i: int) -> None:
        block = np.ascontiguousarray(sources[i], params.dtype)
        payload, lane_bits = coding.encode(block, params)
        output.give(i, payload, crc32c(payload), lane_bits)

    if len(sources) == 1:  # outside of `run_blocks`: the parts of a lone block go over threads
        encode_block(0)
    else:
        run_blocks(encode_block, len(sources))


def decode(runs: Runs, targets: Sequence[NumpyArray], params: Params) -> None:
    """Decode every block into its target.

    Parameters
    ----------
    runs : the encoded blocks
    targets : (n,) views to fill, of the dtype of the kind, any strides and byte order
    params : what the blocks were encoded with

    Raises
    ------
    CorruptChunk : a block is not of its target's extent and these parameters
    """
    coding, lane_bits = CODINGS[params.kind], runs.lane_bits
    assert lane_bits is not None
    for i, target in enumerate(targets):  # lanes go over threads: blocks are few
        is_plain = target.flags.c_contiguous and target.dtype == params.dtype
        out = target if is_plain else np.empty(target.shape, params.dtype)
        try:
            there = None if runs.lanes_there is None else runs.lanes_there[i]
            coding.decode(runs.take(i), lane_bits[i], out, params, there)
        except CorruptChunk as error:
            raise CorruptChunk(error.reason, block=i) from error
        if not is_plain:
            target[...] = out
