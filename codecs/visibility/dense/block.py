"""What kernels of the `dense` coder know of a block, a strip and a row, in both directions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.memory.aligned import aligned
from gangsaw.codecs.core.memory.per_thread import ThreadScratch
from gangsaw.codecs.core.numba.jit import jit_norefs_inline
from gangsaw.codecs.core.numba.simd import load, maximum, minimum, resize_to, select, store
from gangsaw.codecs.core.numba.simd_logic import either
from gangsaw.codecs.visibility.dense.scale import (
    CONTEXTS,
    LEVEL,
    NONE,
    RATES,
    ROW,
    SLOW,
    add_neighbours,
    find_contexts,
    follow,
)
from gangsaw.codecs.visibility.dense.symbols import COMMONEST, ZERO
from gangsaw.codecs.visibility.dense.values import size_words, split_floats, split_residuals
from gangsaw.codecs.visibility.lanes.table import LANES

ESCAPED_EXPONENT = 11  # bits, of any float
MOST_BITS = 1 + ESCAPED_EXPONENT + 64  # that one value puts beside its symbol
ROOM = LANES * 16  # bytes to spare after the bits: a row of such values


class Block(NamedTuple):
    """What kernels know of a block.

    Attributes
    ----------
    n_rows, n_times : of a strip
    n_series : lanes in use over all strips
    width, mantissa : bits of a word, of its mantissa
    means : kind of means (dense_scale)
    n_symbols : of a table
    has_commonest : whether `commonest`, a signed word, has a symbol of its own
    of_type : (2, 6) int64 for floats, then residuals: exponent where no neighbour says one, bias,
        what grids subtract from exponents, the fewest and the most bits that leaves, and the
        largest exponent
    """

    n_rows: int
    n_times: int
    n_series: int
    width: int
    mantissa: int
    means: int
    n_symbols: int
    has_commonest: bool
    commonest: int
    of_type: Any


START, BIAS, LOW, LEAST, MOST, LIMIT, FIRST, IS_RESIDUAL, N_LANE_ROWS = range(9)


class Scratch(NamedTuple):
    """What one call works with: sizes of a strip; what lanes are; one row of everything else.

    Attributes
    ----------
    sizes, size_bits : (n_rows * 32,) float32, and the same memory as uint32
    state : (32,) float32, running means
    lanes : (N_LANE_ROWS * 32,) words, what holds for a lane in all rows of a strip
    exponents, contexts, symbols, values, counts : (32,) words
    """

    sizes: Any
    size_bits: Any
    state: Any
    lanes: Any
    exponents: Any
    contexts: Any
    symbols: Any
    values: Any
    counts: Any


_per_thread = ThreadScratch()


def make_scratch(n_rows: int, words: npt.NDArray[Any]) -> Scratch:
    """Return what strips of so many rows need, for words like those; once at a time per thread."""
    sizes = _per_thread.array("sizes", n_rows * LANES, "f4")  # read of rows alone that were written
    return Scratch(sizes, sizes.view(np.uint32), *_per_thread.once(_make_rows, words.itemsize))


def _make_rows(word_bytes: int) -> tuple[npt.NDArray[Any], ...]:
    kind = f"i{word_bytes}"
    rows = (aligned(LANES, kind) for _ in range(5))
    return aligned(LANES, np.float32), aligned(N_LANE_ROWS * LANES, kind), *rows


@jit_norefs_inline
def begin_block(scratch: Scratch) -> None:
    """Forget what was in the scratch memory of another block."""
    for lane in range(LANES):
        scratch.state[lane] = 0
        scratch.lanes[IS_RESIDUAL * LANES + lane] = -1
        scratch.exponents[lane] = scratch.contexts[lane] = scratch.symbols[lane] = 0
        scratch.values[lane] = scratch.counts[lane] = 0


@jit_norefs_inline
def begin_strip(block: Block, predictors: Any, strip: int, scratch: Scratch) -> Any:
    """Say what a strip's lanes are; return how many are in use, and whether some are residuals."""
    some = False
    for lane in range(LANES):
        kind = np.int64(predictors[strip * LANES + lane] > 0)
        if kind != scratch.lanes[IS_RESIDUAL * LANES + lane]:
            scratch.state[lane] = NONE  # a running mean of the other type says nothing
        for item in range(6):
            scratch.lanes[item * LANES + lane] = block.of_type[kind, item]
        scratch.lanes[START * LANES + lane] += block.of_type[kind, BIAS]
        scratch.lanes[FIRST * LANES + lane] = CONTEXTS * kind
        scratch.lanes[IS_RESIDUAL * LANES + lane] = kind
        some = some or bool(kind)
    return min(LANES, block.n_series - strip * LANES), some


@jit_norefs_inline
def lane(scratch: Scratch, item: int) -> Any:
    """Vector of what holds for the lanes of a strip."""
    return load(scratch.lanes, item * LANES, ROW)


@jit_norefs_inline
def begin_row(block: Block, row: int, nothing: Any, scratch: Scratch) -> Any:
    """Return exponents, biased, and contexts of a row's lanes from the rows before."""
    if block.means >= SLOW:
        scale = follow(scratch.sizes, row, RATES[block.means], scratch.state, nothing)
    else:
        scale = add_neighbours(scratch.sizes, row, block.n_times, block.means, nothing)
    exponent, context = find_contexts(
        scale, lane(scratch, START), lane(scratch, BIAS), scratch.lanes, block.means == LEVEL
    )
    return exponent, context + lane(scratch, FIRST)


@jit_norefs_inline
def grid_bits(exponent: Any, scratch: Scratch) -> Any:
    """Return the bits of fractions of values on the grid."""
    above = exponent - lane(scratch, LOW)
    return minimum(maximum(above, lane(scratch, LEAST)), lane(scratch, MOST))


@jit_norefs_inline
def split_row(block: Block, some: bool, word: Any, scratch: Scratch) -> Any:
    """Return exponents, biased, and fractions of words and, where `some` are, of residuals."""
    exponent, fraction = split_floats(word, block.width, block.mantissa)
    if some:
        is_residual = lane(scratch, IS_RESIDUAL) > 0
        other, below = split_residuals(word, block.width)
        exponent = select(is_residual, other, exponent)
        fraction = select(is_residual, below, fraction)
    return exponent, fraction


@jit_norefs_inline
def keep_sizes(
    block: Block, row: int, symbol: Any, exponent: Any, fraction: Any, scratch: Scratch
) -> None:
    """Store the sizes of a row for the rows after it, 0 of symbols that are values themselves."""
    bias, limit = lane(scratch, BIAS), lane(scratch, LIMIT)
    size = size_words(exponent, fraction, bias, limit, scratch.size_bits, block.width)
    has_size = either(symbol < ZERO, symbol > COMMONEST)
    has_size = resize_to(select(has_size, symbol * 0 + 1, symbol * 0), scratch.size_bits) > 0
    store(scratch.size_bits, row * LANES, select(has_size, size, size * 0))
