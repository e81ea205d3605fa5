"""Copies between a block in memory and its table of lanes (SPEC.md, Lanes).

In the usual layout, a row of the table is contiguous in memory, so a table is filled by copies.
Neighbours in time and in frequency are in the same lane of other rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Array, Int64s, NumpyArray
from gangsaw.codecs.core.memory.aligned import LINE, LONG, address_of
from gangsaw.codecs.core.numba.bits import ItemPointer, ahead, pointer, swapped
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.nontemporal import UNIT, drain, write_lines, write_piece
from gangsaw.codecs.core.numba.tiles import NO, YES, copy_column, fetch_line
from gangsaw.codecs.core.numba.vectors.integers import value_of
from gangsaw.codecs.visibility.params import LANES as LANES
from gangsaw.codecs.visibility.params import component_count

ROWS = 32  # rows of a tile: a bit plane of a lane is a word
# largest power of two not above the index
POWERS = np.array([0, *(1 << n.bit_length() - 1 for n in range(1, LANES + 1))])
NEAR = 1 << 14  # bytes; half of a level 1 cache
# Bytes between frequencies from which they are copied one at a time, for reads and for writes:
# beyond it the hardware prefetches too little, sooner for writes.
FAR = 1 << 11, 1 << 8
ONE_RUN = np.zeros(1, np.int64)
LEAST_PIECE = 512  # least contiguous bytes for a non-temporal store
# columns of runs, see `memory_of`
OFFSET, PLACE, TIMES, FREQUENCIES, BEGINS, ENDS, PIECE_BYTES, PIECES = range(8)


class Memory(NamedTuple):
    """Layout of a block in memory, as runs to copy to a table of words.

    Attributes
    ----------
    n_times, n_frequencies : extents of a segment, see `Lanes`
    time_stride, frequency_stride : bytes
    runs : (n, 8) int64, see `memory_of`
    is_full : True if the runs cover every word of the table
    """

    n_times: int
    n_frequencies: int
    time_stride: int
    frequency_stride: int
    runs: NumpyArray
    is_full: bool


@dataclass(frozen=True)
class Lanes:
    """Layout of a block's words as a table of 32 lanes (columns), which depends on its shape alone.

    A series is one component of one number at all times and frequencies. A lane of a strip (a range
    of rows) has one series, or a segment of it if series are few. A row has one time and frequency.

    Attributes
    ----------
    n_times, n_frequencies : extents of a segment or series; time is innermost in a strip's rows
    n_segments : segments along an axis of each series, which become adjacent lanes
    folds_time : True if that axis is time; else it is frequency
    n_rest : numbers at one time and frequency
    n_components : floats of a number
    """

    n_times: int
    n_frequencies: int
    n_segments: int
    folds_time: bool
    n_rest: int
    n_components: int

    @classmethod
    @lru_cache(maxsize=64)  # blocks of a chunk have the same shape
    def of(cls, shape: tuple[int, ...], n_components: int) -> Self:
        """Return the lanes of a block (time, frequency, ...) with no axis of extent 0."""
        n_times, n_frequencies = shape[:2]
        n_rest = math.prod(shape[2:])
        folds_time = n_frequencies == 1
        extent = n_times if folds_time else n_frequencies
        wanted = max(1, min(LANES // (n_rest * n_components), extent))
        piece = -(-extent // wanted)
        times, frequencies = (piece, 1) if folds_time else (n_times, piece)
        return cls(times, frequencies, -(-extent // piece), folds_time, n_rest, n_components)

    @classmethod
    def of_block(cls, block: Array) -> Self:
        """Return the lanes of a block (time, frequency, ...) of floats or complex numbers."""
        return cls.of(block.shape, component_count(block.dtype))

    @property
    def n_rows(self) -> int:
        """Rows of a strip: one for each time and frequency."""
        return self.n_times * self.n_frequencies

    @property
    def n_series(self) -> int:
        """Lanes with words, over all strips: one for each series or segment."""
        return self.n_segments * self.n_rest * self.n_components

    @property
    def n_strips(self) -> int:
        """Strips of 32 lanes."""
        return -(-self.n_series // LANES)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and lanes of a table: strip after strip."""
        return self.n_strips * self.n_rows, LANES


def gather_block(block: NumpyArray, lanes: Lanes, table: NumpyArray) -> None:
    """Copy a block to its table of words.

    Parameters
    ----------
    block : (time, frequency, ...) of floats or complex numbers, any byte order and strides
    lanes : lanes of the block
    table : (n_strips * n_rows, 32) unsigned, C-contiguous; lanes and rows without words become 0
    """
    memory, _ = memory_of(lanes, block.shape, block.strides, block.itemsize)
    gather_words(table.ravel(), address_of(block), memory, not block.dtype.isnative)


