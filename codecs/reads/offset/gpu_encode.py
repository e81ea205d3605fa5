"""Encoder of offsets on a GPU: a thread for each window, with tables from the host."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Int64s
from gangsaw.codecs.core.backends.batch import Encoded
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import launch, load_module, pull
from gangsaw.codecs.core.entropy.rans_lanes import STATE_BYTES, build_symbol_table
from gangsaw.codecs.core.entropy.sparse_tables import SYMBOLS, normalised
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.offset.coding import (
    TOKENS,
    coded_head,
    joined_payload,
    pays,
    stored_payload,
    usual_difference,
)
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.windows.gpu_windows import THREADS

WORD_BYTES = 2  # upper bound per token
ITEM_BYTES = 8


class WindowTable(NamedTuple):
    """Table of the windows of all blocks, for kernels.

    Attributes
    ----------
    blocks : (n_blocks, 4) int64 `Block` of encode.cu
    windows : (n, 4) int64 `Window` of windows.cuh; with start and end of each window's part of the
        output
    counts : (n_blocks,) windows of each block
    """

    blocks: Int64s
    windows: Int64s
    counts: Int64s


def encode_offset_blocks(sources: Sequence[DeviceArray], params: Params) -> list[Encoded]:
    """Encode CuPy blocks (n,) uint64, to the CPU's bytes."""
    cp = cupy()
    blocks = [cp.ascontiguousarray(source) for source in sources]
    centres = [usual_difference(block) for block in blocks]
    table = _table_of(blocks, centres, params.sizes.lane)
    arguments = cp.asarray(table.blocks), cp.asarray(table.windows), np.int32(len(table.windows))
    symbols = cp.zeros((len(blocks), SYMBOLS), np.uint32)
    _launch_windows("count_offset_symbols", table, (*arguments, symbols))
    frequencies = normalised(to_host(symbols).astype(np.int64))
    lanes = cp.empty(int(table.windows[-1, 3]), np.uint8)
    sizes = cp.empty(len(table.windows), np.int64)
    entries = cp.asarray(build_symbol_table(frequencies))
    _launch_windows("encode_lanes", table, (*arguments, entries, lanes, sizes))
    heads = [coded_head(centre, frequencies[i : i + 1]) for i, centre in enumerate(centres)]
    return _runs_of(heads, _windows_of(table, lanes, to_host(sizes), heads), blocks, params)


def _table_of(blocks: Sequence[DeviceArray], centres: Sequence[int], lane: int) -> WindowTable:
    rows = [
        (block.data.ptr, block.shape[0], lane, centre)
        for block, centre in zip(blocks, centres, strict=True)
    ]
    counts = np.array([-(-block.shape[0] // lane) for block in blocks])
    owners = np.repeat(np.arange(counts.size), counts)
    numbers = np.arange(owners.size) - np.repeat(np.cumsum(counts) - counts, counts)
    room = WORD_BYTES * TOKENS * lane + STATE_BYTES
    begins = room * np.arange(owners.size)
    windows = np.stack([owners, numbers, begins, begins + room], axis=1)
    return WindowTable(np.array(rows, np.int64), windows, counts)


def _launch_windows(name: str, table: WindowTable, arguments: Sequence[object]) -> None:
    kernel = load_module(__package__, "encode.cu", {}).get_function(name)
    launch(kernel, -(-len(table.windows) // THREADS), THREADS, arguments)


def _windows_of(
    table: WindowTable, lanes: DeviceArray, sizes: Int64s, heads: Sequence[Text]
) -> list[list[Text]]:
    """Return the lanes of each block's windows in host memory; [] if the block is to be stored.

    heads : lane 0 of each block
    """
    cuts = np.cumsum(table.counts)[:-1]
    totals = [int(own.sum()) for own in np.split(sizes, cuts)]
    blocks = zip(heads, totals, table.blocks[:, 1].tolist(), strict=True)
    coded = [pays(head, total, ITEM_BYTES * n) for head, total, n in blocks]
    own = np.repeat(coded, table.counts)
    data = _joined(table.windows[own, 3], sizes[own], lanes)
    found = iter(np.split(data, np.cumsum(sizes[own])[:-1]))
    counts = zip(coded, table.counts.tolist(), strict=True)
    return [list(islice(found, n if is_coded else 0)) for is_coded, n in counts]


def _runs_of(
    heads: Sequence[Text],
    lanes: Sequence[list[Text]],
    blocks: Sequence[DeviceArray],
    params: Params,
) -> list[Encoded]:
    """Return the payload of each block: its coded lanes, or stored offsets if it has none."""
    found = []
    for i, (head, own) in enumerate(zip(heads, lanes, strict=True)):
        if own:
            payload, lane_bits = joined_payload(head, own)
        else:
            payload, lane_bits = stored_payload(to_host(blocks[i]), params.sizes.lane)
        found.append(Encoded((payload,), lane_bits))
    return found


def _joined(ends: Int64s, sizes: Int64s, lanes: DeviceArray) -> Text:
    """Copy lanes from the device to host memory, back to back.

    ends, sizes : end of each lane in `lanes`, and its bytes
    """
    if not sizes.size:
        return np.empty(0, np.uint8)
    cp, to = cupy(), np.cumsum(sizes) - sizes
    moves = cp.asarray(np.stack([ends - sizes, to, sizes], axis=1))
    out = cp.empty(int(sizes.sum()), np.uint8)
    kernel = load_module(__package__, "encode.cu", {}).get_function("join_lanes")
    launch(kernel, sizes.size, THREADS, (moves, lanes, out))
    return pull(out)
