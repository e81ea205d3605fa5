"""Data structures of the `dense` kernels: block, strip and row state, for both directions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Float32s, NumpyArray, UInt32s
from gangsaw.codecs.core.memory.aligned import empty_aligned
from gangsaw.codecs.core.memory.per_thread import ThreadScratch
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.floats import Floats
from gangsaw.codecs.core.numba.vectors.integers import (
    Vector,
    load,
    maximum,
    minimum,
    resize_to,
    select,
    store,
)
from gangsaw.codecs.core.numba.vectors.logic import either
from gangsaw.codecs.visibility.dense.model.scale import (
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
from gangsaw.codecs.visibility.dense.model.symbols import COMMONEST, ZERO
from gangsaw.codecs.visibility.dense.model.values import size_words, split_floats, split_residuals
from gangsaw.codecs.visibility.lanes.table import LANES

ESCAPED_EXPONENT = 11  # bits, of any float
MOST_BITS = 1 + ESCAPED_EXPONENT + 64  # most bits of one value in addition to its symbol
SPARE = LANES * 16  # spare bytes after the bit stream: one row of values of this length


class SeriesRow(NamedTuple):
    """Constants of all float words, or of all prediction residuals, of a block.

    Attributes
    ----------
    start : exponent of values without a neighbour to predict it
    bias : exponent bias
    low, least, most : a value on the grid (`Grid`) has exponent - low fraction bits, but at least
        `least` and at most `most`
    limit : exponent field of infinities; for residuals, one that does not occur
    """

    start: int
    bias: int
    low: int
    least: int
    most: int
    limit: int


class DenseBlock(NamedTuple):
    """Parameters of a block for the kernels; a strip is the words of 32 adjacent series.

    Attributes
    ----------
    n_rows, n_times : rows of 32 words in a strip, and times among them
    n_series : number of series, which are the lanes of strips
    width, mantissa : bits of a word and of its mantissa
    means : kind of mean that predicts the size of a value (model/scale.py)
    n_symbols : symbols of a table
    has_commonest : True if `commonest`, a signed word, has a symbol of its own
    signs : sign bits of a value: 1, or 0 for integers, where negative words are escaped
    of_type : (2, 6) int64, a `SeriesRow` for floats, then one for residuals
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
    signs: int
    of_type: npt.NDArray[np.int64]


# row indices of `StripScratch.lanes`: fields of `SeriesRow`, then two more
START, BIAS, LOW, LEAST, MOST, LIMIT, FIRST, IS_RESIDUAL, N_LANE_ROWS = range(9)
NO_LIMIT = 1 << 12  # an exponent above that of every residual


class StripScratch(NamedTuple):
    """Scratch memory of one call: sizes of a strip, lane constants, and one row of each variable.

    Attributes
    ----------
    sizes, size_bits : (n_rows * 32,) float32, truncated absolute values of a strip, and the same
        memory as uint32
    state : (32,) float32, running mean of the sizes in each lane
    lanes : (N_LANE_ROWS * 32,) words, constants of each lane for all rows of a strip
    contexts, symbols, values, counts : (32,) words of one row: context and symbol of each value,
        its bits after the symbol, and their number
    """

    sizes: Float32s
    size_bits: UInt32s
    state: NumpyArray
    lanes: NumpyArray
    contexts: NumpyArray
    symbols: NumpyArray
    values: NumpyArray
    counts: NumpyArray


_per_thread = ThreadScratch()


def make_scratch(n_rows: int, words: NumpyArray) -> StripScratch:
    """Return scratch memory for strips of `n_rows` rows; each thread has one such buffer."""
    sizes = _per_thread.array(
        "sizes", n_rows * LANES, np.float32
    )  # only rows already written are read
    return StripScratch(sizes, sizes.view(np.uint32), *_per_thread.once(_make_rows, words.itemsize))


def _make_rows(word_bytes: int) -> tuple[NumpyArray, ...]:
    kind = f"i{word_bytes}"
    rows = (empty_aligned(LANES, kind) for _ in range(4))
    return empty_aligned(LANES, np.float32), empty_aligned(N_LANE_ROWS * LANES, kind), *rows


@jit(inline=True, part=True, norefs=True)
def begin_block(scratch: StripScratch) -> None:
    """Clear the per-lane state that another block left in the scratch memory."""
    for lane in range(LANES):
        scratch.state[lane] = 0
        scratch.lanes[IS_RESIDUAL * LANES + lane] = -1
        scratch.contexts[lane] = scratch.symbols[lane] = 0
        scratch.values[lane] = scratch.counts[lane] = 0


