"""Inverse prediction: from mapped residuals back to samples, as a wavefront over the bands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123 import wavefront
from gangsaw.codecs.ccsds123.params import LOCAL_SUMS, Image, Params
from gangsaw.codecs.core.bits import peek
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.jit import jit

LANES = 16  # int32 lanes of a 512-bit vector: ranges of bands are rounded to it
MARGIN = LANES  # columns left of band 0 in a ring: more than 15 bands look back
RUN = 32  # steps between two writes to the output: runs of 32 samples, one or two cache lines
WIDE_NEIGHBOR, NARROW_NEIGHBOR, WIDE_COLUMN, NARROW_COLUMN = range(len(LOCAL_SUMS))
IMPOSSIBLE_RESIDUAL = 1  # status: a residual that no sample within s_min..s_max has

Array = npt.NDArray[Any]


class Predictor(NamedTuple):
    """Constants of the predictor, as section 0 to 4 of the specification name them."""

    bands: int  # NZ
    columns: int  # NX
    samples: int  # NX NY, of one band
    prediction_bands: int  # P
    full: bool
    local_sum: int  # code 0..3
    lowest: int
    middle: int
    highest: int
    resolution: int  # Omega
    wrap: int  # width of the arithmetic less R


class State(NamedTuple):
    """Arrays of one wavefront. `lanes` is the number of bands rounded up, T the arithmetic's type.

    ring: (rows * width) T, samples; differences: ((P + 2 + 1) * width) T, central differences, the last row
    zero; directional: (2 * 3 * lanes) T, of this step and the one before;
    weights: (terms * lanes) T; the others (lanes) T. Tables are indexed by
    samples - 1 - t, so that they run with z; they have LANES entries more at either end.
    """

    ring: Array
    differences: Array
    directional: Array
    weights: Array
    first_weights: Array
    sigma: Array
    product: Array
    double: Array
    sign: Array
    delta: Array
    bad: Array
    border: Array
    left: Array
    right: Array
    width: int
    rows: int
    lanes: int


def arithmetic(image: Image, params: Params) -> type[np.signedinteger[Any]]:
    """int32 where 32-bit two's complement gives every intermediate value exactly, else int64."""
    depth, omega = image.bit_depth, params.weight_resolution
    # Every term is below 2^(Omega + 2) 2^(D + 2), what stands beside them below 2^(Omega + D + 2).
    terms = params.prediction_bands + (3 if params.mode == "full" else 0)
    product = (4 * terms + 1) << (omega + depth + 2)
    wraps = register_size(image, params) == 32
    small = depth + params.rescale <= 29  # the coder's accumulator
    return np.int32 if small and (wraps or product < 1 << 31) else np.int64


def register_size(image: Image, params: Params) -> int:
    """R in bits."""
    return params.register_size or max(32, image.bit_depth + params.weight_resolution + 2)


def make_predictor(image: Image, params: Params) -> Predictor:
    """Gather the constants; one column forces reduced mode and column-oriented sums."""
    local_sum = LOCAL_SUMS.index(params.local_sum)
    one_column = image.n_columns == 1
    width = 8 * np.dtype(arithmetic(image, params)).itemsize
    return Predictor(
        image.n_bands,
        image.n_columns,
        image.n_columns * image.n_rows,
        params.prediction_bands,
        params.mode == "full" and not one_column,
        local_sum | 2 if one_column else local_sum,
        image.lowest,
        image.middle,
        image.highest,
        params.weight_resolution,
        max(0, width - register_size(image, params)),
    )


