"""Expected size of a value, predicted from its neighbours: an exponent and a context.

Sizes are float32: the absolute value of a float or residual, truncated to 24 bits; 0 if the value
is 0, denormal or not finite. Their means are float32, each operation rounded, in the order written
here. SPEC.md, "dense".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import Float32s, NumpyArray
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.floats import (
    Floats,
    choose_floats,
    float_bits,
    load_floats,
    store_floats,
)
from gangsaw.codecs.core.numba.vectors.integers import (
    Vector,
    maximum,
    minimum,
    resize_to,
    select,
    spread,
    static,
)
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right
from gangsaw.codecs.visibility.lanes.table import LANES

ROW = static(LANES)
NEAR, WIDE, SLOW, SLOWER, LEVEL = range(5)  # kinds of means; from SLOW on, running means
RATES = np.array([0, 0, 1 / 4, 1 / 16, 1 / 4], np.float32)
# contexts of one type of series: 0 to 3 for a quarter of an octave or one, then zeros and edges
SOME_ZERO, ALL_ZERO, ALONE = 4, 5, 6
CONTEXTS = 7
SIZES = np.zeros(0, np.uint32)  # empty array that sets the width of vectors of sizes
NONE, ONE, TWO = np.float32(0), np.float32(1), np.float32(2)


@jit(inline=True, part=True, norefs=True)
def add_neighbour(
    sizes: Float32s, row: int, weight: np.float32, scale: tuple[Floats, Floats, Floats, np.float32]
) -> Any:
    """Add the sizes of a row, with a weight, to the sums of `add_neighbours`; return the sums."""
    size = load_floats(sizes, row * LANES, ROW)
    sums, weights, zeros, near = scale
    return sums + weight * size, weights + choose_floats(size > NONE, weight, NONE), zeros, near


@jit(inline=True, part=True, norefs=True)
def add_zeros(sizes: Float32s, row: int, zeros: Floats) -> Any:
    """Add 1 to the zero count of the lanes in which a row has a zero."""
    size = load_floats(sizes, row * LANES, ROW)
    return zeros + choose_floats(size > NONE, NONE, ONE)


@jit(inline=True, part=True, norefs=True)
def add_near(sizes: Float32s, row: int, scale: tuple[Floats, Floats, Floats, np.float32]) -> Any:
    """Add the sizes of a near row to the sums of `add_neighbours`, with weight 2; count zeros."""
    sums, weights, zeros, near = add_neighbour(sizes, row, TWO, scale)
    return sums, weights, add_zeros(sizes, row, zeros), near + ONE


@jit(inline=True, part=True, norefs=True)
def add_neighbours(sizes: Float32s, row: int, n_times: int, kind: int, nothing: Floats) -> Any:
    """Sum the sizes around a row, in the rows before it, for kinds of means NEAR and WIDE.

    Return weighted sums, weights and zero counts of each lane, and the number of near rows.
    """
    time, down = row % n_times, row - n_times
    scale = nothing, nothing, nothing, NONE
    if time > 0:
        scale = add_near(sizes, row - 1, scale)
    if down >= 0:
        scale = add_near(sizes, down, scale)
    if kind == WIDE:
        if time > 1:
            scale = add_neighbour(sizes, row - 2, ONE, scale)
        if down >= n_times:
            scale = add_neighbour(sizes, down - n_times, ONE, scale)
        if down >= 0 and time > 0:
            scale = add_neighbour(sizes, down - 1, ONE, scale)
        if down >= 0 and time < n_times - 1:
            scale = add_neighbour(sizes, down + 1, ONE, scale)
    return scale


@jit(inline=True, part=True, norefs=True)
def follow(sizes: Float32s, row: int, rate: float, state: NumpyArray, nothing: Floats) -> Any:
    """Update the running mean of sizes in each lane, for kinds of means from SLOW on.

    Return the tuple of `add_neighbours`.

    state : (32,) float32, the means
    """
    mean, zeros, near = load_floats(state, 0, ROW), nothing, NONE
    if row > 0:
        size = load_floats(sizes, (row - 1) * LANES, ROW)
        moved = choose_floats(mean > NONE, mean + (size - mean) * rate, size)
        mean = choose_floats(size > NONE, moved, mean)
        store_floats(state, 0, mean)
        zeros = add_zeros(sizes, row - 1, zeros)
        near = ONE
    return mean, choose_floats(mean > NONE, ONE, NONE), zeros, near


@jit(inline=True, part=True, norefs=True)
def mean_of(sums: Floats, weights: Floats) -> Any:
    """Return mean sizes: sums divided by weights, or by 1 where the weight is 0."""
    return sums / choose_floats(weights > NONE, weights, ONE)


@jit(inline=True, part=True, norefs=True)
def find_contexts(
    scale: tuple[Floats, Floats, Floats, float],
    start: Vector,
    bias: Vector,
    words: NumpyArray,
    is_level: bool,
) -> Any:
    """Return the predicted exponents (biased) and contexts of a row, from the sizes around it.

    Both are vectors as wide as `words`, valid for lanes of one type: words or residuals.

    Parameters
    ----------
    scale : sums, weights, zeros, and the number of near neighbours
    start : biased exponents for lanes without a neighbour of nonzero size
    bias : exponent bias
    is_level : True if `start` is the predicted exponent, and sizes choose only the context: among
        values of one level, the mean of a few deviates more than the values do
    """
    sums, weights, zeros, near = scale
    some = weights > NONE
    bits = float_bits(mean_of(sums, weights))
    zeros_all = select(zeros == near, spread(ALL_ZERO, SIZES, ROW), SOME_ZERO)
    alone = select(zeros > NONE, spread(ALL_ZERO, SIZES, ROW), ALONE)
    exponent = resize_to(logical_shift_right(bits, 23), words) + (bias - 127)
    part = logical_shift_right(bits, 21) & 3
    if is_level:
        part = resize_to(minimum(maximum(exponent - start + 2, exponent * 0), 3), SIZES)
        exponent = start
    context = select(zeros > NONE, zeros_all, part)
    some_words = resize_to(select(some, spread(1, SIZES, ROW), 0), words) > 0
    return (
        select(some_words, exponent, start),
        resize_to(select(some, context, alone), words),
    )
