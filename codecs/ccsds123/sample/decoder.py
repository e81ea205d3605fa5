"""Sample-adaptive entropy decoder (CCSDS 123.0-B-2, 5.4.3.2), fused with the predictor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.predict.plan import Coder, Plan
from gangsaw.codecs.ccsds123.sample.lanes import check_end, lane_bounds
from gangsaw.codecs.ccsds123.sample.statistics import counts
from gangsaw.codecs.ccsds123.wave import reconstruct as wave
from gangsaw.codecs.ccsds123.wave.output import SampleTarget, target, write_samples
from gangsaw.codecs.ccsds123.wave.state import (
    LANES,
    RUN,
    Segment,
    State,
    at_segment,
    cached_if_small,
    make_predictor,
    make_state,
    round_up,
    segments,
    skewed,
    strip_of,
)
from gangsaw.codecs.ccsds123.wave.wavefront import WavePredictor
from gangsaw.codecs.core.arrays import Bytes, Int64s, NumpyArray, UInt64s
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.aligned import aligned_zeros
from gangsaw.codecs.core.numba.bits import (
    ahead,
    big_endian,
    fit,
    leading_zeros,
    leading_zeros_to_32,
    load_be64,
    load_raw64,
    pointers,
    prefetch,
    shift_left,
    shift_right,
)
from gangsaw.codecs.core.numba.jit import jit

WINDOW = 57  # guaranteed bits in a 64-bit word that is loaded at a byte address
PREFETCH_STEPS, AHEAD = 8, 40  # AHEAD: the bytes that PREFETCH_STEPS steps mostly read
LENGTH_BITS = 6  # lengths of the unary part, and of the bits after it, are below 2^6
SLACK = 16  # bytes that may be read after the start of the last codeword
LANE_END = 2  # status: a band's codewords do not end at the end of its lane
REASONS = {
    wave.IMPOSSIBLE_RESIDUAL: wave.OUT_OF_RANGE,
    LANE_END: "a lane's codewords do not end where the lane does",
}

Array = NumpyArray


class Decoder(NamedTuple):
    """Constants of the sample-adaptive entropy decoder for one stream."""

    depth: int  # D
    unary_limit: int  # U_max
    rescale_at: int  # 2^gamma* - 1
    long: bool  # codewords may be longer than WINDOW
    cap: int  # in bits: upper limit of all positions


class DecoderState(NamedTuple):
    """Arrays of the entropy decoder, for all bands; T (the lane dtype) and tables as in `State`."""

    start: Int64s  # (NZ,) int64 first bit of each lane
    end: Int64s  # (NZ,) int64
    counter: Array  # table of T, Gamma(t)
    first: Array  # (NZ,) T accumulators before t = 1
    accumulator: Array  # (lanes,) T
    code: Array  # (lanes,) T k
    position: Int64s  # (lanes,) int64 next bit
    window: UInt64s  # (lanes,) uint64 the bits from `position` on


@jit(restrict=True, part=True)
def choose_codes(
    code: NumpyArray,
    accumulator: NumpyArray,
    delta: NumpyArray,
    count: NumpyArray,
    before: NumpyArray,
    c: Decoder,
    lo: int,
    hi: int,
) -> None:
    """Update each band's accumulator with its last residual, then choose its code parameter k.

    Bands are the lanes [lo, hi).

    count, before : tables of the counter Gamma at this step and the previous one
    """
    zero, one, most = fit(0, code), fit(1, code), fit(c.depth - 2, code)
    for z in range(lo, hi):
        g = count[z]
        rescale = one if before[z] == c.rescale_at else zero
        s = shift_right(fit(accumulator[z] + delta[z] + rescale, code), rescale)
        accumulator[z] = s
        threshold = fit(s + shift_right(fit(49 * g, code), fit(7, code)), code)
        # floor(log2(threshold / g)) is the difference of the bit lengths, or one less.
        k = max(fit(leading_zeros(g) - leading_zeros(threshold), code), zero)
        k = fit(k - (1 if shift_left(g, k) > threshold else 0), code)
        code[z] = min(max(k, zero), most)


@jit(part=True)
def load_windows(window: UInt64s, data: Bytes, position: Int64s, lo: int, hi: int) -> None:
    """Load eight bytes of the stream at each lane's bit position, without conversion to bits.

    Not `jit(restrict=True)`: LLVM would vectorise the loop, but a gather needs as many loads.
    """
    for z in range(lo, hi):
        window[z] = load_raw64(data, position[z] >> 3)


@jit(part=True)
def prefetch_windows(data: Bytes, position: Int64s, lo: int, hi: int) -> None:
    """Prefetch the bytes of the next steps: processors detect few streams by themselves."""
    for z in range(lo, hi):
        prefetch(data, (position[z] >> 3) + AHEAD)


@jit(restrict=True, part=True)
def shift_windows(window: UInt64s, position: Int64s, lo: int, hi: int) -> None:
    """Convert the loaded bytes to the bits from each position on, of which WINDOW are valid."""
    for z in range(lo, hi):
        window[z] = big_endian(window[z]) << np.uint64(position[z] & 7)


@jit(part=True)
def complete_windows(window: UInt64s, data: Bytes, position: Int64s, lo: int, hi: int) -> None:
    """Fill the last bits of each lane's 64-bit window from the ninth byte."""
    for z in range(lo, hi):
        at = position[z]
        window[z] |= np.uint64(data[(at >> 3) + 8]) >> np.uint64(8 - (at & 7))