class Strip(NamedTuple):
    """Strip, or a range of its rows, that is being coded.

    Attributes
    ----------
    first : offset of its first word
    active : lanes in use
    some : True if some lanes are residuals
    nothing : vector of zeros, float32
    """

    first: int
    active: int
    some: bool
    nothing: Floats


@jit(inline=True, part=True, norefs=True)
def begin_series(block: DenseBlock, kind: int | np.int64, lane: int, scratch: StripScratch) -> None:
    """Set the constants of a lane for all rows of a strip.

    kind : 1 if the lane has residuals, 0 if it has float words
    """
    if kind != scratch.lanes[IS_RESIDUAL * LANES + lane]:
        scratch.state[lane] = NONE  # a running mean of the other type is meaningless here
    for item in range(FIRST):
        scratch.lanes[item * LANES + lane] = block.of_type[kind, item]
    scratch.lanes[START * LANES + lane] += block.of_type[kind, BIAS]
    scratch.lanes[FIRST * LANES + lane] = CONTEXTS * kind
    scratch.lanes[IS_RESIDUAL * LANES + lane] = kind


@jit(inline=True, part=True, norefs=True)
def begin_strip(block: DenseBlock, predictors: Bytes, strip: int, scratch: StripScratch) -> Any:
    """Set up the lanes of a strip; return the number in use and True if some have residuals."""
    some = False
    for lane in range(LANES):
        kind = np.int64(predictors[strip * LANES + lane] > 0)
        begin_series(block, kind, lane, scratch)
        some = some or bool(kind)
    return min(LANES, block.n_series - strip * LANES), some


@jit(inline=True, part=True, norefs=True)
def lane(scratch: StripScratch, item: int) -> Any:
    """Return one constant of all 32 lanes of a strip, as a vector.

    item : START, BIAS and so on
    """
    return load(scratch.lanes, item * LANES, ROW)


@jit(inline=True, part=True, norefs=True)
def begin_row(block: DenseBlock, strip: Strip, row: int, scratch: StripScratch) -> Any:
    """Return the exponents (biased) and contexts of a row, predicted from the rows before it."""
    if block.means >= SLOW:
        scale = follow(scratch.sizes, row, RATES[block.means], scratch.state, strip.nothing)
    else:
        scale = add_neighbours(scratch.sizes, row, block.n_times, block.means, strip.nothing)
    exponent, context = find_contexts(
        scale, lane(scratch, START), lane(scratch, BIAS), scratch.lanes, block.means == LEVEL
    )
    return exponent, context + lane(scratch, FIRST)


@jit(inline=True, part=True, norefs=True)
def grid_bits(exponent: Vector, scratch: StripScratch) -> Any:
    """Return the number of fraction bits that values with these exponents have on the grid."""
    above = exponent - lane(scratch, LOW)
    return minimum(maximum(above, lane(scratch, LEAST)), lane(scratch, MOST))


@jit(inline=True, part=True, norefs=True)
def split_row(block: DenseBlock, strip: Strip, word: Vector, scratch: StripScratch) -> Any:
    """Return the biased exponents and the fractions of a row of float words and residuals."""
    exponent, fraction = split_floats(word, block.width, block.mantissa)
    if strip.some:
        is_residual = lane(scratch, IS_RESIDUAL) > 0
        other, below = split_residuals(word, block.width)
        exponent = select(is_residual, other, exponent)
        fraction = select(is_residual, below, fraction)
    return exponent, fraction


@jit(inline=True, part=True, norefs=True)
def keep_sizes(
    block: DenseBlock,
    row: int,
    symbol: Vector,
    exponent: Vector,
    fraction: Vector,
    scratch: StripScratch,
) -> None:
    """Store the sizes of a row to predict later rows; 0 for symbols that encode a whole value."""
    bias, limit = lane(scratch, BIAS), lane(scratch, LIMIT)
    size = size_words(exponent, fraction, bias, limit, scratch.size_bits, block.width)
    has_size = either(symbol < ZERO, symbol > COMMONEST)
    has_size = resize_to(select(has_size, symbol * 0 + 1, symbol * 0), scratch.size_bits) > 0
    store(scratch.size_bits, row * LANES, select(has_size, size, size * 0))
