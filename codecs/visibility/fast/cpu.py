"""Blocks of kind 2, "fast" (SPEC.md): bit planes of groups, each with the width that it needs."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.blocks import WRONG_CHECKSUM
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.container.folding import CAN_FOLD
from gangsaw.codecs.core.container.runs import Payloads, payloads_of
from gangsaw.codecs.core.container.views import Form, Places, places_of
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.aligned import aligned
from gangsaw.codecs.core.memory.per_thread import Kept
from gangsaw.codecs.core.numba.simd import static
from gangsaw.codecs.visibility.fast.blocks import KIND as KIND
from gangsaw.codecs.visibility.fast.blocks import (
    OTHER_KIND,
    WRONG_SUM,
    decode_blocks,
    encode_blocks,
)
from gangsaw.codecs.visibility.fast.planes import ROWS, SLACK, VECTOR_BYTES
from gangsaw.codecs.visibility.fast.tiles import (
    HEAD_BYTES,
    MODES,
    WRONG_END,
    WRONG_KIND,
    WRONG_MODE,
    WRONG_SIZE,
    WRONG_WIDTH,
    check,
)
from gangsaw.codecs.visibility.lanes.table import LANES, Lanes, Memory, memory_of
from gangsaw.codecs.visibility.params import component_count

Array = npt.NDArray[Any]
Payload = npt.NDArray[np.uint8]
VECTOR = 32  # bytes
GROUP_BYTES = {2: 2, 4: 2, 8: 3}  # of a group's header, by the bytes of a word
NO_SUMS = np.empty(0, np.uint32)
FIRST = np.zeros(1, np.int64)
TAIL_BYTES = 8 * LANES * ROWS + 2 * SLACK  # see `decode_tiles`

_kept = Kept()


class Plan(NamedTuple):
    """What kernels know of blocks of one form.

    Attributes
    ----------
    word_bytes : of a component
    padded : rows of the table with those that fill up the last tile
    memory, is_long : as `lanes.memory_of` gives them
    is_foreign : whether words are of foreign byte order
    extents : times, rows of a strip, rows, lanes with words
    n_bytes : of a block
    spare : bytes that are written at most behind payloads that get longer than their blocks
    """

    word_bytes: int
    padded: int
    memory: Memory
    is_long: bool
    is_foreign: bool
    extents: tuple[int, int, int, int]
    n_bytes: int
    spare: int


@lru_cache(maxsize=64)  # blocks of a chunk are alike
def plan_of(form: Form) -> Plan:
    """Return what kernels know of blocks (time, frequency, ...) of a form."""
    shape, strides, dtype = form
    lanes = Lanes.of(shape, component_count(dtype))
    memory, is_long = memory_of(lanes, shape, strides, dtype.itemsize)
    extents = lanes.n_times, lanes.n_rows, lanes.shape[0], lanes.n_series
    word_bytes, padded = dtype.itemsize // lanes.n_components, _padded_rows(lanes)
    spare = head_bytes(padded // ROWS, word_bytes) + VECTOR_BYTES + SLACK
    n_bytes = math.prod(shape) * dtype.itemsize
    return Plan(word_bytes, padded, memory, is_long, not dtype.isnative, extents, n_bytes, spare)


def _table(plan: Plan) -> Array:
    """Return the words of a table, with rows that fill up the last tile, and one of zeros."""
    return _kept.array("words", (plan.padded + 1) * LANES, f"u{plan.word_bytes}")


def encode(block: Array) -> Payload:
    """Return the payload of a block, its kind included, (n,) uint8.

    Parameters
    ----------
    block : (time, frequency, ...) of floats or complex numbers, any byte order and strides
    """
    places = places_of([block])
    plan = plan_of(places.forms[0])
    most = plan.spare + (plan.padded * LANES) * plan.word_bytes
    out = np.empty(most + plan.spare, np.uint8)
    (end,), _ = encode_some(plan, places.base, places.offsets, most, out)
    return out[:end]


def room_for(plan: Plan, n_blocks: int) -> Payload:
    """Return memory of this thread for payloads that are no longer than their blocks.

    The next call returns the same, unless `leave_room` is called.
    """
    return _kept.array("out", n_blocks * plan.n_bytes + plan.spare, "u1")


def leave_room() -> None:
    """Let what `room_for` returned last stay as it is, for whoever holds it."""
    _kept.forget("out", "u1")


def encode_some(
    plan: Plan, base: int, offsets: npt.NDArray[np.int64], most: int, out: Payload
) -> tuple[list[int], npt.NDArray[np.uint32]]:
    """Encode blocks of one form, up to one that gets longer than `most`.

    Parameters
    ----------
    base, offsets : where the blocks lie, as in `Places`
    most : bytes of a payload
    out : room for n * most bytes and plan.spare, set to payloads back to back

    Returns
    -------
    where the payloads end
    CRC-32C of each
    """
    n = offsets.size
    assert out.size >= n * most + plan.spare
    ends, sums = np.empty(n, np.int64), np.empty(n, np.uint32)
    scratch = _kept.once(_scratch, plan.word_bytes)
    done = encode_blocks(
        base, offsets, plan.memory, plan.is_foreign, plan.extents, most, _table(plan), scratch, out,
        ends, sums,
    )  # fmt: skip
    stops = ends[:done].tolist()
    if not CAN_FOLD:
        sums[:done] = [crc32c(out[a:b]) for a, b in itertools.pairwise([0, *stops])]
    return stops, sums[:done]


def decode(data: Payload, block: Array) -> None:
    """Fill a block (time, frequency, ...) of any byte order and strides from a payload.

    Raises
    ------
    CorruptChunk : it is no block of this kind, shape and dtype
    """
    places = places_of([block])
    plan = plan_of(places.forms[0])
    _, wrong = decode_some(plan, payloads_of([data]), None, places, FIRST)
    if wrong:
        raise CorruptChunk(reason(wrong, data, plan.padded, plan.word_bytes))


def decode_some(
    plan: Plan,
    payloads: Payloads,
    checksums: npt.NDArray[np.uint32] | None,
    places: Places,
    numbers: npt.NDArray[np.int64],
) -> tuple[int, int]:
    """Fill blocks of one form, up to one that is none of this kind, shape and dtype.

    Parameters
    ----------
    checksums : (n,) uint32, CRC-32C to verify, only where CAN_FOLD; None where that was done
    numbers : which blocks, (n,)

    Returns
    -------
    how many it filled
    what is wrong with the next one, for `reason`; OTHER_KIND or 0
    """
    tail = _kept.array("tail", TAIL_BYTES, "u1")
    ends = _kept.array("ends", plan.padded // ROWS, "i8")
    scratch = _kept.once(_scratch, plan.word_bytes)
    sums = (NO_SUMS if checksums is None else checksums).view()
    sums.flags.writeable = False  # so that kernels are compiled for one type alone
    filled, wrong = decode_blocks(
        tuple(payloads), sums, checksums is not None, places.base, places.offsets, numbers,
        plan.memory, plan.is_long, plan.is_foreign, plan.extents, _table(plan), scratch, tail, ends,
    )  # fmt: skip
    return filled, wrong


def _padded_rows(lanes: Lanes) -> int:
    """Rows with those that fill up the last tile."""
    return -(-lanes.shape[0] // ROWS) * ROWS


def head_bytes(n_tiles: int, word_bytes: int) -> int:
    """Return what stands before the planes."""
    return HEAD_BYTES + n_tiles * LANES * GROUP_BYTES[word_bytes]


def _scratch(word_bytes: int) -> tuple[Any, ...]:
    """Return what kernels work in: rows, residuals, plane counts, neighbours, sums of widths."""
    item = np.dtype("u8" if word_bytes == 8 else "u4")
    lanes = VECTOR // item.itemsize
    rows, residuals = aligned(2 * ROWS * lanes, item).reshape(2, -1)
    counts, neighbours = aligned(lanes, item), aligned(3 * ROWS, np.int64)
    totals = aligned(MODES * lanes + 2 * LANES, item)
    columns = rows.view(np.uint32), counts.view(np.int32)
    return rows, columns[0], residuals, counts, columns[1], neighbours, totals, static(lanes)


def plane_ends(data: npt.NDArray[np.uint8], lanes: Lanes, word_bytes: int) -> npt.NDArray[np.int64]:
    """Return where the planes of each tile end, (n_tiles,), from where those of the first begin.

    Raises
    ------
    CorruptChunk : as `decode` does
    """
    wrong, ends = _checked(data, _padded_rows(lanes), word_bytes)
    if wrong:
        raise CorruptChunk(reason(wrong, data, _padded_rows(lanes), word_bytes))
    return ends


def _checked(data: Payload, padded: int, word_bytes: int) -> tuple[int, npt.NDArray[np.int64]]:
    ends, words = np.empty(padded // ROWS, np.int64), np.empty(0, f"u{word_bytes}")
    return check(data, ends.size, words, ends), ends


def reason(wrong: int, data: Payload, padded: int, word_bytes: int) -> str:
    """Say what kernels found wrong with a payload for a table of so many rows."""
    if wrong == WRONG_SUM:
        return WRONG_CHECKSUM
    _, ends = _checked(data, padded, word_bytes)
    head = head_bytes(ends.size, word_bytes)
    reasons = {
        OTHER_KIND: "it is of another kind",
        WRONG_SIZE: f"{data.size} bytes are too few for the headers of {ends.size} tiles",
        WRONG_MODE: f"no mode {data[1]} is known" if data.size > 1 else "",
        WRONG_WIDTH: "a group has a width that it cannot have in its mode",
        WRONG_KIND: "a group has a kind that it cannot have in its mode",
        WRONG_END: f"its planes end at byte {head + ends[-1]}, there are {data.size}",
    }
    return reasons[wrong]
