"""What the neighbours of a value say of its size: an exponent, and which table of symbols to use.

Sizes are float32: the absolute value, or that of the residual, cut to 24 bits; 0 where a value is
0, denormal or not finite. Their means are float32, each operation rounded, in the order written
here. SPEC.md, "dense".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.floats import as_word
from gangsaw.codecs.core.jit import jit_bare_inline
from gangsaw.codecs.visibility.dense_predict import LANES

NEAR, WIDE, SLOW, SLOWER = range(4)  # kinds of means
RATES = np.array([0, 0, 1 / 4, 1 / 16], np.float32)
# tables of one type of series: a quarter of an octave each, then what zeros and edges need
SOME_ZERO, ALL_ZERO, ALONE = 4, 5, 6
CONTEXTS = 7


@jit_bare_inline
def clear(scale: Any) -> None:
    """Forget sums, weights, zeros: scale (3, 32) float32."""
    for part in range(3):
        for lane in range(LANES):
            scale[part, lane] = np.float32(0)


@jit_bare_inline
def add_neighbour(sizes: Any, first: int, weight: Any, is_near: Any, scale: Any) -> None:
    """Add the sizes of a row, from `first` on, to sums and weights; count zeros if it is near."""
    for lane in range(LANES):
        size = sizes[first + lane]
        some = size > np.float32(0)
        scale[0, lane] += weight * size
        scale[1, lane] += weight if some else np.float32(0)
        scale[2, lane] += np.float32(0) if some else is_near


@jit_bare_inline
def add_neighbours(sizes: Any, row: int, n_times: int, kind: int, scale: Any) -> int:
    """Fill scale from the rows before this one; return how many near neighbours there are."""
    two, one, none = np.float32(2), np.float32(1), np.float32(0)
    time, down = row % n_times, row - n_times
    clear(scale)
    if time > 0:
        add_neighbour(sizes, (row - 1) * LANES, two, one, scale)
    if down >= 0:
        add_neighbour(sizes, down * LANES, two, one, scale)
    if kind == WIDE:
        if time > 1:
            add_neighbour(sizes, (row - 2) * LANES, one, none, scale)
        if down >= n_times:
            add_neighbour(sizes, (down - n_times) * LANES, one, none, scale)
        if down >= 0 and time > 0:
            add_neighbour(sizes, (down - 1) * LANES, one, none, scale)
        if down >= 0 and time < n_times - 1:
            add_neighbour(sizes, (down + 1) * LANES, one, none, scale)
    return int(time > 0) + int(down >= 0)


@jit_bare_inline
def follow(sizes: Any, row: int, rate: Any, state: Any, scale: Any) -> int:
    """Fill scale from a mean that runs along each series: state (32,); the row before joins it."""
    one, none = np.float32(1), np.float32(0)
    for lane in range(LANES):
        size = sizes[(row - 1) * LANES + lane] if row > 0 else none
        old = state[lane]
        mean = old + (size - old) * rate if old > none else size
        state[lane] = mean if size > none else old
        scale[0, lane] = state[lane]
        scale[1, lane] = one if state[lane] > none else none
        scale[2, lane] = one if row > 0 and size == none else none
    return int(row > 0)


@jit_bare_inline
def find_contexts(scale: Any, near: int, start: Any, exponents: Any, contexts: Any) -> None:
    """Fill exponents and contexts (32,) int32 from sums, weights and zeros.

    Where no neighbour has a size, the exponent is the series' `start`.
    """
    for lane in range(LANES):
        weight, zeros = scale[1, lane], scale[2, lane]
        some = weight > np.float32(0)
        mean = scale[0, lane] / weight if some else np.float32(1)
        bits = np.int64(as_word(mean))
        context = bits >> 21 & 3
        if zeros > np.float32(0):
            context = ALL_ZERO if zeros == np.float32(near) else SOME_ZERO
        context = context if some else (ALL_ZERO if zeros > np.float32(0) else ALONE)
        exponents[lane] = (bits >> 23) - 127 if some else start[lane]
        contexts[lane] = context
