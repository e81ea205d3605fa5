"""Counts and weights of decisions, and what they make of them: one step of all lanes at once.

Four pairs of counts speak of a decision: of the state that the lane is in and of its symbol, both
shared by all lanes, and two of the lane and the symbol, a slow and a fast one. Weights of the lane
join them. SPEC.md, "Dense".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir

from gangsaw.codecs.bwt.dense.tables import LENGTH_NODES, NODES, RANK_NODES
from gangsaw.codecs.core.numba.jit import intrinsic, jit_norefs_inline
from gangsaw.codecs.core.numba.vectors.integers import (
    Vector,
    as_float_bits,
    maximum,
    minimum,
    resize_to,
    static,
    widen,
)
from gangsaw.codecs.core.numba.vectors.items import add_items, load_items, store_items
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right as shifted
from gangsaw.codecs.core.numba.vectors.integers import select

LANES = 16
OF_LANES = static(LANES)
RANK_STATES, LENGTH_STATES = 8 * 8 * 4, 8 * 8 * 6
SHARED = RANK_STATES * RANK_NODES + LENGTH_STATES * LENGTH_NODES + NODES  # the last: of no lane

# Counts are kept as 2 n + 1, so that the bits of a float are the logarithm of n + 1/2.
ONE_PAIR = 1 | 1 << 16
PAIR_ONE, PAIR_ZERO = 2 << 16, 2
PAIR_FULL = 0x08000800  # 1,024 and more
PAIR_HALVED = 0x7FFF7FFF
FAST_ZERO, FAST_ONE, SLOW_ZERO, SLOW_ONE = 0, 6, 12, 22
ONE_OWN = 1 << FAST_ZERO | 1 << FAST_ONE | 1 << SLOW_ZERO | 1 << SLOW_ONE
FAST_FULL = 1 << 5 | 1 << 11  # 16
SLOW_FULL = 1 << 21 | 1 << 31  # 256
FAST = 0xFFF

Words = npt.NDArray[np.uint32]


class Model(NamedTuple):
    """Counts and weights.

    Attributes
    ----------
    states, symbols : (SHARED,), (rows * NODES,) uint32, shared pairs
    own : (n_lanes * rows * NODES,) uint32, fast and slow pairs of each lane
    weights : (n_lanes * NODES,) uint64, four of 16 bits each
    """

    states: Words
    symbols: Words
    own: Words
    weights: npt.NDArray[np.uint64]


@intrinsic
def squash(typing_context: Any, z: Any) -> Any:
    """floor(16383 / (1 + 2^(-z/256))), powers linear between whole ones, for |z| < 3,072.

    Floats of 32 bits give that for every z: a test tries them all.
    """

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        floats = ir.VectorType(ir.FloatType(), z.lanes)

        def same(value: int) -> Any:
            return ir.Constant(args[0].type, [value] * z.lanes)

        bits = builder.sub(same(127 << 23), builder.shl(args[0], same(15)))
        power = builder.bitcast(bits, floats)
        below = builder.fadd(power, ir.Constant(floats, [1.0] * z.lanes))
        whole = builder.fdiv(ir.Constant(floats, [16383.0] * z.lanes), below)
        return builder.fptosi(whole, args[0].type)

    return z(z), codegen


@jit_norefs_inline
def stretch(zeros: Any, ones: Any) -> Any:
    return (as_float_bits(ones) - as_float_bits(zeros)) >> 15


@jit_norefs_inline
def low_half(pair: Any) -> Any:
    return (pair << 16) >> 16


@jit_norefs_inline
def predict(model: Any, at_state: Any, at_symbol: Any, at_own: Any, at_weights: Any) -> Any:
    state = load_items(model.states, at_state)
    symbol = load_items(model.symbols, at_symbol)
    own = load_items(model.own, at_own)
    weights = load_items(model.weights, at_weights)
    s0 = stretch(state & 0xFFFF, shifted(state, 16))
    s1 = stretch(symbol & 0xFFFF, shifted(symbol, 16))
    s2 = stretch(shifted(own, SLOW_ZERO) & 0x3FF, shifted(own, SLOW_ONE))
    s3 = stretch(own & 0x3F, shifted(own, FAST_ONE) & 0x3F)
    w01 = resize_to(weights, model.own)
    w23 = resize_to(shifted(weights, 32), model.own)
    w0, w1, w2, w3 = low_half(w01), w01 >> 16, low_half(w23), w23 >> 16
    z = (s0 * w0 + s1 * w1 + s2 * w2 + s3 * w3) >> 14
    p = squash(maximum(minimum(z, 3071), -3071))
    return p, (s0, s1, s2, s3), (w0, w1, w2, w3), own


@jit_norefs_inline
def _moved(weight: Any, err: Any, s: Any) -> Any:
    return maximum(minimum(weight + ((err * s + 16384) >> 15), 32767), -32768)


@jit_norefs_inline
def learn(
    model: Any, at_state: Any, at_symbol: Any, at_own: Any, at_weights: Any, bit: Any, p: Any,
    s: Any, w: Any, own: Any,
) -> None:
    err = ((bit << 14) - p) >> 1
    w0, w1, w2, w3 = (
        _moved(w[0], err, s[0]), _moved(w[1], err, s[1]), _moved(w[2], err, s[2]),
        _moved(w[3], err, s[3]),
    )
    w01 = (w0 & 0xFFFF) | (w1 << 16)
    w23 = (w2 & 0xFFFF) | (w3 << 16)
    store_items(model.weights, at_weights, widen(w01) | (widen(w23) << 32))
    asked = bit > 0
    own = own + select(asked, (bit << (SLOW_ONE + 1)) + (2 << FAST_ONE), 2 << SLOW_ZERO | 2 << FAST_ZERO)
    half = shifted(own, 1)
    slow = (half & 0x7FDFF000) | (1 << SLOW_ONE | 1 << SLOW_ZERO)
    fast = (half & 0x7DF) | (1 << FAST_ONE | 1)
    is_slow = ((own & SLOW_FULL) == 0)
    is_fast = (((own + (7 | 7 << 6)) & FAST_FULL) == 0)
    own = select(is_slow, own & ~0xFFF, slow) | select(is_fast, own & 0xFFF, fast)
    store_items(model.own, at_own, own)
    addend = (bit << 17) + ((1 - bit) << 1)
    full = add_items(model.states, at_state, addend) | add_items(model.symbols, at_symbol, addend)
    if full & np.uint32(PAIR_FULL):
        halve(model.states, at_state)
        halve(model.symbols, at_symbol)


@jit_norefs_inline
def halve(pairs: Any, at: Any) -> None:
    _halve(pairs, at)


@intrinsic
def _halve(typing_context: Any, data: Any, index: Any) -> Any:
    from numba import types
    from gangsaw.codecs.core.numba.vectors.items import _pointers
    vector = Vector(index.lanes, 32)
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        word = ir.IntType(32)
        for pointer in _pointers(context, builder, data, args, vector):
            v = builder.load(pointer)
            full = builder.icmp_unsigned("!=", builder.and_(v, word(0x08000800)), word(0))
            h = builder.or_(builder.and_(builder.lshr(v, word(1)), word(PAIR_HALVED)), word(ONE_PAIR))
            builder.store(builder.select(full, h, v), pointer)
        return context.get_dummy_value()
    return types.void(data, index), codegen