def scatter_block(table: NumpyArray, lanes: Lanes, block: NumpyArray) -> None:
    """Copy a table of words to its block; for foreign byte order, the table is left swapped."""
    memory, is_long = memory_of(lanes, block.shape, block.strides, block.itemsize)
    scatter_words(table.ravel(), address_of(block), memory, is_long, not block.dtype.isnative)


def side_by_side(
    shape: tuple[int, ...], strides: tuple[int, ...], item_bytes: int
) -> tuple[npt.NDArray[np.int64], int]:
    """Return byte offsets of contiguous runs of numbers, and their length in numbers.

    They are the runs at one time and frequency, in C order of the rest axes: all other axes.

    Parameters
    ----------
    shape, strides : extents of the rest axes, and their strides in bytes
    item_bytes : bytes of one number
    """
    offsets, length = ONE_RUN, 1
    axes = list(zip(shape, strides, strict=True))
    while axes and (axes[-1][1] == length * item_bytes or axes[-1][0] == 1):
        length *= axes.pop()[0]
    for extent, stride in axes:
        if extent > 1:
            steps = np.arange(extent, dtype=np.int64) * stride
            offsets = np.add.outer(offsets, steps).ravel()
    return offsets, length


@lru_cache(maxsize=64)  # blocks of a chunk share one layout
def memory_of(
    lanes: Lanes, shape: tuple[int, ...], strides: tuple[int, ...], item_bytes: int
) -> tuple[Memory, bool]:
    """Return the layout of a block in memory, and True if non-temporal stores are to be used.

    A run is a contiguous piece of memory. It is a piece of a row, a power of two of words long, or
    several whole rows of consecutive strips. Runs are (n, 8) int64, with these columns:

    OFFSET, PLACE : bytes from the start of the block; index of the word in the table
    TIMES, FREQUENCIES : extents of the run
    BEGINS, ENDS : 1 if no other run at the same time and frequency lies directly before, or after
    PIECE_BYTES, PIECES : bytes of a piece, and number of pieces
    """
    offsets, numbers = side_by_side(shape[2:], strides[2:], item_bytes)
    word_bytes, words = item_bytes // lanes.n_components, numbers * lanes.n_components
    series, done, size, count = _pieces(lanes.n_segments * offsets.size, words)
    segment, start = np.divmod(series, offsets.size)
    axis, piece = (0, lanes.n_times) if lanes.folds_time else (1, lanes.n_frequencies)
    runs = np.empty((series.size, 8), np.int64)
    runs[:, OFFSET] = segment * piece * strides[axis] + offsets[start] + done * word_bytes
    lane = series * words + done
    runs[:, PLACE] = lane // LANES * (lanes.n_rows * LANES) + lane % LANES
    runs[:, TIMES], runs[:, FREQUENCIES] = lanes.n_times, lanes.n_frequencies
    runs[:, FREQUENCIES if axis else TIMES] = np.minimum(piece, shape[axis] - segment * piece)
    runs[:, PIECE_BYTES], runs[:, PIECES] = size * word_bytes, count
    begins = np.diff(runs[:, OFFSET], prepend=0) != np.roll(runs[:, PIECE_BYTES] * count, 1)
    begins |= np.diff(segment, prepend=-1) != 0
    runs[:, BEGINS], runs[:, ENDS] = begins, np.roll(begins, -1)
    is_full = math.prod(lanes.shape) == math.prod(shape) * lanes.n_components
    memory = Memory(lanes.n_times, lanes.n_frequencies, strides[0], strides[1], runs, is_full)
    reach = sum(abs(step) * (n - 1) for step, n in zip(strides, shape, strict=True))
    steps = np.array([*strides[:2], *offsets])
    is_even = not np.any(runs[:, PIECE_BYTES] % LINE) and not np.any(steps % UNIT)
    return memory, reach >= LONG and numbers * item_bytes >= LEAST_PIECE and is_even


