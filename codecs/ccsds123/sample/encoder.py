"""Sample-adaptive encoder (CCSDS 123.0-B-2, 5.4.3.2), which codes a vector of bands at a time.

All bands share the counter of the statistics, which is known in advance, so bands differ only in
their accumulator. Each lane collects the codewords of its band in a 64-bit word. When a codeword
does not fit the word of its lane, all lanes write their whole bytes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.predict.plan import Coder, Plan
from gangsaw.codecs.ccsds123.predict.predict import (
    BandGroup,
    Bands,
    band_groups,
    begin_band_row,
    difference_row,
    predict_band_row,
)
from gangsaw.codecs.ccsds123.predict.rows import HALO
from gangsaw.codecs.ccsds123.sample.bit_string import (
    MARGIN,
    BitString,
    BitStrings,
    finish_lanes,
    join_lanes,
)
from gangsaw.codecs.ccsds123.sample.statistics import count_at, update_statistics
from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import (
    Vector,
    any_lane,
    lane_leading_zeros,
    load,
    maximum,
    minimum,
    select,
    store,
    store_lanes_be64,
    value_of,
    widen,
)


class LaneState(NamedTuple):
    """Coder state of each lane (band) between two rows, for kernels.

    All arrays but the last are (n_lanes,).

    Attributes
    ----------
    sums : accumulators Sigma
    words : (n_lanes,) int64, bits that are not written yet, the last one lowest
    used : number of these bits
    positions : (n_lanes,) int64, offset of the next byte in `scratch`
    scratch : uint8, written bytes of all lanes
    """

    sums: NumpyArray
    words: NumpyArray
    used: NumpyArray
    positions: NumpyArray
    scratch: NumpyArray


@jit(part=True)
def codeword(c: Coder, delta: Vector, sums: Vector, count: int) -> Any:
    """Return values and lengths of the codewords of a vector of mapped residuals, t >= 1.

    sums, count : accumulators Sigma and counter Gamma
    """
    counts = (sums & 0) + count
    # If the sum is below 2 Gamma, k is 0 whatever the threshold, so the threshold may be raised to
    # Gamma. Then bit lengths give k or k + 1, and never less than 0.
    threshold = maximum(sums + ((49 * count) >> 7), counts)
    k = lane_leading_zeros(counts) - lane_leading_zeros(threshold)
    k = minimum(select((counts << k) > threshold, k - 1, k), c.depth - 2)
    quotient = delta >> k
    stop_bit = ((sums & 0) + 1) << k
    short = quotient < c.unary_limit
    value = select(short, (delta & (stop_bit - 1)) | stop_bit, delta)
    return value, select(short, quotient + k + 1, c.unary_limit + c.depth)


@jit(part=True)
def _write(
    words: Vector, used: Vector, state: LaneState, lane: int, lanes: tuple[None, ...]
) -> Any:
    """Write the whole bytes among the `used` bits of each lane; return the number of bits left."""
    positions = state.positions
    gap = 64 - widen(used)
    aligned = (words << (gap >> 1)) << (gap - (gap >> 1))  # in two steps: a gap may be 64
    store_lanes_be64(state.scratch, positions, lane, aligned)
    store(positions, lane, load(positions, lane, lanes) + widen(used >> 3))
    return used & 7


@jit(part=True)
def encode_band_row(
    c: Coder,
    deltas: NumpyArray,
    columns: int,
    t: int,
    state: LaneState,
    lane: int,
    lanes: tuple[None, ...],
) -> None:
    """Code one row of a vector of bands, deltas[x * lanes + i]; `state` is a `LaneState`.

    Each lane needs capacity for the longest row: columns * (U_max + D) bits and MARGIN bytes.
    """
    s = load(state.sums, lane, lanes)
    word = load(state.words, lane, lanes)
    n = load(state.used, lane, lanes)
    x = 0
    if t == 0:
        word = widen(load(deltas, 0, lanes))
        n = n + c.depth
        x = 1
    count = count_at(c, t + x)
    for i in range(x, columns):
        delta = load(deltas, i * value_of(lanes), lanes)
        value, length = codeword(c, delta, s, count)
        if any_lane(n + length > 64):
            n = _write(word, n, state, lane, lanes)
            if any_lane(length > 57):
                # up to U_max + D = 64 bits; those above the low D bits are zeros
                head = select(length > 57, length - c.depth, 0)
                word = word << widen(head)
                n = _write(word, n + head, state, lane, lanes)
                length = length - head
        word = (word << widen(length)) | widen(value)
        n = n + length
        s = update_statistics(c, s, delta, count)
        count = count_at(c, t + i + 1)
    store(state.sums, lane, s)
    store(state.words, lane, word)
    store(state.used, lane, n)


@jit
def encode_rows(
    g: Bands,
    y: int,
    rows: int,
    c: Coder,
    deltas: NumpyArray,
    arrays: tuple[NumpyArray, ...],
) -> None:
    """Predict and encode `rows` rows from row y on, all bands of the group."""
    columns, state = g.layout.columns, LaneState(*arrays)
    for r in range(rows):
        first = begin_band_row(g, y + r, r)
        difference_row(g, y + r, first)
        for lane in range(0, g.layout.width - HALO, value_of(g.lanes)):
            predict_band_row(g, y + r, first, lane, deltas, 0, value_of(g.lanes))
            t = (y + r) * columns
            encode_band_row(c, deltas, columns, t, state, lane, g.lanes)


def encode_bands(
    x: NumpyArray, plan: Plan, header: bytes
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Encode one block in band-sequential order with the sample-adaptive coder.

    Parameters
    ----------
    x : (z, y, x) integers of native byte order, any strides
    header : first bytes of the stream

    Returns
    -------
    (n,) uint8, the whole stream, and (NZ,) int64, the bits of each band

    Raises
    ------
    BadParams : a sample is outside the range of the image
    """
    image, out = plan.image, BitString(header, x.size * plan.image.bit_depth // 16)
    sums = np.zeros(plan.weights.shape[0], plan.dtype)
    sums[: image.n_bands] = plan.first_sums
    lane_bits = np.empty(image.n_bands, np.int64)
    for group in band_groups(x, plan):
        first = group.first
        lanes = _encode_group(group, sums[first : first + group.lanes])
        bits = lanes.bits[: image.n_bands - first]
        lane_bits[first : first + bits.size] = bits
        data = out.reserve(int(bits.sum()))
        out.bits = join_lanes(lanes.scratch, lanes.stride, bits, data, out.bits)
    return out.padded(plan.params.word_bytes), lane_bits


def _encode_group(group: BandGroup, sums: NumpyArray) -> BitStrings:
    columns, coder = group.rows.layout.columns, group.plan.coder
    row_bytes = -(-columns * (coder.unary_limit + coder.depth) // 8)
    worst = group.rows.batch * row_bytes + MARGIN
    expected = group.rows.image.n_rows * columns * coder.depth // 8
    lanes = BitStrings(group.lanes, expected + worst, sums)
    deltas = np.empty(columns * group.plan.lanes, group.plan.dtype)
    for y, rows in group.rows.batches():
        lanes.reserve(worst)
        encode_rows(group.kernel, y, rows, coder, deltas, lanes.arrays())
    finish_lanes(lanes.words.view(np.uint64), lanes.used, lanes.positions, lanes.scratch)
    return lanes
