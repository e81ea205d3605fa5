"""Sample-adaptive entropy decoder (section 10 of the specification), fused with the predictor."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123 import reconstruct as wave
from gangsaw.codecs.ccsds123.params import Image, Params
from gangsaw.codecs.core.bits import (
    leading_zeros,
    load_be64,
    peek,
    poke,
    shift_left,
    shift_right,
)
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.jit import jit, jit_restrict

WINDOW = 57  # bits that are sure to be in a 64-bit word loaded at a byte address
SLACK = 16  # bytes that may be read beyond the last codeword's begin
LANE_END = 2  # status: a band's codewords do not end where its lane does

Array = npt.NDArray[Any]


class Coder(NamedTuple):
    """Constants and per-band arrays of the decoder; tables as in `reconstruct.State`."""

    depth: int  # D
    unary_limit: int  # U_max
    rescale_at: int  # 2^gamma* - 1
    cap: int  # bit that no position passes
    long: bool  # codewords may be longer than WINDOW
    data: Array  # (n + SLACK,) uint8
    start: Array  # (NZ,) int64 first bit of each lane
    end: Array  # (NZ,) int64
    count: Array  # skewed table of Gamma(t)
    first: Array  # (NZ,) T accumulator before t = 1
    accumulator: Array  # (lanes,) T
    code: Array  # (lanes,) T k
    position: Array  # (lanes,) int64 next bit
    window: Array  # (lanes,) uint64 the bits from there on


@jit_restrict
def choose_codes(
    code: Any, accumulator: Any, delta: Any, count: Any, when: int, rescale_at: int, depth: int,
    lo: int, hi: int,
) -> None:  # fmt: skip
    """Bring the accumulators up to date with the step before, then choose each band's k."""
    of = code.dtype.type
    for z in range(lo, hi):
        g = peek(count, when + z)
        rescale = of(1) if peek(count, when + 1 + z) == rescale_at else of(0)
        s = shift_right(of(of(peek(accumulator, z) + peek(delta, z)) + rescale), rescale)
        poke(accumulator, z, s)
        threshold = of(s + of(of(49 * g) >> 7))
        # floor(log2(threshold / g)) is the difference of the bit lengths, or one less.
        k = max(of(leading_zeros(g) - leading_zeros(threshold)), of(0))
        over = of(1) if shift_left(g, k) > threshold else of(0)
        poke(code, z, min(max(of(k - over), of(0)), of(depth - 2)))


@jit_restrict
def load_windows(window: Any, data: Any, position: Any, long: bool, lo: int, hi: int) -> None:
    """Load the 64 bits at each position, sure to the last only where `long`."""
    for z in range(lo, hi):
        at = peek(position, z)
        poke(window, z, shift_left(load_be64(data, at >> 3), np.uint64(at & 7)))
    if long:
        for z in range(lo, hi):
            at = peek(position, z)
            last = shift_right(np.uint64(peek(data, (at >> 3) + 8)), np.uint64(8 - (at & 7)))
            poke(window, z, peek(window, z) | last)


@jit_restrict
def read_codewords(
    delta: Any, position: Any, window: Any, code: Any, unary_limit: int, depth: int, cap: int,
    lo: int, hi: int,
) -> None:  # fmt: skip
    """Decode one codeword per lane; a value beyond D bits becomes 2^D, which is impossible."""
    of = delta.dtype.type
    for z in range(lo, hi):
        word, k = peek(window, z), np.int64(peek(code, z))
        zeros = min(np.int64(leading_zeros(word)), unary_limit)
        escape = zeros == unary_limit
        bits = depth if escape else k
        skip = zeros if escape else zeros + 1
        rest = shift_right(shift_left(word, np.uint64(skip)), np.uint64(1))
        value = np.int64(shift_right(rest, np.uint64(63 - bits)))
        value += 0 if escape else zeros << k
        poke(delta, z, of(min(value, 1 << depth)))
        poke(position, z, min(peek(position, z) + skip + bits, cap))


@jit
def _begin_lane(c: Any, s: Any, z: int) -> None:
    at = c.start[z]
    word = load_be64(c.data, at >> 3) << np.uint64(at & 7)
    s.delta[z] = s.delta.dtype.type(word >> np.uint64(64 - c.depth))
    c.position[z] = min(at + c.depth, c.cap)
    c.accumulator[z] = c.first[z]