@jit(restrict=True, part=True)
def measure_codewords(
    delta: NumpyArray,
    code: NumpyArray,
    window: UInt64s,
    unary_limit: int,
    depth: int,
    lo: int,
    hi: int,
) -> None:
    """Store the value of each codeword's unary part in delta, and its two lengths in code.

    Those are the length of the unary part, above LENGTH_BITS bits, and that of the bits after it,
    below.

    The length of the bits after it is in the low LENGTH_BITS of `code`.

    `code` has k before. The kernel is separate from `read_codewords`, because AVX2 has only four
    lanes if one of the types has 64 bits.
    """
    limit, whole, one = fit(unary_limit, code), fit(depth, code), fit(1, code)
    for z in range(lo, hi):
        k = code[z]
        zeros = min(fit(leading_zeros_to_32(window[z]), code), limit)
        escape = zeros == limit
        unary = fit(zeros + (0 if escape else one), code)
        bits = whole if escape else k
        delta[z] = fit(0 if escape else shift_left(zeros, k), delta)
        code[z] = fit((unary << LENGTH_BITS) + bits, code)


@jit(restrict=True, part=True)
def read_codewords(
    delta: NumpyArray,
    position: Int64s,
    window: UInt64s,
    code: NumpyArray,
    depth: int,
    cap: int,
    lo: int,
    hi: int,
) -> None:
    """Add the bits after the unary part to each lane's residual, and advance its position.

    A value above D bits becomes 2^D, which is invalid.
    """
    most, width = fit(1 << depth, delta), fit(LENGTH_BITS, code)
    for z in range(lo, hi):
        both = code[z]
        unary, bits = shift_right(both, width), fit(both & (1 << LENGTH_BITS) - 1, code)
        rest = shift_right(shift_left(window[z], np.uint64(unary)), np.uint64(1))
        low = shift_right(rest, np.uint64(63 - bits))
        delta[z] = min(fit(delta[z] + fit(low, delta), delta), most)
        position[z] = min(position[z] + fit(unary + bits, code), cap)


@jit(inline=True, part=True)
def _read_step(
    c: Decoder, a: DecoderState, s: State, data: Bytes, step: int, lo: int, hi: int
) -> None:
    """Decode one codeword of each lane in [lo, hi) into s.delta."""
    count, before = ahead(a.counter, s.origin - step), ahead(a.counter, s.origin + 1 - step)
    choose_codes(a.code, a.accumulator, s.delta, count, before, c, lo, hi)
    if step % PREFETCH_STEPS == 0:
        prefetch_windows(data, a.position, lo, hi)
    load_windows(a.window, data, a.position, lo, hi)
    shift_windows(a.window, a.position, lo, hi)
    if c.long:
        complete_windows(a.window, data, a.position, lo, hi)
    measure_codewords(s.delta, a.code, a.window, c.unary_limit, c.depth, lo, hi)
    read_codewords(s.delta, a.position, a.window, a.code, c.depth, c.cap, lo, hi)


@jit(part=True)
def _begin_band(c: Decoder, a: DecoderState, s: State, data: Bytes, z: int) -> None:
    at = a.start[z]
    word = load_be64(data, at >> 3) << np.uint64(at & 7)
    s.delta[z] = fit(word >> np.uint64(64 - c.depth), s.delta)
    a.position[z] = min(at + c.depth, c.cap)
    a.accumulator[z] = a.first[z]


