"""Adaptive counts and mixing weights: predict and update one decision of all lanes at once.

Three pairs of counts predict a decision: those of the lane's state, shared by all lanes, and a slow
and a fast one of the lane and its symbol. Weights of the lane mix them. All lanes read before any
writes. Updates of shared counts are sums, so that their order has no effect: a warp adds with
atomics. SPEC.md, "Dense".

Tried: shared pairs of the symbol as a fourth input gain 0.07 % and cost 12 % of the time; two more
of longer histories gain 0.06 % for half the speed again. Weights shared by lanes lose 0.06 %, at
half the learning rate, the highest stable one. Logarithms by table gain nothing over bits of
floats.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.dense.tables import (
    LENGTH_NODES,
    LENGTH_STATES,
    NODES,
    RANK_NODES,
    RANK_STATES,
)
from gangsaw.codecs.bwt.dense.weights import packed_weights
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import (
    Vector,
    as_float_bits,
    maximum,
    minimum,
    resize_to,
    select,
    static,
    widen,
)
from gangsaw.codecs.core.numba.vectors.items import (
    add_items,
    halve_items,
    load_items,
    store_items,
)
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right as shifted
from gangsaw.codecs.core.numba.vectors.ratios import squash

LANES = 16  # lanes of a vector, or half a warp
OF_LANES = static(LANES)
SHARED = RANK_STATES * RANK_NODES + LENGTH_STATES * LENGTH_NODES
NOWHERE = SHARED  # offset of the counts for lanes at their end

# A count n is stored as 2 n + 1: its float bits are the logarithm of n + 1/2.
HALF_WORD = 16  # zeros below it, ones above
PAIR = 1 | 1 << HALF_WORD
PAIR_FULL = 0x08000800  # 1,024
# mask of a pair shifted right, without the bit shifted in from the count above
PAIR_REST = 0x7FFF7FFF
FAST_ONES, SLOW_ZEROS, SLOW_ONES = 6, 12, 22
FAST_PAIR, SLOW_PAIR = 1 | 1 << FAST_ONES, 1 << SLOW_ZEROS | 1 << SLOW_ONES
FAST_BITS, FAST_COUNT, SLOW_COUNT = 0xFFF, 0x3F, 0x3FF
FAST_LACK = 7 * FAST_PAIR  # a count is full at 12: its distance to a power of two
FAST_FULL, SLOW_FULL = 32 * FAST_PAIR, 512 * SLOW_PAIR  # the slow ones at 256
FAST_REST, SLOW_REST = 0x7DF, 0x7FDFF000
STRETCH_SHIFT = 15  # 1/256 bit
WEIGHT_BITS, MOST_WEIGHT = 14, (1 << 15) - 1
Z_MOST = 12 * 256 - 1
P_BITS = 14

Words = npt.NDArray[np.uint32]
Three = tuple[Vector, Vector, Vector]
# values of a decision that `predict_decisions` read: own counts, logarithms of the odds, weights
Prediction = tuple[Vector, Three, Three]


class MixedCounts(NamedTuple):
    """Adaptive model of a block: counts of decisions, and weights that mix their predictions.

    Attributes
    ----------
    states : (SHARED + NODES,) uint32, counts of zeros and ones shared by all lanes, by context and
        tree node; the last NODES are for lanes that have ended
    own : (n_lanes * rows * NODES,) uint32, slow and fast counts of each lane, symbol and tree node;
        the last row of each lane is for no symbol
    weights : (LANES * NODES,) uint64, weights of the shared, slow and fast counts, 16 bits each
    """

    states: Words
    own: Words
    weights: npt.NDArray[np.uint64]


def fresh_model(n_lanes: int, rows: int) -> MixedCounts:
    """Return the initial counts and weights of a block.

    rows : symbols of the block plus 1
    """
    return MixedCounts(
        np.full(SHARED + NODES, PAIR, np.uint32),
        np.full(n_lanes * rows * NODES, FAST_PAIR | SLOW_PAIR, np.uint32),
        np.tile(packed_weights(), LANES),
    )


@jit(inline=True, part=True, norefs=True)
def predict_decisions(
    model: MixedCounts, at_state: Vector, at_own: Vector, at_weights: Vector
) -> Any:
    """Predict the next decision of each lane: probability of 1 in units of 2^-14.

    The second result has the values read, for `learn_decisions`. Offsets into the arrays of the
    model, and the results, are vectors of 32 bits.
    """
    state, own = load_items(model.states, at_state), load_items(model.own, at_own)
    pairs = load_items(model.weights, at_weights)
    low, high = resize_to(pairs, model.own), resize_to(shifted(pairs, 32), model.own)
    weights = (low << 16) >> 16, low >> 16, (high << 16) >> 16
    stretched = (
        _stretch(state & 0xFFFF, shifted(state, HALF_WORD)),
        _stretch(shifted(own, SLOW_ZEROS) & SLOW_COUNT, shifted(own, SLOW_ONES)),
        _stretch(own & FAST_COUNT, shifted(own, FAST_ONES) & FAST_COUNT),
    )
    z = stretched[0] * weights[0] + stretched[1] * weights[1] + stretched[2] * weights[2]
    z = maximum(minimum(z >> WEIGHT_BITS, Z_MOST), -Z_MOST)
    return squash(z), (own, stretched, weights)


@jit(inline=True, part=True, norefs=True)
def learn_decisions(
    model: MixedCounts,
    at_state: Vector,
    at_own: Vector,
    at_weights: Vector,
    p: Vector,
    read: Prediction,
    bit: Vector,
) -> None:
    """Update counts and mixing weights with the coded decision of each lane, 0 or 1.

    p, read : results of `predict_decisions`
    """
    own, stretched, weights = read
    error: Any = ((bit << P_BITS) - p) >> 1
    low = _moved(weights[0], error, stretched[0]) & 0xFFFF
    low = low | (_moved(weights[1], error, stretched[1]) << 16)
    high = _moved(weights[2], error, stretched[2]) & 0xFFFF
    store_items(model.weights, at_weights, widen(low) | (widen(high) << 32))
    store_items(model.own, at_own, _counted(own, bit))
    addend = (bit << (HALF_WORD + 1)) + ((1 - bit) << 1)
    if add_items(model.states, at_state, addend) & np.uint32(PAIR_FULL):
        halve_items(model.states, at_state, PAIR_FULL, PAIR_REST, PAIR)


@jit(inline=True, part=True, norefs=True)
def _stretch(zeros: Vector, ones: Vector) -> Any:
    """Return log2(ones / zeros) of stored counts in 1/256, linear between powers of two."""
    return (as_float_bits(ones) - as_float_bits(zeros)) >> STRETCH_SHIFT


@jit(inline=True, part=True, norefs=True)
def _moved(weight: Vector, error: Vector, stretched: Vector) -> Any:
    moved = weight + ((error * stretched + (1 << 14)) >> 15)
    return maximum(minimum(moved, MOST_WEIGHT), -MOST_WEIGHT - 1)


@jit(inline=True, part=True, norefs=True)
def _counted(own: Vector, bit: Vector) -> Any:
    """Add a decision to the slow and fast counts of each lane; halve counts that are full."""
    zero = 2 << SLOW_ZEROS | 2
    own = own + select(bit > 0, (bit << (SLOW_ONES + 1)) | 2 << FAST_ONES, zero)
    half = shifted(own, 1)
    slow = select((own & SLOW_FULL) == 0, own & ~FAST_BITS, half & SLOW_REST | SLOW_PAIR)
    is_fast = ((own + FAST_LACK) & FAST_FULL) == 0
    return slow | select(is_fast, own & FAST_BITS, half & FAST_REST | FAST_PAIR)