@jit
def _decode_lanes(p: Any, s: Any, c: Any, out: Any) -> int:
    steps = p.samples + p.bands - 1
    for step in range(steps):
        lo, hi = wave.active(p, step)
        when = wave.LANES + p.samples - 1 - step
        choose_codes(c.code, c.accumulator, s.delta, c.count, when, c.rescale_at, c.depth, lo, hi)
        load_windows(c.window, c.data, c.position, c.long, lo, hi)
        read_codewords(
            s.delta, c.position, c.window, c.code, c.unary_limit, c.depth, c.cap, lo, hi
        )
        wave.advance(p, s, step, lo, hi)
        if step < p.bands:
            _begin_lane(c, s, step)
            wave.begin(p, s, step)
            s.delta[step] = 0  # delta(0) never enters the accumulator
        if step >= p.samples - 1:
            z = step - p.samples + 1
            if c.position[z] != c.end[z]:
                return LANE_END
            if s.bad[z] != 0:
                return wave.IMPOSSIBLE_RESIDUAL
        if step % wave.RUN == wave.RUN - 1 or step == steps - 1:
            wave.write_run(p, s, out, step)
    return 0


def counts(image: Image, params: Params) -> npt.NDArray[np.int64]:
    """(NY * NX,) int64 counter Gamma(t), at t = 0 that of t = 1: it depends on no data."""
    first, limit = 1 << params.initial_count, (1 << params.rescale) - 1
    t = np.arange(image.n_rows * image.n_columns) - 1
    climb = limit - first
    period = limit + 1 - ((limit + 1) >> 1)
    fall = (t - climb - 1) % period + ((limit + 1) >> 1)
    out = np.where(t <= climb, first + t, fall)
    out[0] = first
    return out


def first_accumulators(image: Image, params: Params) -> npt.NDArray[np.int64]:
    """(NZ,) int64 accumulator Sigma(1) of each band."""
    table = params.accumulator_init
    k = np.empty(image.n_bands, np.int64)
    k[:] = table
    depth = image.bit_depth
    k = np.where(k <= 30 - depth, k, 2 * k + depth - 30)
    return ((3 << (k + 6)) - 49 << params.initial_count) >> 7


def make_coder(
    data: npt.NDArray[np.uint8],
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    image: Image,
    params: Params,
) -> Coder:
    """Gather constants and allocate the arrays of the lanes; data ends with SLACK spare bytes."""
    of = wave.arithmetic(image, params)
    lanes = -(-image.n_bands // wave.LANES) * wave.LANES
    return Coder(
        image.bit_depth,
        params.unary_limit,
        (1 << params.rescale) - 1,
        8 * (data.size - SLACK) + 1,
        params.unary_limit + image.bit_depth > WINDOW,
        data,
        start,
        end,
        wave.skewed(counts(image, params)).astype(of),
        first_accumulators(image, params).astype(of),
        wave.aligned(lanes, of),
        wave.aligned(lanes, of),
        wave.aligned(lanes, np.int64),
        wave.aligned(lanes, np.uint64),
    )


def decode_lanes(
    data: npt.NDArray[np.uint8],
    start_bit: int,
    lane_bits: npt.NDArray[np.int64],
    image: Image,
    params: Params,
    out: npt.NDArray[Any],
) -> None:
    """Decode a BSQ body whose bands can be found alone, all bands side by side.

    Parameters
    ----------
    data : (n,) uint8, one stream; not a bit beyond it is read
    start_bit : where the first lane begins, in bits
    lane_bits : (NZ,) int64 bits of each band
    image, params : what the stream's header says
    out : (NZ, NY, NX) strided view, any integer dtype that holds the samples

    Raises
    ------
    CorruptChunk
        The lanes do not fit the stream, or decode to no image.
    """
    end = start_bit + np.cumsum(lane_bits)
    start = end - lane_bits
    samples = image.n_rows * image.n_columns
    if np.any(lane_bits < samples - 1 + image.bit_depth) or end[-1] > 8 * data.size:
        raise CorruptChunk("the lane index does not fit the stream")
    padded = np.concatenate([data, np.zeros(SLACK, np.uint8)])
    coder = make_coder(padded, start, end, image, params)
    predictor, state = wave.make_predictor(image, params), wave.make_state(image, params)
    with wave.native(out) as target:
        status = _decode_lanes(predictor, state, coder, target)
    if status == LANE_END:
        raise CorruptChunk("a lane's codewords do not end where the lane does")
    if status:
        raise CorruptChunk("a mapped residual lies outside the range of the samples")
