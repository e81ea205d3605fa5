"""Blocks of kind 2, "fast" (SPEC.md): bit planes of groups, each with the width that it needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.simd import static
from gangsaw.codecs.visibility.fast_tiles import (
    HEAD_BYTES,
    MODES,
    decode_tiles,
    encode_tiles,
    planes_of,
)
from gangsaw.codecs.visibility.lanes import LANES, Lanes, gather, scatter
from gangsaw.codecs.visibility.planes import ROWS, SLACK

Array = npt.NDArray[Any]
KIND = 2
VECTOR = 32  # bytes
GROUP_BYTES = {2: 2, 4: 2, 8: 3}  # of a group's header, by the bytes of a word


def encode(block: Array) -> npt.NDArray[np.uint8]:
    """Return the payload of a block, its kind included, (n,) uint8.

    Parameters
    ----------
    block : (time, frequency, ...) of floats or complex numbers, any byte order and strides
    """
    lanes = Lanes.of_block(block)
    n_rows, table = lanes.shape[0], _empty_table(block, lanes)
    gather(block, lanes, table[:n_rows])
    table[n_rows:-1] = table[n_rows - 1]
    head = _head_bytes(table)
    out = np.empty(head + table[:-1].nbytes + SLACK, np.uint8)
    out[0] = KIND
    end = encode_tiles(table.ravel(), _extents(lanes), _scratch(table.itemsize), out)
    return out[:end]


def decode(data: npt.NDArray[np.uint8], block: Array) -> None:
    """Fill a block (time, frequency, ...) of any byte order and strides from a payload.

    Raises
    ------
    CorruptChunk : it is no block of this kind, shape and dtype
    """
    lanes = Lanes.of_block(block)
    table = _empty_table(block, lanes)
    ends = _checked(data, table)
    extents, scratch, head = _extents(lanes), _scratch(table.itemsize), _head_bytes(table)
    # The planes of a tile are read up to SLACK bytes too far: the last tiles get a copy with room.
    near = int(np.searchsorted(ends, ends[-1] - SLACK, "right"))
    place = head + int(ends[near - 1]) if near else head
    tail = np.zeros(data.size - place + SLACK, np.uint8)
    tail[: data.size - place] = data[place:]
    words, mode = table.ravel(), int(data[1])
    decode_tiles(data, data, words, extents, (0, near, head, mode), scratch)
    decode_tiles(data, tail, words, extents, (near, len(ends), 0, mode), scratch)
    scatter(table[: lanes.shape[0]], lanes, block)


def _empty_table(block: Array, lanes: Lanes) -> Array:
    """Return a table with rows that fill up the last tile, and one of zeros."""
    n_rows = -(-lanes.shape[0] // ROWS) * ROWS
    table = np.empty((n_rows + 1, LANES), f"u{block.itemsize // lanes.n_components}")
    table[-1] = 0
    return table


def _extents(lanes: Lanes) -> tuple[int, int, int]:
    return lanes.n_times, lanes.n_rows, lanes.shape[0]


def _head_bytes(table: Array) -> int:
    """Return what stands before the planes."""
    return HEAD_BYTES + len(table) // ROWS * LANES * GROUP_BYTES[table.itemsize]


def _scratch(word_bytes: int) -> tuple[Any, ...]:
    """Return what kernels work in: rows, residuals, plane counts, neighbours, sums of widths."""
    item = np.dtype("u8" if word_bytes == 8 else "u4")
    lanes = VECTOR // item.itemsize
    rows, residuals = np.empty((2, ROWS * lanes), item)
    counts, neighbours = np.empty(lanes, item), np.empty(3 * ROWS, np.int64)
    totals = np.empty(MODES * lanes + 2 * LANES, item)
    columns = rows.view(np.uint32), counts.view(np.int32)
    return rows, columns[0], residuals, counts, columns[1], neighbours, totals, static(lanes)


def _checked(data: npt.NDArray[np.uint8], table: Array) -> npt.NDArray[np.int64]:
    """Return where the planes of each tile end, (n_tiles,), from where those of the first begin."""
    head, n_tiles = _head_bytes(table), len(table) // ROWS
    if data.size < head:
        raise CorruptChunk(f"{data.size} bytes are too few for the headers of {n_tiles} tiles")
    mode = int(data[1])
    if mode >= MODES or (mode % 4 == 0 and mode > 4):
        raise CorruptChunk(f"no mode {mode} is known")
    ends = np.empty(n_tiles, np.int64)
    wrong = planes_of(data, n_tiles, mode, table.ravel(), ends)
    if wrong:
        what = "width" if wrong & 1 else "kind"
        raise CorruptChunk(f"a group has a {what} that it cannot have in mode {mode}")
    if head + ends[-1] != data.size:
        raise CorruptChunk(f"its planes end at byte {head + ends[-1]}, there are {data.size}")
    return ends