def make_state(image: Image, params: Params) -> State:
    """Allocate and fill the arrays of one wavefront: a few image rows, never an image."""
    of = arithmetic(image, params)
    predictor = make_predictor(image, params)
    lanes = _round_up(image.n_bands, LANES)
    # An odd number of vectors: a power of two would map the rows of a column to few cache sets.
    width = MARGIN + lanes + (LANES if (MARGIN + lanes) // LANES % 2 == 0 else 0)
    rows = _round_up(image.n_columns + 2 + RUN, RUN)
    weights = _first_weights(predictor, params, lanes).astype(of)
    tables = [skewed(t).astype(of) for t in (_border(image), *_shifts(image, params))]
    row = [aligned(lanes, of) for _ in range(6)]
    ring = aligned(rows * width, of)
    ring.reshape(rows, width)[:, :MARGIN] = image.middle  # narrow sums of band 0 look there
    return State(
        ring,
        aligned((params.prediction_bands + 3) * width, of),
        aligned(2 * wavefront.GROUP * lanes, of),
        aligned(weights.size, of),
        np.ascontiguousarray(weights).reshape(-1),
        *row,
        *tables,
        width,
        rows,
        lanes,
    )


def aligned(size: int, dtype: npt.DTypeLike) -> Array:
    """(size,) zeros that begin at a cache line, so that a vector never touches two."""
    item = np.dtype(dtype).itemsize
    raw = np.zeros(size + 64 // item, dtype)
    start = -raw.ctypes.data % 64 // item
    return raw[start : start + size]


def skewed(table: Array) -> Array:
    """Turn a table over t into one that runs with z, with a margin for lanes that are not on."""
    return np.pad(table[::-1], LANES, mode="edge")


def _round_up(n: int, unit: int) -> int:
    return -(-n // unit) * unit


def _border(image: Image) -> Array:
    kind = np.zeros((image.n_rows, image.n_columns), np.int8)
    kind[:, 0] |= wavefront.FIRST_COLUMN
    kind[:, -1] |= wavefront.LAST_COLUMN
    kind[0] |= wavefront.FIRST_ROW
    return kind.reshape(-1)


def _shifts(image: Image, params: Params) -> tuple[Array, Array]:
    """Weight update, section 7: a << left, plus half, >> right."""
    t = np.arange(image.n_rows * image.n_columns)
    steps = params.weight_min + (t - image.n_columns) // params.weight_interval
    exponent = np.clip(steps, params.weight_min, params.weight_max)
    exponent += image.bit_depth - params.weight_resolution
    return np.maximum(-exponent, 0), np.maximum(exponent, 0) + 1


def _first_weights(predictor: Predictor, params: Params, lanes: int) -> Array:
    """(terms, lanes) int64; terms of each kind are rounded up to whole groups."""
    directional = wavefront.GROUP if predictor.full else 0
    out = np.zeros((directional + _round_up(params.prediction_bands, wavefront.GROUP), lanes), np.int64)
    if params.init_weights is None:
        weight = 7 << params.weight_resolution
        for i in range(params.prediction_bands):
            weight >>= 3
            out[directional + i] = weight
        return out
    scale = params.weight_resolution + 3 - params.init_weight_bits
    offset = (1 << (scale - 1)) - 1 if scale else 0
    for z, band in enumerate(params.init_weights):
        out[: len(band), z] = (np.array(band, np.int64) << scale) + offset
    return out


@jit
def _ring_row(state: Any, step: int) -> int:
    """Offset of band 0 in the ring's row of a step; steps may go back to -rows."""
    return (step + state.rows) % state.rows * state.width + MARGIN


@jit
def _difference_row(predictor: Any, state: Any, step: int, back: int) -> int:
    """Offset of what band 0 sees `back` bands before it; beyond P that is a row of zeros."""
    rows = predictor.prediction_bands + 2
    if back > predictor.prediction_bands:
        return rows * state.width + MARGIN
    return (step - back + rows) % rows * state.width + MARGIN - back


@jit
def _local_sums(p: Any, s: Any, step: int, lo: int, hi: int) -> None:
    when = LANES + p.samples - 1 - step
    west, north = _ring_row(s, step - 1), _ring_row(s, step - p.columns)
    northwest = _ring_row(s, step - p.columns - 1)
    northeast = _ring_row(s, step - p.columns + 1)
    band_before = _ring_row(s, step - 2) - 1
    near = band_before if p.local_sum & 1 else west
    if p.local_sum >= WIDE_COLUMN:
        wavefront.sum_column(s.sigma, s.ring, near, north, s.border, when, lo, hi)
    elif p.local_sum == WIDE_NEIGHBOR:
        wavefront.sum_wide(
            s.sigma, s.ring, west, northwest, north, northeast, s.border, when, lo, hi
        )
    else:
        wavefront.sum_narrow(
            s.sigma, s.ring, near, northwest, north, northeast, s.border, when, lo, hi
        )
    if p.full:
        now = step % 2 * wavefront.GROUP * s.lanes
        wavefront.directional_differences(
            s.directional, now, s.lanes, s.sigma, s.ring, west, northwest, north, s.border, when,
            lo, hi,
        )  # fmt: skip


@jit
def _inner_product(p: Any, s: Any, step: int, lo: int, hi: int) -> None:
    when = LANES + p.samples - step  # the shifts are those of the step before
    limit = (4 << p.resolution) - 1
    wavefront.start_product(s.product, s.sigma, p.middle, p.resolution, lo, hi)
    w = 0
    if p.full:
        now = step % 2 * wavefront.GROUP * s.lanes
        was = wavefront.GROUP * s.lanes - now
        wavefront.add_terms(
            s.product, s.weights, w, s.lanes, s.directional, was, was + s.lanes, was + 2 * s.lanes,
            now, now + s.lanes, now + 2 * s.lanes, s.sign, s.left, s.right, when, limit, lo, hi,
        )  # fmt: skip
        w += wavefront.GROUP * s.lanes
    for i in range(1, p.prediction_bands + 1, wavefront.GROUP):
        wavefront.add_terms(
            s.product, s.weights, w, s.lanes, s.differences,
            _difference_row(p, s, step - 1, i),
            _difference_row(p, s, step - 1, i + 1),
            _difference_row(p, s, step - 1, i + 2),
            _difference_row(p, s, step, i),
            _difference_row(p, s, step, i + 1),
            _difference_row(p, s, step, i + 2),
            s.sign, s.left, s.right, when, limit, lo, hi,
        )  # fmt: skip
        w += wavefront.GROUP * s.lanes


@jit
def advance(p: Any, s: Any, step: int, lo: int, hi: int) -> None:
    """Turn s.delta into samples for the lanes [lo, hi) of one step, all at t >= 1."""
    now = _ring_row(s, step)
    _local_sums(p, s, step, lo, hi)
    _inner_product(p, s, step, lo, hi)
    wavefront.predict(
        s.double, s.product, p.wrap, p.resolution, p.lowest, p.highest, p.middle, lo, hi
    )
    wavefront.unmap(s.ring, now, s.sign, s.bad, s.double, s.delta, p.lowest, p.highest, lo, hi)
    row = _difference_row(p, s, step, 0)
    wavefront.central_differences(s.differences, row, s.ring, now, s.sigma, lo, hi)


@jit
def begin(p: Any, s: Any, z: int) -> None:
    """Set up lane z and decode its first sample (t = 0) from s.delta; this is step z."""
    of = s.delta.dtype.type
    now = _ring_row(s, z)
    s.double[z] = of(2 * p.middle)
    if z > 0 and p.prediction_bands > 0:
        s.double[z] = of(2 * s.ring[_ring_row(s, z - 1) + z - 1])
    s.bad[z] = of(0)
    wavefront.unmap(s.ring, now, s.sign, s.bad, s.double, s.delta, p.lowest, p.highest, z, z + 1)
    # No differences exist at t = 0: with zeros the first update leaves the weights alone.
    s.differences[_difference_row(p, s, z, 0) + z] = of(0)
    for row in range(2 * wavefront.GROUP):
        s.directional[row * s.lanes + z] = of(0)
    for at in range(z, s.weights.size, s.lanes):
        s.weights[at] = s.first_weights[at]


@jit
def active(p: Any, step: int) -> tuple[int, int]:
    """Lanes [lo, hi) at t >= 1 of one step, in whole vectors."""
    lo = max(0, step - p.samples + 1) & -LANES
    hi = (min(p.bands, step) + LANES - 1) & -LANES
    return lo, hi


@jit
def write_run(p: Any, s: Any, out: Any, step: int) -> None:
    """Write what all bands made since the last multiple of RUN, up to and with this step."""
    first = step - step % RUN
    for z in range(p.bands):
        t, last = max(first - z, 0), min(step - z, p.samples - 1)
        if t > last:
            continue
        at = _ring_row(s, t + z) + z
        y, x = t // p.columns, t % p.columns
        while t <= last:
            n = min(last - t + 1, p.columns - x)
            _copy_column(out[z, y, x : x + n], s.ring, at, s.width)
            t, y, x, at = t + n, y + 1, 0, at + n * s.width


@jit
def _copy_column(target: Any, ring: Any, at: int, width: int) -> None:
    for i in range(target.size):
        target[i] = peek(ring, at + i * width)


@jit
def _reconstruct(p: Any, s: Any, delta: Any, most: int, out: Any) -> int:
    of = s.delta.dtype.type
    steps = p.samples + p.bands - 1
    for step in range(steps):
        for z in range(max(0, step - p.samples + 1), min(p.bands, step + 1)):
            s.delta[z] = of(min(np.int64(delta[step - z, z]), most))
        lo, hi = active(p, step)
        advance(p, s, step, lo, hi)
        if step < p.bands:
            begin(p, s, step)
        if step >= p.samples - 1 and s.bad[step - p.samples + 1] != 0:
            return IMPOSSIBLE_RESIDUAL
        if step % RUN == RUN - 1 or step == steps - 1:
            write_run(p, s, out, step)
    return 0


def reconstruct(
    delta: npt.NDArray[np.uint32], image: Image, params: Params, out: npt.NDArray[Any]
) -> None:
    """Fill `out` with the samples that mapped residuals stand for.

    Parameters
    ----------
    delta : (NY * NX, NZ) uint32 mapped residuals, row t = y * NX + x
    image : the image's extents and sample type
    params : the predictor's parameters
    out : (NZ, NY, NX) strided view, any integer dtype that holds the samples

    Raises
    ------
    CorruptChunk
        A residual is impossible: no sample of the image's range has it.
    """
    predictor, state = make_predictor(image, params), make_state(image, params)
    with native(out) as target:
        if _reconstruct(predictor, state, delta, 1 << image.bit_depth, target):
            raise CorruptChunk("a mapped residual lies outside the range of the samples")


@contextmanager
def native(out: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """Lend an array that kernels can write: unsigned, of native byte order; `out` gets its bits."""
    kind = np.dtype(f"u{out.dtype.itemsize}" if out.dtype.itemsize < 8 else "i8")
    if out.dtype.isnative:
        yield out.view(kind)
        return
    copy = np.empty(out.shape, kind)
    yield copy
    out[...] = copy.view(out.dtype.newbyteorder("="))
