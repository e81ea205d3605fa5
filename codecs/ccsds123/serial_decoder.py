"""Sample-adaptive decoding where no lane index exists: one codeword after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.params import Image, Params
from gangsaw.codecs.ccsds123.reconstruct import reconstruct
from gangsaw.codecs.ccsds123.sample_decoder import (
    SLACK,
    check_end,
    counts,
    decode_lanes,
    first_accumulators,
    make_decoder,
)
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.bits import leading_zeros, load_be64
from gangsaw.codecs.core.numba.jit import jit


@jit
def _read_word(data: Any, at: int) -> Any:
    """Return the 64 bits from a bit position on."""
    byte, skip = at >> 3, np.uint64(at & 7)
    last = np.uint64(data[byte + 8]) >> (np.uint64(8) - skip)
    return load_be64(data, byte) << skip | last


@jit
def _choose_code(accumulator: int, count: int, depth: int) -> Any:
    threshold = accumulator + (49 * count >> 7)
    k = max(leading_zeros(count) - leading_zeros(threshold), 0)
    if count << k > threshold:
        k -= 1
    return min(max(k, 0), depth - 2)


@jit
def _read_codeword(data: Any, at: int, k: int, unary_limit: int, depth: int) -> Any:
    """Return (value, bits)."""
    word = _read_word(data, at)
    zeros = np.int64(leading_zeros(word))
    if zeros >= unary_limit:
        rest = word << np.uint64(unary_limit)
        return np.int64(rest >> np.uint64(64 - depth)), unary_limit + depth
    rest = word << np.uint64(zeros) << np.uint64(1)
    low = np.int64(rest >> np.uint64(1) >> np.uint64(63 - k))
    return (zeros << k) + low, zeros + 1 + k


@jit
def _update(accumulator: int, count: int, rescale_at: int, value: int) -> int:
    if count == rescale_at:
        return (accumulator + value + 1) >> 1
    return accumulator + value


@jit
def _scan_lanes(data: Any, at: int, c: Any, count: Any, first: Any, lane_bits: Any) -> int:
    """Walk through a BSQ body, keeping only where each band ends; return the last position."""
    for z in range(lane_bits.size):
        begin, accumulator = at, first[z]
        at += c.depth
        for t in range(1, count.size):
            k = _choose_code(accumulator, count[t], c.depth)
            value, bits = _read_codeword(data, min(at, c.cap), k, c.unary_limit, c.depth)
            accumulator = _update(accumulator, count[t], c.rescale_at, value)
            at += bits
        if at > c.cap:
            return at
        lane_bits[z] = at - begin
    return at


@jit
def _read_interleaved(
    data: Any, at: int, c: Any, count: Any, accumulator: Any, columns: int, group: int, delta: Any
) -> int:
    """Read a BI body into delta[t, z] (CCSDS 123.0-B-2, 5.4.2); return the last position."""
    samples, bands = delta.shape
    for row in range(0, samples, columns):
        for low in range(0, bands, group):
            for t in range(row, row + columns):
                for z in range(low, min(low + group, bands)):
                    if t == 0:
                        delta[0, z] = _read_word(data, min(at, c.cap)) >> np.uint64(64 - c.depth)
                        at += c.depth
                        continue
                    k = _choose_code(accumulator[z], count[t], c.depth)
                    value, bits = _read_codeword(data, min(at, c.cap), k, c.unary_limit, c.depth)
                    accumulator[z] = _update(accumulator[z], count[t], c.rescale_at, value)
                    delta[t, z] = min(value, 0xFFFFFFFF)
                    at += bits
        if at > c.cap:
            return at
    return at


def decode_serial(
    data: npt.NDArray[np.uint8],
    start_bit: int,
    image: Image,
    params: Params,
    out: npt.NDArray[Any],
) -> npt.NDArray[np.int64] | None:
    """Decode a sample-adaptive body in BSQ or BI order of which no lane index is known.

    Parameters
    ----------
    data : (n,) uint8, one stream; not a bit beyond it is read
    start_bit : where the body begins, in bits
    image, params : what the stream's header says
    out : (NZ, NY, NX) strided view, any integer dtype that holds the samples

    Returns
    -------
    (NZ,) int64 bits of each band's lane for BSQ, None for BI

    Raises
    ------
    CorruptChunk
        The body is too short, or decodes to no image.
    """
    samples = image.n_rows * image.n_columns
    # A sample costs a bit or more: refuse what cannot be before anything is allocated for it.
    if 8 * data.size - start_bit < image.n_bands * (samples - 1 + image.bit_depth):
        raise CorruptChunk("the stream is shorter than its image can be")
    padded = np.concatenate([data, np.zeros(SLACK, np.uint8)])
    count, first = counts(image, params), first_accumulators(image, params)
    decoder = make_decoder(image, params, data.size)
    if params.order == "bsq":
        lane_bits = np.zeros(image.n_bands, np.int64)
        end = _scan_lanes(padded, start_bit, decoder, count, first, lane_bits)
        check_end(data, end)
        decode_lanes(data, start_bit, lane_bits, image, params, out)
        return lane_bits
    delta = np.empty((samples, image.n_bands), np.uint32)
    group = params.interleave_depth or image.n_bands
    end = _read_interleaved(padded, start_bit, decoder, count, first, image.n_columns, group, delta)
    check_end(data, end)
    reconstruct(delta, image, params, out)
    return None
