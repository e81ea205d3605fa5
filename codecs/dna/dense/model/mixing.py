"""Mixing of model logarithms into base frequencies, with adaptive weights."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int32s, UInt32s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.dna.dense.model.logs import POWER, POWERS
from gangsaw.codecs.dna.dense.model.shape import Shape
from gangsaw.codecs.dna.dense.model.state import CLASSES, HASHED, MODELS, DenseState, ModelTables

TOTAL = 1 << 16  # sum of the frequencies
LEAST = 16  # least frequency of a base
SHARED = TOTAL - 4 * LEAST
MOST_WEIGHT = 1 << 22  # 4; two weights are added
SECOND = MODELS * CLASSES  # first of the weights by the class of the hashed counts
LEAST_RATE, FADE, MOST_FADED = 256, 1024, 20480


@jit(restrict=True, part=True)
def weigh_models(weights: Int32s, place: UInt32s, weight: Int32s, n: int) -> None:
    """Fill the mixing weight of each model for each of n lanes, in units of 2^-14.

    place : indices of the weights, by each model's class; those by the class of hashed counts are
        added
    """
    for model in range(MODELS):
        second = np.uint32(SECOND + CLASSES * model - CLASSES * HASHED)
        for lane in range(n):
            other = place[HASHED, lane] + second
            place[MODELS + model, lane] = other
            weight[model, lane] = weights[place[model, lane]] + weights[np.uint32(other)] >> 6


@jit(restrict=True, part=True)
def sum_logs(weight: Int32s, x: Int32s, d: Int32s, n: int) -> None:
    """Fill the weighted sum of the models' logarithms for each base, in 1/256 of a bit.

    No sum overflows 32 bits.
    """
    for base in range(4):
        for lane in range(n):
            rows = np.int32(weight[0, lane] * x[base, lane])
            rows = np.int32(rows + np.int32(weight[1, lane] * x[4 + base, lane]))
            counts = np.int32(weight[2, lane] * x[8 + base, lane])
            counts = np.int32(counts + np.int32(weight[3, lane] * x[12 + base, lane]))
            match = np.int32(weight[4, lane] * x[16 + base, lane])
            d[base, lane] = np.int32(np.int32(rows + counts) + match) >> 14


@jit(restrict=True, part=True)
def raise_powers(d: Int32s, power: Int32s, n: int) -> None:
    """Fill 2^d for each base's weighted logarithm d, scaled so that the largest is 65535."""
    for lane in range(n):
        most = max(max(d[0, lane], d[1, lane]), max(d[2, lane], d[3, lane]))
        for base in range(4):
            power[base, lane] = POWER[np.uint32(min(POWERS - 1, most - d[base, lane]))]


@jit(restrict=True, part=True)
def share_out(power: Int32s, frequency: Int32s, n: int) -> None:
    """Scale powers to frequencies with sum TOTAL; the rounding rest goes to the first largest."""
    for lane in range(n):
        a, c, g, t = power[0, lane], power[1, lane], power[2, lane], power[3, lane]
        total = np.int32(np.int32(a + c) + np.int32(g + t))
        # floats represent both exactly, and a quotient that is rounded up is one too large
        ratio = np.int32(np.float32(SHARED << 14) / np.float32(total))
        ratio = np.int32(ratio + (np.int32((SHARED << 14) - np.int32(ratio * total)) >> 31))
        fa = np.int32((np.int32(a * ratio) >> 14) + LEAST)
        fc = np.int32((np.int32(c * ratio) >> 14) + LEAST)
        fg = np.int32((np.int32(g * ratio) >> 14) + LEAST)
        ft = np.int32((np.int32(t * ratio) >> 14) + LEAST)
        most = max(max(fa, fc), max(fg, ft))
        rest = np.int32(TOTAL - np.int32(fa + fc) - np.int32(fg + ft))
        to_a = rest if fa == most else np.int32(0)
        rest = np.int32(rest - to_a)
        to_c = rest if fc == most else np.int32(0)
        rest = np.int32(rest - to_c)
        to_g = rest if fg == most else np.int32(0)
        frequency[0, lane] = fa + to_a
        frequency[1, lane] = fc + to_c
        frequency[2, lane] = fg + to_g
        frequency[3, lane] = ft + np.int32(rest - to_g)


@jit(restrict=True, part=True)
def slope_weights(
    frequency: Int32s, base: Bytes, x: Int32s, rate: int, weight: Int32s, n: int
) -> None:
    """Fill the update of each weight: prediction error times logarithm, summed over the bases."""
    pace = np.int32(rate)
    for model in range(MODELS):
        for lane in range(n):
            came, at = base[lane], 4 * model
            a = np.int32((TOTAL if came == 0 else 0) - frequency[0, lane]) >> 4
            c = np.int32((TOTAL if came == 1 else 0) - frequency[1, lane]) >> 4
            g = np.int32((TOTAL if came == 2 else 0) - frequency[2, lane]) >> 4
            t = np.int32((TOTAL if came == 3 else 0) - frequency[3, lane]) >> 4
            ac = np.int32(np.int32(a * x[at, lane]) + np.int32(c * x[at + 1, lane]))
            gt = np.int32(np.int32(g * x[at + 2, lane]) + np.int32(t * x[at + 3, lane]))
            slope = np.int32(np.int32(ac + gt) >> 10)
            weight[model, lane] = np.int32(slope * pace) >> 8


@jit(restrict=True, part=True)
def add_weights(weights: Int32s, place: UInt32s, weight: Int32s, n: int) -> None:
    """Add the weight updates of all lanes, then clip each weight to +-MOST_WEIGHT."""
    for lane in range(n):  # all models of a lane: no sum waits for the one before it
        for model in range(MODELS):
            weights[place[model, lane]] += weight[model, lane]
            weights[place[MODELS + model, lane]] += weight[model, lane]
    for i in range(weights.size):
        weights[i] = min(MOST_WEIGHT, max(-MOST_WEIGHT, weights[i]))


@jit(part=True, norefs=True)
def mix_models(tables: ModelTables, lanes: DenseState, n: int) -> None:
    """Mix the models' logarithms to frequencies of the four bases for n lanes."""
    weigh_models(tables.weights, lanes.place, lanes.weight, n)
    sum_logs(lanes.weight, lanes.x, lanes.d, n)
    raise_powers(lanes.d, lanes.power, n)
    share_out(lanes.power, lanes.frequency, n)


@jit(part=True, norefs=True)
def find_slopes(shape: Shape, lanes: DenseState, now: int, n: int) -> None:
    """Fill the weight updates for the coded bases of n lanes, with a decaying learning rate."""
    rate = LEAST_RATE + LEAST_RATE * (MOST_FADED // (FADE + now * shape.lanes))
    slope_weights(lanes.frequency, lanes.base, lanes.x, rate, lanes.weight, n)


@jit(part=True, norefs=True)
def learn_weights(tables: ModelTables, lanes: DenseState, n: int) -> None:
    """Add the weight updates of n lanes."""
    add_weights(tables.weights, lanes.place, lanes.weight, n)
