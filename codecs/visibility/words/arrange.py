"""Copies between a block in memory and its words: only bits, no arithmetic on floats.

Words are (component, rest, frequency, time), time innermost: neighbours in time are similar, but
neighbours in memory (real and imaginary part, polarisations) are not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Int64s, NumpyArray, Scalar
from gangsaw.codecs.core.memory.aligned import address_of
from gangsaw.codecs.core.memory.per_thread import ThreadScratch
from gangsaw.codecs.core.numba.bits import ahead, pointer, pointer_at, size_of
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.tiles import move_tile
from gangsaw.codecs.core.numba.vectors.integers import static, value_of
from gangsaw.codecs.visibility.lanes.table import side_by_side
from gangsaw.codecs.visibility.params import component_count

SIDES = (8, 4, 2, 1)  # side of a tile in words: eight vectors of eight fill the registers of AVX2
STRIP = 64  # items copied for one word before the next, so that cache lines are used whole

_per_thread = ThreadScratch()


class BlockMemory(NamedTuple):
    """Layout of a block in memory; an item is all numbers at one time and frequency.

    Attributes
    ----------
    address : address of the first item
    n_times, n_frequencies : extents of the block
    time_stride, frequency_stride : bytes from item to item
    runs, length : byte offsets of contiguous numbers in an item, and numbers of each run
    components : words of a number
    """

    address: int
    n_times: int
    n_frequencies: int
    time_stride: int
    frequency_stride: int
    runs: NumpyArray
    length: int
    components: int


def words_layout(block: NumpyArray) -> tuple[tuple[int, int, int, int], str]:
    """Return the shape (component, rest, frequency, time) and dtype of the words of a block.

    Parameters
    ----------
    block : (time, frequency, ...) view of floats or complex numbers, any byte order and strides

    Returns
    -------
    shape, and an unsigned dtype of 16, 32 or 64 bits in the machine's byte order
    """
    components = component_count(block.dtype)
    n_times, n_frequencies, *rest = block.shape
    shape = components, math.prod(rest), n_frequencies, n_times
    return shape, f"u{block.itemsize // components}"


def reused_words(block: NumpyArray) -> NumpyArray:
    """Return words for a block, in memory of this thread that the next call reuses."""
    shape, dtype = words_layout(block)
    n = math.prod(shape)
    return _per_thread.array("words", n, dtype)[:n].reshape(shape)


def to_words(block: NumpyArray, words: NumpyArray) -> None:
    """Copy a block with no axis of extent 0 to contiguous words of `words_layout`."""
    _move(address_of(words), words.dtype.type(0), static(0), *_move_arguments(block, words))
    if not block.dtype.isnative:
        words.byteswap(inplace=True)


def from_words(words: NumpyArray, block: NumpyArray) -> None:
    """Copy contiguous words to a block with no axis of extent 0, any strides and byte order.

    The words may be unaligned.
    """
    stored = words if block.dtype.isnative else words.byteswap()
    _move(address_of(stored), stored.dtype.type(0), static(1), *_move_arguments(block, words))


def _move_arguments(
    block: NumpyArray, words: NumpyArray
) -> tuple[Int64s, BlockMemory, tuple[None, ...]]:
    """Return the arguments `offsets`, `memory` and `side` of `_move`."""
    runs, length = side_by_side(block.shape[2:], block.strides[2:], block.itemsize)
    run_words = length * len(words)
    side = next(n for n in SIDES if n <= min(run_words, block.shape[0] * block.shape[1]))
    (n_times, n_frequencies), (time_stride, frequency_stride) = block.shape[:2], block.strides[:2]
    memory = BlockMemory(
        address=address_of(block),
        n_times=n_times,
        n_frequencies=n_frequencies,
        time_stride=time_stride,
        frequency_stride=frequency_stride,
        runs=runs,
        length=length,
        components=len(words),
    )
    offsets = np.empty(min(STRIP, words[0, 0].size), np.int64)
    return offsets, memory, static(side)


@jit(inline=True, part=True, norefs=True)
def _item_offsets(offsets: Int64s, first: int, memory: BlockMemory) -> None:
    """Fill the byte offsets of a strip of items from item `first` on.

    Items count in time, then in frequency.
    """
    n_times = memory.n_times
    f, t = first // n_times, first % n_times
    for i in range(offsets.size):
        offsets[i] = f * memory.frequency_stride + t * memory.time_stride
        t += 1
        if t == n_times:
            f, t = f + 1, 0


@jit(norefs=True)
def _move(
    base: int,
    zero: Scalar,
    back: tuple[None, ...],
    offsets: Int64s,
    memory: BlockMemory,
    side: tuple[None, ...],
) -> None:
    """Transpose a block in memory to words, or back, in square tiles, STRIP items at a time.

    The last tiles overlap those before them.

    Parameters
    ----------
    base : address of the words, aligned or not
    zero : a zero of the word type
    back : `static`, 1 to move from words to the block
    offsets : (items of a strip,) int64, scratch
    memory : layout of the block
    side : side of a tile, `static`
    """
    n, words = value_of(side), pointer_at(base, zero)
    runs, length, components = memory.runs, memory.length, memory.components
    items = memory.n_times * memory.n_frequencies
    odd, pair = _word_steps(items, runs.size * length, components)
    for strip in range(0, items, STRIP):
        first = min(strip, items - offsets.size)
        _item_offsets(offsets, first, memory)
        for run in range(runs.size):
            for word in range(0, length * components, n):
                k = min(word, length * components - n)
                number = run * length + k // components
                place = first + number * items + (k % components) * odd
                source = memory.address + runs[run] + k * size_of(words)
                for item in range(0, offsets.size, n):
                    j = min(item, offsets.size - n)
                    at, rows = ahead(words, place + j), pointer(offsets, j)
                    move_tile(at, odd, pair, source, rows, side, back)


@jit(inline=True, part=True, norefs=True)
def _word_steps(items: int, rest: int, components: int) -> tuple[int, int]:
    """Return the distances, in words, within a pair of words, and between pairs.

    A pair is the components of a complex number, or two consecutive real numbers.
    """
    if components == 2:
        return rest * items, items
    return items, 2 * items
