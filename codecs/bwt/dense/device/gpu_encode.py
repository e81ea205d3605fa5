"""GPU encoder of effort dense: the host codes heads, the device all else; see encode.cu."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.bwt.dense.contexts import build_token_trees
from gangsaw.codecs.bwt.dense.decode import labelled
from gangsaw.codecs.bwt.dense.device.gpu_model import FreshModel
from gangsaw.codecs.bwt.dense.model import LANES
from gangsaw.codecs.bwt.dense.segments import WORD_BYTES, most_steps
from gangsaw.codecs.bwt.dense.weights import packed_weights
from gangsaw.codecs.bwt.lanes.device.gpu_runs import DeviceRunLanes
from gangsaw.codecs.bwt.lanes.lists import Heads, encode_heads
from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import launch, load_module
from gangsaw.codecs.core.cuda.upload import Upload


def encode_dense_blocks(runs: DeviceRunLanes) -> list[tuple[Bytes, ...] | None]:
    """Encode transformed strings with effort dense on the GPU; None for those not shorter.

    Each result is the parts of the coded string.
    """
    runs.cut_by_decisions()
    work = _DenseEncoding()
    for n, heads in zip(runs.sizes.tolist(), runs.heads(), strict=True):
        work.add(n, heads)
    return work.encoded(runs)


class _RecordedBlock:
    """Device buffers of one block to encode: recorded decisions, model and output words."""

    def __init__(self, n: int, heads: Heads, upload: Upload) -> None:
        self.heads = encode_heads(heads)
        symbols, _ = labelled(heads)
        labels = np.zeros(256, np.uint8)
        labels[symbols] = np.arange(symbols.size)
        tokens = build_token_trees(heads.sizes, symbols.size + 1)
        self._numbers = tokens.rank, tokens.length, int(tokens.has_ranks)
        self._following, self._labels = upload.add(tokens.places), upload.add(labels)
        self._model = FreshModel(heads.sizes.size, symbols.size)
        # words that are fewer bytes than the block
        self._most = (n - 1 - self.heads.size) // WORD_BYTES
        cp = cupy()
        self._records = cp.empty(LANES * most_steps(heads.bounds), np.uint16)
        self._out = cp.empty(max(1, self._most), np.uint16)

    def row(self, sent: int) -> list[int]:
        """Return struct `DenseBlock` of encode.cu as integers.

        sent : device address of the upload
        """
        tokens = sent + self._following, *self._numbers
        rooms = sent + self._labels, self._records.data.ptr, self._out.data.ptr, self._most
        return [*tokens, *self._model.row(), *rooms]

    def parts(self, n_words: int) -> tuple[Bytes, ...] | None:
        """Return the coded parts of the block, heads and segments; None if they are not shorter."""
        if n_words < 0:
            return None
        words = to_host(self._out[:n_words]).astype("<u2", copy=False)
        return self.heads, words.view(np.uint8)


class _DenseEncoding:
    """Blocks to encode with effort dense in one launch; keep the object until it is done."""

    def __init__(self) -> None:
        self._upload, self._blocks = Upload(), list[_RecordedBlock]()

    def add(self, n: int, heads: Heads) -> None:
        """Add a block of n bytes with the heads of its lanes."""
        self._blocks.append(_RecordedBlock(n, heads, self._upload))

    def encoded(self, runs: DeviceRunLanes) -> list[tuple[Bytes, ...] | None]:
        """Encode all blocks from their runs; return the parts of each, None if not shorter."""
        cp, n_blocks, sent = cupy(), len(self._blocks), self._upload.sent()
        rows = cp.asarray(np.array([own.row(sent.data.ptr) for own in self._blocks], np.int64))
        n_words = cp.zeros(n_blocks, np.int64)
        kernel = load_module(__package__, "encode.cu", {}).get_function("encode_tokens")
        arguments = runs.table(), rows, cp.asarray(packed_weights()), n_words
        launch(kernel, n_blocks, LANES, arguments)
        counts = to_host(n_words).tolist()
        return [own.parts(n) for own, n in zip(self._blocks, counts, strict=True)]
