"""Blocks of kind 2, "fast" (SPEC.md): bit planes of groups, each with the width that it needs."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.kept import Kept
from gangsaw.codecs.core.simd import static
from gangsaw.codecs.visibility.fast_tiles import (
    HEAD_BYTES,
    MODES,
    WRONG_KIND,
    WRONG_MODE,
    WRONG_SIZE,
    WRONG_WIDTH,
    check,
    decode_tiles,
    encode_tiles,
)
from gangsaw.codecs.visibility.lanes import LANES, Lanes, gather, scatter
from gangsaw.codecs.visibility.params import component_count
from gangsaw.codecs.visibility.planes import ROWS, SLACK

Array = npt.NDArray[Any]
KIND = 2
VECTOR = 32  # bytes
GROUP_BYTES = {2: 2, 4: 2, 8: 3}  # of a group's header, by the bytes of a word


_kept = Kept()


def _work(word_bytes: int, n_rows: int) -> tuple[Array, Array, Array, Any]:
    """Return what kernels work in, for a table of so many rows or for a longer one.

    Returns
    -------
    words : of a table, with rows that fill up the last tile, and one of zeros
    out : a payload and SLACK bytes; what a decoder is given has none
    ends : where the planes of each tile end
    scratch : as `_scratch` makes it
    """
    n_tiles = n_rows // ROWS
    n_words = (n_rows + 1) * LANES
    n_bytes = head_bytes(n_tiles, word_bytes) + n_words * word_bytes + SLACK
    return (
        _kept.array("words", n_words, f"u{word_bytes}"),
        _kept.array("out", n_bytes, "u1"),
        _kept.array("ends", n_tiles, "i8"),
        _kept.once(_scratch, word_bytes),
    )


def encode(block: Array) -> npt.NDArray[np.uint8]:
    """Return the payload of a block, its kind included, (n,) uint8.

    Parameters
    ----------
    block : (time, frequency, ...) of floats or complex numbers, any byte order and strides
    """
    return encode_here(block).copy()


def encode_here(block: Array) -> npt.NDArray[np.uint8]:
    """As `encode`, but the payload lies in memory of this thread that the next call uses again."""
    lanes, n_rows, padded, extents = _plan(block.shape, component_count(block.dtype))
    words, out, _, scratch = _work(block.itemsize // lanes.n_components, padded)
    table = words[: (padded + 1) * LANES].reshape(-1, LANES)
    gather(block, lanes, table[:n_rows])
    if padded > n_rows:
        table[n_rows:padded] = table[n_rows - 1]
    table[padded] = 0
    out[0] = KIND
    end = encode_tiles(words, extents, scratch, out)
    return out[:end]


def leave_payload() -> None:
    """Let what `encode_here` returned last stay as it is, for whoever holds it."""
    _kept.forget("out", "u1")


def decode(data: npt.NDArray[np.uint8], block: Array) -> None:
    """Fill a block (time, frequency, ...) of any byte order and strides from a payload.

    Raises
    ------
    CorruptChunk : it is no block of this kind, shape and dtype
    """
    lanes, n_rows, padded, extents = _plan(block.shape, component_count(block.dtype))
    words, tail, ends, scratch = _work(block.itemsize // lanes.n_components, padded)
    wrong = decode_tiles(data, tail, words, extents, ends, scratch)
    if wrong:
        _refuse(wrong, data, words, ends[: padded // ROWS])
    scatter(words[: n_rows * LANES].reshape(-1, LANES), lanes, block)


def _padded_rows(lanes: Lanes) -> int:
    """Rows with those that fill up the last tile."""
    return -(-lanes.shape[0] // ROWS) * ROWS


@lru_cache(maxsize=64)  # blocks of a chunk are alike
def _plan(
    shape: tuple[int, ...], n_components: int
) -> tuple[Lanes, int, int, tuple[int, int, int]]:
    """Return lanes, rows of their table, the same with those that fill up, extents for kernels."""
    lanes = Lanes.of(shape, n_components)
    n_rows = lanes.shape[0]
    return lanes, n_rows, _padded_rows(lanes), (lanes.n_times, lanes.n_rows, n_rows)


def head_bytes(n_tiles: int, word_bytes: int) -> int:
    """Return what stands before the planes."""
    return HEAD_BYTES + n_tiles * LANES * GROUP_BYTES[word_bytes]


def _scratch(word_bytes: int) -> tuple[Any, ...]:
    """Return what kernels work in: rows, residuals, plane counts, neighbours, sums of widths."""
    item = np.dtype("u8" if word_bytes == 8 else "u4")
    lanes = VECTOR // item.itemsize
    rows, residuals = np.empty((2, ROWS * lanes), item)
    counts, neighbours = np.empty(lanes, item), np.empty(3 * ROWS, np.int64)
    totals = np.empty(MODES * lanes + 2 * LANES, item)
    columns = rows.view(np.uint32), counts.view(np.int32)
    return rows, columns[0], residuals, counts, columns[1], neighbours, totals, static(lanes)


def plane_ends(data: npt.NDArray[np.uint8], lanes: Lanes, word_bytes: int) -> npt.NDArray[np.int64]:
    """Return where the planes of each tile end, (n_tiles,), from where those of the first begin.

    Raises
    ------
    CorruptChunk : as `decode` does
    """
    ends, words = np.empty(_padded_rows(lanes) // ROWS, np.int64), np.empty(0, f"u{word_bytes}")
    wrong = check(data, ends.size, words, ends)
    if wrong:
        _refuse(wrong, data, words, ends)
    return ends


def _refuse(wrong: int, data: npt.NDArray[np.uint8], words: Array, ends: Array) -> None:
    """Raise CorruptChunk for what `check` found wrong with a payload."""
    head = head_bytes(ends.size, words.itemsize)
    if wrong == WRONG_SIZE:
        raise CorruptChunk(f"{data.size} bytes are too few for the headers of {ends.size} tiles")
    if wrong == WRONG_MODE:
        raise CorruptChunk(f"no mode {data[1]} is known")
    if wrong in (WRONG_KIND, WRONG_WIDTH):
        what = "width" if wrong == WRONG_WIDTH else "kind"
        raise CorruptChunk(f"a group has a {what} that it cannot have in mode {data[1]}")
    raise CorruptChunk(f"its planes end at byte {head + ends[-1]}, there are {data.size}")
