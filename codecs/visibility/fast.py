"""Blocks of kind 2, "fast" (SPEC.md): bit planes of groups, each with the width that it needs."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.blocks import WRONG_CHECKSUM
from gangsaw.codecs.core.checksum import crc32c
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.folding import CAN_FOLD
from gangsaw.codecs.core.kept import Kept
from gangsaw.codecs.core.simd import static
from gangsaw.codecs.visibility.fast_blocks import KIND as KIND
from gangsaw.codecs.visibility.fast_blocks import WRONG_SUM, decode_blocks, encode_blocks
from gangsaw.codecs.visibility.fast_tiles import (
    HEAD_BYTES,
    MODES,
    WRONG_END,
    WRONG_KIND,
    WRONG_MODE,
    WRONG_SIZE,
    WRONG_WIDTH,
    check,
)
from gangsaw.codecs.visibility.lanes import LANES, Lanes, Memory, address_of, memory_of
from gangsaw.codecs.visibility.params import component_count
from gangsaw.codecs.visibility.planes import ROWS, SLACK

Array = npt.NDArray[Any]
Payload = npt.NDArray[np.uint8]
VECTOR = 32  # bytes
GROUP_BYTES = {2: 2, 4: 2, 8: 3}  # of a group's header, by the bytes of a word


_kept = Kept()


def _work(word_bytes: int, n_rows: int, n_blocks: int) -> tuple[Array, Array, Array, Any]:
    """Return what kernels work in, for tables of so many rows or for longer ones.

    Returns
    -------
    words : of a table, with rows that fill up the last tile, and one of zeros
    out : payloads of so many blocks and SLACK bytes; what a decoder is given has none
    ends : where the planes of each tile end, or each payload
    scratch : as `_scratch` makes it
    """
    n_tiles = n_rows // ROWS
    n_words = (n_rows + 1) * LANES
    n_bytes = n_blocks * (head_bytes(n_tiles, word_bytes) + n_words * word_bytes + SLACK)
    return (
        _kept.array("words", n_words, f"u{word_bytes}"),
        _kept.array("out", n_bytes, "u1"),
        _kept.array("ends", max(n_tiles, n_blocks), "i8"),
        _kept.once(_scratch, word_bytes),
    )


def encode(block: Array) -> Payload:
    """Return the payload of a block, its kind included, (n,) uint8.

    Parameters
    ----------
    block : (time, frequency, ...) of floats or complex numbers, any byte order and strides
    """
    payload, _, _ = encode_some([block], sys.maxsize)
    return payload.copy()


def encode_some(
    blocks: Sequence[Array], most: int
) -> tuple[Payload, list[int], npt.NDArray[np.uint32]]:
    """Encode blocks of one shape, one dtype and equal strides, up to one longer than `most`.

    Returns
    -------
    payloads of those before it, back to back; they lie in memory of this thread that the next call
        uses again, unless `leave_payloads` is called
    where each ends
    CRC-32C of each
    """
    plan, n = _plan(blocks[0]), len(blocks)
    words, out, ends, scratch = _work(plan.word_bytes, plan.padded, n)
    places, sums = np.array([address_of(block) for block in blocks]), np.empty(n, np.uint32)
    done = encode_blocks(
        places, plan.memory, plan.is_foreign, plan.extents, most, words, scratch, out, ends, sums
    )
    stops = ends[:done].tolist()
    if not CAN_FOLD:
        sums[:done] = [crc32c(out[a:b]) for a, b in itertools.pairwise([0, *stops])]
    return out[: stops[-1] if stops else 0], stops, sums[:done]


def leave_payloads() -> None:
    """Let what `encode_some` returned last stay as it is, for whoever holds it."""
    _kept.forget("out", "u1")


def decode(data: Payload, block: Array) -> None:
    """Fill a block (time, frequency, ...) of any byte order and strides from a payload.

    Raises
    ------
    CorruptChunk : it is no block of this kind, shape and dtype
    """
    decode_some([data], None, [block])


def decode_some(
    parts: Sequence[Payload], checksums: npt.NDArray[np.uint32] | None, blocks: Sequence[Array]
) -> None:
    """Fill blocks of one shape, one dtype and equal strides from payloads of this kind.

    Parameters
    ----------
    checksums : (n,) uint32, CRC-32C to verify, only where CAN_FOLD; None where that was done

    Raises
    ------
    CorruptChunk : names the first that is no block of this kind, shape and dtype, or has another
        checksum
    """
    plan = _plan(blocks[0])
    words, tail, ends, scratch = _work(plan.word_bytes, plan.padded, 1)
    sources = np.array([(address_of(part), part.size) for part in parts])
    places = np.array([address_of(block) for block in blocks])
    sums = (np.empty(len(blocks), np.uint32) if checksums is None else checksums).view()
    sums.flags.writeable = False  # so that kernels are compiled for one type alone
    which, wrong = decode_blocks(
        sources, sums, checksums is not None, places, plan.memory, plan.is_long, plan.is_foreign,
        plan.extents, words, scratch, tail, ends,
    )  # fmt: skip
    if wrong:
        _refuse(wrong, parts[which], words, ends[: plan.padded // ROWS], which)


def _padded_rows(lanes: Lanes) -> int:
    """Rows with those that fill up the last tile."""
    return -(-lanes.shape[0] // ROWS) * ROWS


class _Plan(NamedTuple):
    """What kernels know of blocks of one shape, one dtype and equal strides.

    Attributes
    ----------
    word_bytes : of a component
    padded : rows of the table with those that fill up the last tile
    memory, is_long : as `lanes.memory_of` gives them
    is_foreign : whether words are of foreign byte order
    extents : times, rows of a strip, rows
    """

    word_bytes: int
    padded: int
    memory: Memory
    is_long: bool
    is_foreign: bool
    extents: tuple[int, int, int]


def _plan(block: Array) -> _Plan:
    return _planned(block.shape, block.strides, block.dtype)


@lru_cache(maxsize=64)  # blocks of a chunk are alike
def _planned(shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]) -> _Plan:
    lanes = Lanes.of(shape, component_count(dtype))
    memory, is_long = memory_of(lanes, shape, strides, dtype.itemsize)
    extents = lanes.n_times, lanes.n_rows, lanes.shape[0]
    word_bytes = dtype.itemsize // lanes.n_components
    return _Plan(word_bytes, _padded_rows(lanes), memory, is_long, not dtype.isnative, extents)


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


def _refuse(wrong: int, data: Payload, words: Array, ends: Array, block: int | None = None) -> None:
    """Raise CorruptChunk for what kernels found wrong with a payload."""
    head = head_bytes(ends.size, words.itemsize)
    reasons = {
        WRONG_SUM: WRONG_CHECKSUM,
        WRONG_SIZE: f"{data.size} bytes are too few for the headers of {ends.size} tiles",
        WRONG_MODE: f"no mode {data[1]} is known" if data.size > 1 else "",
        WRONG_WIDTH: "a group has a width that it cannot have in its mode",
        WRONG_KIND: "a group has a kind that it cannot have in its mode",
        WRONG_END: f"its planes end at byte {head + ends[-1]}, there are {data.size}",
    }
    raise CorruptChunk(reasons[wrong], block=block)
