"""Plans and scratch memory for the kernels of `fast`, shared by blocks of one form."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.views import Form
from gangsaw.codecs.core.memory.aligned import empty_aligned
from gangsaw.codecs.core.memory.per_thread import ThreadScratch
from gangsaw.codecs.core.numba.vectors.integers import static
from gangsaw.codecs.visibility.fast.tiling.modes import MODES
from gangsaw.codecs.visibility.fast.tiling.planes import SLACK, VECTOR_BYTES
from gangsaw.codecs.visibility.fast.tiling.scratch import CallMemory, Extents, TileScratch
from gangsaw.codecs.visibility.fast.tiling.tiles import HEAD_BYTES
from gangsaw.codecs.visibility.lanes.table import LANES, ROWS, Lanes, Memory, memory_of
from gangsaw.codecs.visibility.params import component_count

VECTOR = 32  # bytes
GROUP_BYTES = {2: 2, 4: 2, 8: 3}  # bytes of a group's header, by the bytes of a word
TAIL_BYTES = 8 * LANES * ROWS + 2 * SLACK  # see `decode_tiles`

_per_thread = ThreadScratch()


class FormPlan(NamedTuple):
    """Kernel parameters for blocks of one form: shape, strides and dtype.

    Attributes
    ----------
    word_bytes : bytes of a component
    memory, is_long : results of `lanes.table.memory_of`
    is_foreign : True if the words are not in native byte order
    extents : lengths of the table of words
    n_bytes : bytes of a block
    spare : most bytes written past payloads that get longer than their blocks
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
        """Number of tiles of the table."""
        return tile_count(self.extents.n_rows)


@lru_cache(maxsize=64)  # blocks of a chunk have the same form
def plan_form(form: Form) -> FormPlan:
    """Return the kernel parameters for blocks (time, frequency, ...) of a form."""
    shape, strides, dtype = form
    lanes = Lanes.of(shape, component_count(dtype))
    memory, is_long = memory_of(lanes, shape, strides, dtype.itemsize)
    extents = Extents(lanes.n_times, lanes.n_rows, lanes.shape[0], lanes.n_series)
    word_bytes = dtype.itemsize // lanes.n_components
    spare = head_bytes(tile_count(lanes.shape[0]), word_bytes) + VECTOR_BYTES + SLACK
    n_bytes = math.prod(shape) * dtype.itemsize
    return FormPlan(word_bytes, memory, is_long, not dtype.isnative, extents, n_bytes, spare)


def work_for(plan: FormPlan) -> CallMemory:
    """Return scratch memory of this thread for blocks of a form, the same for each call."""
    n_words = (plan.n_tiles * ROWS + 1) * LANES
    return CallMemory(
        _per_thread.array("table", n_words, f"u{plan.word_bytes}"),
        _per_thread.once(_scratch, plan.word_bytes),
        _per_thread.array("tail", TAIL_BYTES, np.uint8),
        _per_thread.array("ends", plan.n_tiles, np.int64),
    )


def tile_count(n_rows: int) -> int:
    """Return the number of tiles of `n_rows` rows, including a partial last one."""
    return -(-n_rows // ROWS)


def head_bytes(n_tiles: int, word_bytes: int) -> int:
    """Return the bytes of a payload before the planes: kind, mode and group headers."""
    return HEAD_BYTES + n_tiles * LANES * GROUP_BYTES[word_bytes]


def reuse_buffer(plan: FormPlan, n_blocks: int) -> npt.NDArray[np.uint8]:
    """Return a buffer of this thread for payloads that are no longer than their blocks.

    Each call returns the same memory, unless `release_buffer` was called in between.
    """
    return _per_thread.array("out", n_blocks * plan.n_bytes + plan.spare, np.uint8)


def release_buffer() -> None:
    """Release the last result of `reuse_buffer` to its user: the next call allocates new memory."""
    _per_thread.forget("out", np.uint8)


def _scratch(word_bytes: int) -> TileScratch:
    item = np.dtype("u8" if word_bytes == 8 else "u4")
    lanes = VECTOR // item.itemsize
    rows, residuals = empty_aligned(2 * ROWS * lanes, item).reshape(2, -1)
    counts, neighbours = empty_aligned(lanes, item), empty_aligned(3 * ROWS, np.int64)
    totals = empty_aligned(MODES * lanes + 2 * LANES, item)
    columns, column_counts = rows.view(np.uint32), counts.view(np.int32)
    return TileScratch(
        rows, columns, residuals, counts, column_counts, neighbours, totals, static(lanes)
    )