@jit(part=True)
def _report(a: DecoderState, s: State, z: int) -> int:
    """Return the error status of band z, which has ended, or 0."""
    if a.position[z] != a.end[z]:
        return LANE_END
    return wave.IMPOSSIBLE_RESIDUAL if s.bad[z] != 0 else 0


@jit(part=True)
def _decode_strip(
    p: WavePredictor,
    s: State,
    c: Decoder,
    a: DecoderState,
    data: Bytes,
    steps: tuple[int, int],
    bands: tuple[int, int],
) -> int:
    low, high = bands
    for step in range(steps[0], steps[1]):
        lo, hi = wave.active(p, step, low, high)
        if lo < hi:
            _read_step(c, a, s, data, step, lo, hi)
            wave.advance(p, s, step, lo, hi)
        if low <= step < min(high, p.bands):
            _begin_band(c, a, s, data, step)
            wave.begin_band(p, s, step)
            s.delta[step] = fit(0, s.delta)  # delta(0) never enters the accumulator
        ended = step - p.samples + 1
        if low <= ended < high:
            status = _report(a, s, ended)
            if status != 0:
                return status
    return 0


@jit
def _decode_lanes(
    p: WavePredictor,
    state: State,
    c: Decoder,
    arrays: DecoderState,
    data: Bytes,
    part: Segment,
    out: SampleTarget,
) -> int:
    s, a, strip = pointers(state), pointers(arrays), strip_of(state)
    for first in range(part.first, part.last, RUN):
        last = min(first + RUN, part.last)
        for low in range(0, s.lanes, strip):
            high = min(low + strip, s.lanes)
            status = _decode_strip(p, s, c, a, data, (first, last), (low, high))
            if status != 0:
                return status
            write_samples(p, s, out, first, last, low, high)
    return 0


@cached_if_small
def _count_table(plan: Plan, begin: int, end: int) -> Array:
    return skewed(counts(plan.coder, begin, end), plan.dtype)


def make_decoder(coder: Coder, size: int) -> Decoder:
    """Return the constants for a stream of `size` bytes."""
    return Decoder(
        depth=coder.depth,
        unary_limit=coder.unary_limit,
        rescale_at=coder.top_count,
        long=coder.unary_limit + coder.depth > WINDOW,
        cap=8 * size + 1,
    )


def make_decoder_state(
    plan: Plan, start: npt.NDArray[np.int64], end: npt.NDArray[np.int64]
) -> DecoderState:
    """Return the initial decoder arrays for lanes from bit `start` to bit `end`."""
    of, lanes = plan.dtype, round_up(plan.image.n_bands, LANES)
    return DecoderState(
        start=start,
        end=end,
        counter=aligned_zeros(1, of),  # of one segment
        first=plan.first_sums.astype(of),
        accumulator=aligned_zeros(lanes, of),
        code=aligned_zeros(lanes, of),
        position=aligned_zeros(lanes, np.int64),
        window=aligned_zeros(lanes, np.uint64),
    )


def decode_lanes(
    data: npt.NDArray[np.uint8],
    start_bit: int,
    lane_bits: npt.NDArray[np.int64],
    plan: Plan,
    out: NumpyArray,
) -> None:
    """Decode a BSQ body with a known lane index, all bands in parallel.

    Parameters
    ----------
    data : (n,) uint8, one stream; no bit after its end is used
    start_bit : offset of the first lane in bits
    lane_bits : (NZ,) int64 bits of each band
    plan : plan of the header's image and params
    out : (NZ, NY, NX) strided view, any integer dtype that represents the samples

    Raises
    ------
    CorruptChunk
        The lanes do not fit the stream, or do not decode to an image.
    """
    bounds = lane_bounds(data.size, start_bit, lane_bits, plan.image)
    padded = np.concatenate([data, np.zeros(SLACK, np.uint8)])
    of, decoder = make_predictor(plan), make_decoder(plan.coder, data.size)
    state = make_state(plan)
    arrays, status = make_decoder_state(plan, bounds[:-1], bounds[1:]), 0
    with target(out) as place:
        for part in segments(plan.image):
            state = at_segment(state, plan, part)
            arrays = arrays._replace(counter=_count_table(plan, part.begin, part.end))
            status = status or _decode_lanes(of, state, decoder, arrays, padded, part, place)
    check_end(data, int(bounds[-1]))
    if status:
        raise CorruptChunk(REASONS[status])
