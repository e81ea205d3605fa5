"""Sample-adaptive decoder for bodies without a lane index: one codeword after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.predict.plan import Plan
from gangsaw.codecs.ccsds123.sample.decoder import SLACK, Decoder, decode_lanes, make_decoder
from gangsaw.codecs.ccsds123.sample.lanes import check_end
from gangsaw.codecs.ccsds123.wave.output import SampleTarget, put_residual, target
from gangsaw.codecs.ccsds123.wave.reconstruct import OUT_OF_RANGE, reconstruct
from gangsaw.codecs.core.arrays import Bytes, Int64s, NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.bits import leading_zeros, load_be64
from gangsaw.codecs.core.numba.jit import jit

IMPOSSIBLE = -1  # error code instead of a position: a residual of more than D bits


@jit(part=True)
def _read_word(data: Bytes, at: int) -> Any:
    """Return the 64 bits from bit position `at` on."""
    byte, skip = at >> 3, np.uint64(at & 7)
    last = np.uint64(data[byte + 8]) >> (np.uint64(8) - skip)
    return load_be64(data, byte) << skip | last


@jit(part=True)
def _choose_code(accumulator: int, count: int, depth: int) -> Any:
    threshold = accumulator + (49 * count >> 7)
    k = max(leading_zeros(count) - leading_zeros(threshold), 0)
    if count << k > threshold:
        k -= 1
    return min(max(k, 0), depth - 2)


@jit(part=True)
def _read_codeword(data: Bytes, at: int, k: int, unary_limit: int, depth: int) -> Any:
    """Decode a codeword with parameter k; return its value and its length in bits."""
    word = _read_word(data, at)
    zeros = np.int64(leading_zeros(word))
    if zeros >= unary_limit:
        rest = word << np.uint64(unary_limit)
        return np.int64(rest >> np.uint64(64 - depth)), unary_limit + depth
    rest = word << np.uint64(zeros) << np.uint64(1)
    low = np.int64(rest >> np.uint64(1) >> np.uint64(63 - k))
    return (zeros << k) + low, zeros + 1 + k


@jit(part=True)
def _update(accumulator: int, count: int, rescale_at: int, value: int) -> int:
    if count == rescale_at:
        return (accumulator + value + 1) >> 1
    return accumulator + value


@jit(part=True)
def _next(count: int, rescale_at: int) -> int:
    """Return the sample counter Gamma after one more sample."""
    return (count + 1) >> 1 if count == rescale_at else count + 1


@jit
def _scan_lanes(
    data: Bytes, at: int, c: Decoder, samples: int, begin: tuple[int, Int64s], lane_bits: Int64s
) -> int:
    """Find the length of each band's lane in a BSQ body; return the last position.

    begin : counter and (NZ,) accumulators of the bands at t = 1
    """
    for z in range(lane_bits.size):
        before, count, accumulator = at, begin[0], begin[1][z]
        at += c.depth
        for _ in range(1, samples):
            k = _choose_code(accumulator, count, c.depth)
            value, bits = _read_codeword(data, min(at, c.cap), k, c.unary_limit, c.depth)
            accumulator = _update(accumulator, count, c.rescale_at, value)
            count = _next(count, c.rescale_at)
            at += bits
        if at > c.cap:
            return at
        lane_bits[z] = at - before
    return at


@jit
def _read_interleaved(
    data: Bytes,
    at: int,
    c: Decoder,
    first: int,
    accumulator: Int64s,
    extents: tuple[int, int, int],
    group: int,
    place: SampleTarget,
) -> int:
    """Read a BI body (CCSDS 123.0-B-2, 5.4.2); return the last position, or IMPOSSIBLE.

    first : counter at t = 1
    extents : NZ, NY, NX
    place : destination of the residuals, a `SampleTarget`
    """
    bands, rows, columns = extents
    of_row = first
    for y in range(rows):
        count = of_row
        for low in range(0, bands, group):
            count = of_row
            for x in range(columns):
                for z in range(low, min(low + group, bands)):
                    if y + x == 0:
                        value = _read_word(data, min(at, c.cap)) >> np.uint64(64 - c.depth)
                        put_residual(place, z, y, x, value)
                        at += c.depth
                        continue
                    k = _choose_code(accumulator[z], count, c.depth)
                    value, bits = _read_codeword(data, min(at, c.cap), k, c.unary_limit, c.depth)
                    if value >> c.depth:
                        return IMPOSSIBLE
                    accumulator[z] = _update(accumulator[z], count, c.rescale_at, value)
                    put_residual(place, z, y, x, value)
                    at += bits
                count = count if y + x == 0 else _next(count, c.rescale_at)
        of_row = count
        if at > c.cap:
            return at
    return at


def decode_serial(
    data: npt.NDArray[np.uint8],
    start_bit: int,
    plan: Plan,
    out: NumpyArray,
) -> npt.NDArray[np.int64] | None:
    """Decode a sample-adaptive body without a lane index, in BSQ or BI order.

    Parameters
    ----------
    data : (n,) uint8, one stream; no bit after its end is used
    start_bit : offset of the body in bits
    plan : plan of the header's image and params
    out : (NZ, NY, NX) strided view, any integer dtype that represents the samples

    Returns
    -------
    (NZ,) int64 bits of each band's lane for BSQ, None for BI

    Raises
    ------
    CorruptChunk
        The body is too short, or does not decode to an image.
    """
    image = plan.image
    samples = image.n_rows * image.n_columns
    # A sample needs at least one bit: reject impossible sizes before any allocation.
    if 8 * data.size - start_bit < image.n_bands * (samples - 1 + image.bit_depth):
        raise CorruptChunk("the stream is shorter than its image can be")
    padded = np.concatenate([data, np.zeros(SLACK, np.uint8)])
    accumulators, decoder = plan.first_sums.copy(), make_decoder(plan.coder, data.size)
    count = plan.coder.first_count
    if plan.params.order == "bsq":
        lane_bits = np.zeros(image.n_bands, np.int64)
        begin = (count, accumulators)
        end = _scan_lanes(padded, start_bit, decoder, samples, begin, lane_bits)
        check_end(data, end)
        del padded  # frees a copy of the stream, as the next call makes another one
        decode_lanes(data, start_bit, lane_bits, plan, out)
        return lane_bits
    group = plan.params.interleave_depth or image.n_bands
    with target(out) as place:
        end = _read_interleaved(
            padded, start_bit, decoder, count, accumulators, image.shape, group, place
        )
        if end == IMPOSSIBLE:
            raise CorruptChunk(OUT_OF_RANGE)
        check_end(data, end)
        reconstruct(place, plan)
    return None
