"""GPU decoder of effort fast, with heads and tables read on the host; see decode.cu."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.fast.cpu import WRONG_LANES, FastParts, highest_ranks, read_parts
from gangsaw.codecs.bwt.fast.decode import used_tables
from gangsaw.codecs.bwt.fast.tables import frequencies_of
from gangsaw.codecs.bwt.lanes.cut import MOST_LANES, list_words
from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import corrupt_blocks, launch, load_module
from gangsaw.codecs.core.cuda.upload import Upload
from gangsaw.codecs.core.entropy.rans_tables import TOTAL
from gangsaw.codecs.core.errors import CorruptChunk

SLOT_THREADS = 128  # as in decode.cu


def decode_fast_blocks(
    data: Sequence[Bytes], outs: Sequence[DeviceArray]
) -> dict[int, CorruptChunk]:
    """Decode transformed strings of effort fast on the GPU, all in one launch.

    data : (k,) uint8 each, coded bytes on the host
    outs : (n,) uint8 each, contiguous, n >= 1

    Returns
    -------
    errors of invalid blocks, by index
    """
    work, numbers, errors = _FastDecoding(), list[int](), dict[int, CorruptChunk]()
    for i, (own, out) in enumerate(zip(data, outs, strict=True)):
        try:
            parts = read_parts(own, out.shape[0])
        except CorruptChunk as error:
            errors[i] = error
        else:
            work.add(parts, out)
            numbers.append(i)
    if numbers:
        errors |= {numbers[i]: error for i, error in work.decoded().items()}
    return errors


class _FastDecoding:
    """Fast blocks to decode in one launch; keep the object until the launch is done."""

    def __init__(self) -> None:
        self._upload, self._tables, self._n_tables = Upload(), list[npt.NDArray[np.uint16]](), 0
        self._blocks = list[tuple[list[int], DeviceArray, int]]()  # offsets, output, lanes

    def add(self, parts: FastParts, out: DeviceArray) -> None:
        """Add a block: its parsed parts and its output."""
        frequencies, numbers = used_tables(parts.tables, frequencies_of(parts.tables))
        firsts = np.cumsum(frequencies, axis=1) - frequencies
        self._tables.append(firsts.astype(np.uint16))
        heads, send = parts.heads, self._upload.add
        sent = (
            parts.body,
            (TOTAL * (numbers + self._n_tables)).astype(np.uint32),
            heads.bounds,
            parts.stops,
            highest_ranks(heads),
            list_words(heads.lists),
        )
        self._n_tables += len(firsts)
        self._blocks.append(([send(part) for part in sent], out, heads.sizes.size))

    def decoded(self) -> dict[int, CorruptChunk]:
        """Decode all blocks; return the errors by block index."""
        cp, n_blocks = cupy(), len(self._blocks)
        firsts = self._upload.add(np.concatenate(self._tables))
        sent = self._upload.sent()
        slots = cp.empty(self._n_tables * TOTAL, np.uint32)
        module = load_module(__package__, "decode.cu", {})
        build = module.get_function("build_decoder_table")
        launch(build, self._n_tables, SLOT_THREADS, (np.uint64(sent.data.ptr + firsts), slots))
        rows = cp.asarray(np.array([_row(sent.data.ptr, *own) for own in self._blocks], np.int64))
        statuses = cp.zeros(n_blocks, np.uint32)
        decode = module.get_function("decode_runs")
        launch(decode, n_blocks, MOST_LANES, (rows, slots, statuses))
        return corrupt_blocks(to_host(statuses).astype(np.int64), {1: WRONG_LANES})


def _row(sent: int, offsets: Sequence[int], out: DeviceArray, n_lanes: int) -> list[int]:
    """Return struct `Block` of decode.cu as integers; sent : device address of the upload."""
    words, *others = (sent + place for place in offsets)
    return [words, out.data.ptr, *others, n_lanes]