def _pieces(n_series: int, words: int) -> tuple[npt.NDArray[np.int64], ...]:
    """Split contiguous memory at the ends of strip rows, and into powers of two of words.

    Parameters
    ----------
    n_series : pieces of memory, consecutive in the table
    words : words of each piece

    Returns
    -------
    (n,) int64 each : piece of memory of each run, words before it in that piece, words of one of
        its own pieces, and their number, above 1 for whole rows only
    """
    found, series, done = [], np.arange(n_series), np.zeros(n_series, np.int64)
    while series.size:
        left = words - done
        size = POWERS[np.minimum(LANES - (series * words + done) % LANES, left)]
        count = np.where(size == LANES, left // LANES, 1)
        found.append((series, done, size, count))
        more = size * count < left
        series, done = series[more], (done + size * count)[more]
    series, done, size, count = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((done, series))
    return series[order], done[order], size[order], count[order]


@jit(norefs=True)
def gather_words(table: NumpyArray, address: int, memory: Memory, is_foreign: bool) -> None:
    """Copy a block at a memory address to its flat table of words."""
    if not memory.is_full:
        table[:] = 0
    _copy_runs(table, NO, address, memory)
    if is_foreign:
        _swap(table)


@jit(norefs=True)
def scatter_words(
    table: NumpyArray, address: int, memory: Memory, is_long: bool, is_foreign: bool
) -> None:
    """Copy a flat table of words to a block at a memory address.

    is_long : True for non-temporal stores
    """
    if is_foreign:
        _swap(table)
    if is_long and address % UNIT == 0:
        _store_runs(table, address, memory)
        drain()
    else:
        _copy_runs(table, YES, address, memory)


@jit(inline=True, part=True, norefs=True)
def _swap(table: NumpyArray) -> None:
    for i in range(table.size):
        table[i] = swapped(table[i])


@jit(inline=True, part=True, norefs=True)
def _copy_runs(table: NumpyArray, back: tuple[None, ...], address: int, memory: Memory) -> None:
    """Copy the runs of a block to a table, or back (`static`), at several frequencies at once."""
    n_times, n_frequencies, time_stride, frequency_stride, runs, _ = memory
    distance = abs(frequency_stride)
    some = NEAR // max(1, distance) if distance < FAR[value_of(back)] else 1
    for t in range(n_times):
        for f in range(0, n_frequencies, some):
            source = address + t * time_stride + f * frequency_stride
            row = (f * n_times + t) * LANES
            for i in range(len(runs)):
                n = min(some, runs[i, FREQUENCIES] - f)
                if t < runs[i, TIMES] and n > 0:
                    _copy_run(table, row, source, memory, runs[i], n, back)


@jit(inline=True, part=True, norefs=True)
def _copy_run(
    table: NumpyArray,
    row: int,
    source: int,
    memory: Memory,
    run: Int64s,
    n: int,
    back: tuple[None, ...],
) -> None:
    """Copy a run at n frequencies; its consecutive pieces are a strip apart in the table."""
    place, size, step = source + run[OFFSET], run[PIECE_BYTES], memory.n_times * LANES
    strip, next_place = memory.n_frequencies * step, memory.frequency_stride
    if n > 1:
        for k in range(run[PIECES]):
            ours = pointer(table, run[PLACE] + row + k * strip)
            copy_column(ours, step, place + k * size, next_place, n, size, back)
        return
    if value_of(back):  # eight frequencies ahead are too many for pieces of 1 KiB
        for line in range(place + next_place, place + next_place + size * run[PIECES], LINE):
            fetch_line(line)
    for k in range(run[PIECES]):
        ours = pointer(table, run[PLACE] + row + k * strip)
        copy_column(ours, 0, place + k * size, 0, 1, size, back)


@jit(inline=True, part=True, norefs=True)
def _store_runs(table: NumpyArray, address: int, memory: Memory) -> None:
    """Copy a table to the runs of a block with non-temporal stores, usually in memory order."""
    n_times, n_frequencies, time_stride, frequency_stride, runs, _ = memory
    strip = n_times * n_frequencies * LANES
    for t in range(n_times):
        for f in range(n_frequencies):
            source = address + t * time_stride + f * frequency_stride
            row = (f * n_times + t) * LANES
            for i in range(len(runs)):
                if t < runs[i, TIMES] and f < runs[i, FREQUENCIES]:
                    ours = pointer(table, runs[i, PLACE] + row)
                    _store_run(ours, strip, source + runs[i, OFFSET], frequency_stride, runs[i])


@jit(inline=True, part=True, norefs=True)
def _store_run(
    ours: ItemPointer[int], strip: int, place: int, next_place: int, run: Int64s
) -> None:
    size, last = run[PIECE_BYTES], run[PIECES] - 1
    write_piece(ours, place, size, run[BEGINS] != 0, last == 0 and run[ENDS] != 0)
    for k in range(1, last):
        write_lines(ahead(ours, k * strip), place + k * size, size)
    if last > 0:
        write_piece(ahead(ours, last * strip), place + last * size, size, False, run[ENDS] != 0)
    end = place + run[PIECES] * size
    if run[ENDS] != 0 and end % LINE:  # prefetch the line that will be written in part
        fetch_line(end + next_place)
