"""Decoder of offsets on a GPU: headers and tables on the host, then a thread per window."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gangsaw.codecs.core.backends.batch import EncodedBlock
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import load_module
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.reads.offset.coding import (
    WRONG_WINDOW,
    OffsetBlock,
    read_block,
    read_stored_offsets,
)
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.payload import requested_windows
from gangsaw.codecs.reads.windows.gpu_windows import Blocks, WindowsOfBlock


def decode_offset_blocks(
    encoded: Sequence[EncodedBlock], outs: Sequence[DeviceArray], params: Params
) -> dict[int, CorruptChunk]:
    """Decode blocks into contiguous (n,) uint64; return the errors of corrupt blocks by number."""
    errors: dict[int, CorruptChunk] = {}
    coded: dict[int, WindowsOfBlock] = {}
    for i, (one, out) in enumerate(zip(encoded, outs, strict=True)):
        n, lane = out.shape[0], params.sizes.lane
        try:
            block = read_block(one.data, one.lanes, n, lane)
            if block.tables is None:
                host = np.zeros(n, np.uint64)
                read_stored_offsets(
                    one.data, block.ends, host, lane, requested_windows(one.there, -(-n // lane))
                )
                out.set(host)
            else:
                coded[i] = _windows_of(block, one, out, lane)
        except CorruptChunk as error:
            errors[i] = error
    return errors | _decode_coded(coded)


def _windows_of(
    block: OffsetBlock, encoded: EncodedBlock, out: DeviceArray, lane: int
) -> WindowsOfBlock:
    n_windows = -(-out.shape[0] // lane)
    begins, ends = block.ends[1 : n_windows + 1], block.ends[2 : n_windows + 2]
    wanted = np.flatnonzero(requested_windows(encoded.there, n_windows))
    assert block.tables is not None
    numbers = out.shape[0], lane, block.centre
    return WindowsOfBlock(encoded.data, begins, ends, wanted, out, numbers, block.tables)


def _decode_coded(blocks: dict[int, WindowsOfBlock]) -> dict[int, CorruptChunk]:
    counts = [block.wanted.size for block in blocks.values()]
    if not sum(counts):
        return {}
    is_right = cupy().empty(sum(counts), np.uint8)
    kernel = load_module(__package__, "decode.cu", {}).get_function("decode_offsets")
    on_device = Blocks(list(blocks.values()))
    on_device.launch(kernel, on_device.windows(), is_right)
    found = np.split(to_host(is_right), np.cumsum(counts)[:-1])
    pairs = zip(blocks, found, strict=True)
    return {i: CorruptChunk(WRONG_WINDOW) for i, own in pairs if not own.all()}
