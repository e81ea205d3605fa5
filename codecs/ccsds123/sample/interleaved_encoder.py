"""Sample-adaptive encoder in band-interleaved order: parallel codewords, serial output of bits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.predict.plan import Coder, Plan
from gangsaw.codecs.ccsds123.predict.predict import residuals
from gangsaw.codecs.ccsds123.sample.bit_string import BitString
from gangsaw.codecs.ccsds123.sample.encoder import codeword
from gangsaw.codecs.ccsds123.sample.statistics import count_at, update_statistics
from gangsaw.codecs.core.arrays import Bytes, NumpyArray, UInt32s
from gangsaw.codecs.core.numba.bits import store_be64
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import load, static, store, value_of

BATCH_SAMPLES = 1 << 17  # samples coded between two checks of the output's capacity


class CodewordState(NamedTuple):
    """Accumulators of all bands, and the codewords of one row, for kernels.

    Attributes
    ----------
    sums : (lanes,) accumulators of the bands, padded to a whole vector
    values, lengths : (NX, lanes) codewords and their bits
    lanes : number of lanes in a vector, `static`
    """

    sums: NumpyArray
    values: NumpyArray
    lengths: NumpyArray
    lanes: tuple[None, ...]


@jit(part=True)
def encode_row_codewords(c: Coder, deltas: UInt32s, row: int, t: int, state: CodewordState) -> None:
    """Compute the codewords of one row of all bands, one each; `state` is a `CodewordState`."""
    sums, values, lengths, lanes = state.sums, state.values, state.lengths, state.lanes
    columns, padded = values.shape
    flat_values, flat_lengths = values.ravel(), lengths.ravel()
    for x in range(columns):
        here = x * padded
        for z in range(deltas.shape[1]):
            flat_values[here + z] = deltas[row * columns + x, z]
        if t + x == 0:
            lengths[0, :] = c.depth
            continue
        count = count_at(c, t + x)
        for z in range(0, padded, value_of(lanes)):
            delta = load(flat_values, here + z, lanes)
            s = load(sums, z, lanes)
            value, length = codeword(c, delta, s, count)
            store(flat_values, here + z, value)
            store(flat_lengths, here + z, length)
            store(sums, z, update_statistics(c, s, delta, count))


@jit(part=True)
def _to_top(word: np.uint64, used: int) -> Any:
    gap = 64 - used
    return (word << np.uint64(gap >> 1)) << np.uint64(gap - (gap >> 1))  # a gap may be 64


@jit(part=True)
def append_row(
    values: NumpyArray,
    lengths: NumpyArray,
    depth: int,
    bands: int,
    interleave: int,
    out: Bytes,
    bit: int,
) -> int:
    """Append a row's codewords in band-interleaved order to `out`; return the end in bits.

    interleave : M, the number of bands per group
    """
    place, used = bit >> 3, bit & 7
    word = np.uint64(out[place] >> (8 - used)) if used else np.uint64(0)
    for first in range(0, bands, interleave):
        for x in range(values.shape[0]):
            for z in range(first, min(first + interleave, bands)):
                length = lengths[x, z]
                if used + length > 64:
                    store_be64(out, place, _to_top(word, used))
                    place, used = place + (used >> 3), used & 7
                    if length > 57:
                        used += length - depth
                        word <<= np.uint64(length - depth)
                        length = depth
                        store_be64(out, place, _to_top(word, used))
                        place, used = place + (used >> 3), used & 7
                word = (word << np.uint64(length)) | np.uint64(values[x, z])
                used += length
    store_be64(out, place, _to_top(word, used))
    return place * 8 + used


@jit
def interleave_rows(
    c: Coder,
    deltas: UInt32s,
    y: int,
    rows: int,
    state: CodewordState,
    interleave: int,
    out: Bytes,
    bit: int,
) -> int:
    """Code rows y to y + rows of deltas (NY * NX, NZ); return the end in bits."""
    columns = state.values.shape[0]
    for row in range(y, y + rows):
        encode_row_codewords(c, deltas, row, row * columns, state)
        bit = append_row(
            state.values, state.lengths, c.depth, deltas.shape[1], interleave, out, bit
        )
    return bit


def encode_interleaved(x: NumpyArray, plan: Plan, header: bytes) -> npt.NDArray[np.uint8]:
    """Encode a block in BI order with the sample-adaptive coder; see `encode_bands`."""
    image, coder, deltas = plan.image, plan.coder, residuals(x, plan)
    interleave = plan.params.interleave_depth or image.n_bands
    state = _first_state(plan)
    out = BitString(header, x.size * image.bit_depth // 16)
    row_samples = image.n_columns * image.n_bands
    batch = max(1, BATCH_SAMPLES // row_samples)
    for y in range(0, image.n_rows, batch):
        rows = min(batch, image.n_rows - y)
        data = out.reserve(rows * row_samples * (coder.unary_limit + coder.depth))
        out.bits = interleave_rows(coder, deltas, y, rows, state, interleave, data, out.bits)
    return out.padded(plan.params.word_bytes)


def _first_state(plan: Plan) -> CodewordState:
    lanes = 8 if plan.image.n_bands <= 8 else 16
    sums = np.zeros(-(-plan.image.n_bands // lanes) * lanes, plan.sums_dtype)
    sums[: plan.image.n_bands] = plan.first_sums
    values = np.zeros((plan.image.n_columns, sums.size), sums.dtype)
    return CodewordState(sums, values, np.empty_like(values), static(lanes))
