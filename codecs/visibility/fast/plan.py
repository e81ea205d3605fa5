"""What the kernels of "fast" know of blocks that are alike, and the memory they work in."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.container.views import Form
from gangsaw.codecs.core.memory.aligned import aligned
from gangsaw.codecs.core.memory.per_thread import ThreadScratch
from gangsaw.codecs.core.numba.vectors.integers import static
from gangsaw.codecs.visibility.fast.tiling.modes import MODES
from gangsaw.codecs.visibility.fast.tiling.planes import SLACK, VECTOR_BYTES
from gangsaw.codecs.visibility.fast.tiling.tiles import HEAD_BYTES
from gangsaw.codecs.visibility.lanes.table import LANES, ROWS, Lanes, Memory, memory_of
from gangsaw.codecs.visibility.params import component_count

VECTOR = 32  # bytes
GROUP_BYTES = {2: 2, 4: 2, 8: 3}  # of a group's header, by the bytes of a word
TAIL_BYTES = 8 * LANES * ROWS + 2 * SLACK  # see `decode_tiles`

_per_thread = ThreadScratch()


class Extents(NamedTuple):
    """How long a table is.

    Attributes
    ----------
    n_times : of a series, or of a segment of one
    n_strip_rows, n_rows : of a strip, of the table without rows that fill up its last tile
    n_series : lanes with words
    """

    n_times: int
    n_strip_rows: int
    n_rows: int
    n_series: int


class FormPlan(NamedTuple):
    """What kernels know of blocks of one form.

    Attributes
    ----------
    word_bytes : of a component
    memory, is_long : as `lanes.memory_of` gives them
    is_foreign : whether words are of foreign byte order
    extents : of the table
    n_bytes : of a block
    spare : most bytes written after payloads that get longer than their blocks
    """

    word_bytes: int
    memory: Memory
    is_long: bool
    is_foreign: bool
    extents: Extents
    n_bytes: int
    spare: int

    @property
    def n_tiles(self) -> int:
        """Tiles of the table."""
        return tile_count(self.extents.n_rows)


class TileScratch(NamedTuple):
    """What a vector of lanes of a tile is worked on in; W is a word, or 32 bits if that is more.

    Attributes
    ----------
    rows, columns : (32 * lanes,) W, and the same memory as uint32: values whose planes are stored
    residuals : (32 * lanes,) W
    counts, column_counts : (lanes,) W, and the same memory as int32: planes of each column
    neighbours : (3 * 32,) int64, places of the words that predict each row
    totals : W, widths added up for each mode, then those of each lane of a tile
    lanes : of a vector, `static`
    """

    rows: NumpyArray
    columns: npt.NDArray[np.uint32]
    residuals: NumpyArray
    counts: NumpyArray
    column_counts: npt.NDArray[np.int32]
    neighbours: npt.NDArray[np.int64]
    totals: NumpyArray
    lanes: tuple[None, ...]


class CallMemory(NamedTuple):
    """Memory that one call works in.

    Attributes
    ----------
    table : words, flat, with rows that fill up the last tile, and one of zeros
    scratch : for a tile
    tail : (TAIL_BYTES,) uint8, the end of a payload behind which nothing may be read
    ends : (n_tiles,) int64, where the planes of each tile end
    """

    table: NumpyArray
    scratch: TileScratch
    tail: NumpyArray
    ends: NumpyArray


@lru_cache(maxsize=64)  # blocks of a chunk are alike
def plan_of(form: Form) -> FormPlan:
    """Return what kernels know of blocks (time, frequency, ...) of a form."""
    shape, strides, dtype = form
    lanes = Lanes.of(shape, component_count(dtype))
    memory, is_long = memory_of(lanes, shape, strides, dtype.itemsize)
    extents = Extents(lanes.n_times, lanes.n_rows, lanes.shape[0], lanes.n_series)
    word_bytes = dtype.itemsize // lanes.n_components
    spare = head_bytes(tile_count(lanes.shape[0]), word_bytes) + VECTOR_BYTES + SLACK
    n_bytes = math.prod(shape) * dtype.itemsize
    return FormPlan(word_bytes, memory, is_long, not dtype.isnative, extents, n_bytes, spare)


def work_for(plan: FormPlan) -> CallMemory:
    """Return memory of this thread, the same one each time, for blocks of a form."""
    n_words = (plan.n_tiles * ROWS + 1) * LANES
    return CallMemory(
        _per_thread.array("table", n_words, f"u{plan.word_bytes}"),
        _per_thread.once(_scratch, plan.word_bytes),
        _per_thread.array("tail", TAIL_BYTES, "u1"),
        _per_thread.array("ends", plan.n_tiles, "i8"),
    )


def tile_count(n_rows: int) -> int:
    """Return the tiles that so many rows fill, the last one in part."""
    return -(-n_rows // ROWS)


def head_bytes(n_tiles: int, word_bytes: int) -> int:
    """Return what precedes the planes."""
    return HEAD_BYTES + n_tiles * LANES * GROUP_BYTES[word_bytes]


def room_for(plan: FormPlan, n_blocks: int) -> npt.NDArray[np.uint8]:
    """Return memory of this thread for payloads that are no longer than their blocks.

    The next call returns the same, unless `leave_room` is called.
    """
    return _per_thread.array("out", n_blocks * plan.n_bytes + plan.spare, np.uint8)


def leave_room() -> None:
    """Leave the last result of `room_for` to its holder: the next call gets other memory."""
    _per_thread.forget("out", np.uint8)


def _scratch(word_bytes: int) -> TileScratch:
    item = np.dtype("u8" if word_bytes == 8 else "u4")
    lanes = VECTOR // item.itemsize
    rows, residuals = aligned(2 * ROWS * lanes, item).reshape(2, -1)
    counts, neighbours = aligned(lanes, item), aligned(3 * ROWS, np.int64)
    totals = aligned(MODES * lanes + 2 * LANES, item)
    columns, column_counts = rows.view(np.uint32), counts.view(np.int32)
    return TileScratch(
        rows, columns, residuals, counts, column_counts, neighbours, totals, static(lanes)
    )
