"""GPU decoder of effort dense: the host reads heads, the device all else; see decode.cu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.bwt.dense.contexts import build_token_trees
from gangsaw.codecs.bwt.dense.decode import CUT_OFF, LEFT, NO_STATES, NO_WORDS, labelled
from gangsaw.codecs.bwt.dense.device.gpu_model import FreshModel
from gangsaw.codecs.bwt.dense.model import LANES
from gangsaw.codecs.bwt.dense.weights import packed_weights
from gangsaw.codecs.bwt.lanes.cut import list_words
from gangsaw.codecs.bwt.lanes.lists import Heads, decode_heads
from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import corrupt_blocks, launch, load_module
from gangsaw.codecs.core.cuda.upload import Upload
from gangsaw.codecs.core.errors import CorruptChunk

# error messages by status, as in decode.cu
REASONS = {1: CUT_OFF, 2: NO_STATES, 3: NO_WORDS, 4: LEFT}


def decode_dense_blocks(
    data: Sequence[Bytes], outs: Sequence[DeviceArray]
) -> dict[int, CorruptChunk]:
    """Decode transformed strings of effort dense on the GPU, all in one launch.

    data : (k,) uint8 each, coded bytes on the host
    outs : (n,) uint8 each, contiguous, n >= 1

    Returns
    -------
    errors of invalid blocks, by index
    """
    work, numbers, errors = _DenseDecoding(), list[int](), dict[int, CorruptChunk]()
    for i, (own, out) in enumerate(zip(data, outs, strict=True)):
        try:
            heads = decode_heads(own, out.shape[0])
        except CorruptChunk as error:
            errors[i] = error
        else:
            work.add(own[heads.end :], heads, out)
            numbers.append(i)
    if numbers:
        errors |= {numbers[i]: error for i, error in work.decoded().items()}
    return errors


class _DenseFields(NamedTuple):
    """Fields of struct `Block` of decode.cu for one block: numbers, and offsets in the upload."""

    words: int
    n_bytes: int
    out: DeviceArray
    following: int
    numbers: tuple[int, ...]
    symbols: int
    bounds: int
    sizes: int
    lists: int
    model: FreshModel

    def row(self, sent: int) -> list[int]:
        """Return struct `Block` of decode.cu as integers; sent : device address of the upload."""
        begin = [sent + self.words, self.n_bytes, self.out.data.ptr, sent + self.following]
        tables = [sent + place for place in (self.symbols, self.bounds, self.sizes, self.lists)]
        return [*begin, *self.numbers, *tables, *self.model.row()]


class _DenseDecoding:
    """Dense blocks to decode in one launch; keep the object until the launch is done."""

    def __init__(self) -> None:
        self._upload, self._blocks = Upload(), list[_DenseFields]()

    def add(self, words: Bytes, heads: Heads, out: DeviceArray) -> None:
        """Add a block: its words, its parsed heads, and its output."""
        symbols, lists = labelled(heads)
        tokens = build_token_trees(heads.sizes, symbols.size + 1)
        n_lanes, send = heads.sizes.size, self._upload.add
        block = _DenseFields(
            words=send(words),
            n_bytes=words.size,
            out=out,
            following=send(tokens.places),
            numbers=(tokens.rank, tokens.length, int(tokens.has_ranks), n_lanes),
            symbols=send(symbols),
            bounds=send(heads.bounds),
            sizes=send(heads.sizes),
            lists=send(list_words(lists)),
            model=FreshModel(n_lanes, symbols.size),
        )
        self._blocks.append(block)

    def decoded(self) -> dict[int, CorruptChunk]:
        """Decode all blocks; return the errors by block index."""
        cp, n_blocks, sent = cupy(), len(self._blocks), self._upload.sent()
        rows = cp.asarray(np.array([own.row(sent.data.ptr) for own in self._blocks], np.int64))
        statuses = cp.zeros(n_blocks, np.uint32)
        kernel = load_module(__package__, "decode.cu", {}).get_function("decode_tokens")
        launch(kernel, n_blocks, LANES, (rows, cp.asarray(packed_weights()), statuses))
        return corrupt_blocks(to_host(statuses).astype(np.int64), REASONS)
