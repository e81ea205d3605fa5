"""Inverse prediction: from mapped residuals back to samples, as a wavefront over the bands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123 import wavefront
from gangsaw.codecs.ccsds123.params import LOCAL_SUMS, Image, Params
from gangsaw.codecs.core.bits import ahead, fit, pointer, pointer_at
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.codecs.core.jit import jit, jit_inline, jit_restrict
from gangsaw.codecs.core.simd import transpose_tile

LANES = 16  # int32 lanes of a 512-bit vector: ranges of bands are rounded to it
MARGIN = LANES  # columns left of band 0 in a ring: more than 15 bands look back
RUN = 64  # steps that a strip of bands makes in one go, and samples written in one go
STRIP = 128  # bands at most in a strip: what a step of them touches stays in the first-level cache
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
    """Arrays of one wavefront, all flat, of the type T that `arithmetic` chooses.

    Tables run with z: the entry of t has the index LANES + samples - 1 - t.
    """

    ring: Array  # (rows * width,) samples, one row per step
    differences: Array  # ((P + 3) * width,) central differences, one row per step; the last is 0
    directional: Array  # (2 * 3 * lanes,) directional differences, of this step and the last
    weights: Array  # (terms * lanes,)
    first_weights: Array  # (terms * lanes,) weights before t = 1
    sigma: Array  # (lanes,) local sums
    product: Array  # (lanes,) inner products
    double: Array  # (lanes,) double-resolution predicted samples
    sign: Array  # (lanes,) signs of the errors
    delta: Array  # (lanes,) mapped residuals
    bad: Array  # (lanes,) not 0 where a sample was out of range
    border: Array  # table of FIRST_COLUMN and so on
    left: Array  # table of shifts of the weight update
    right: Array
    runs: Array  # (LANES * (RUN + LANES),) the last samples of some bands, band by band


class Target(NamedTuple):
    """Where samples go: a kernel typed by dtype and layout would be compiled for each of them."""

    address: int  # of the item at (0, 0, 0)
    z_stride: int  # bytes
    y_stride: int
    x_stride: int
    width: int  # bytes of an item: 1, 2 or 4


class Rows(NamedTuple):
    """Where the arrays of a State begin, and how long their rows are."""

    ring: Any
    differences: Any
    directional: Any
    weights: Any
    first_weights: Any
    sigma: Any
    product: Any
    double: Any
    sign: Any
    delta: Any
    bad: Any
    border: Any
    left: Any
    right: Any
    runs: Any
    rows: int  # of the ring
    width: int  # of a row of the ring and of the differences
    lanes: int
    terms: int


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
    width, rows = row_width(image), _round_up(max(image.n_columns + 2, 2 * RUN + LANES), LANES)
    weights = _first_weights(predictor, params, lanes).astype(of)
    tables = [skewed(t).astype(of) for t in (_border(image), *_shifts(image, params))]
    row = [aligned(lanes, of) for _ in range(6)]
    ring = aligned(rows * width, of)
    ring.reshape(rows, width)[:, :MARGIN] = image.middle  # narrow sums of band 0 look there
    return State(
        ring,
        aligned((difference_rows(params.prediction_bands) + 1) * width, of),
        aligned(2 * wavefront.GROUP * lanes, of),
        aligned(weights.size, of),
        np.ascontiguousarray(weights).reshape(-1),
        *row,
        *tables,
        aligned(LANES * (RUN + LANES), of),
    )


def row_width(image: Image) -> int:
    """Items of a row of the ring: an odd number of vectors, for the cache's sets."""
    vectors = (MARGIN + _round_up(image.n_bands, LANES)) // LANES
    return LANES * (vectors | 1)


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


@jit_inline
def difference_rows(prediction_bands: int) -> int:
    """Rows of differences: how far one looks back, and how far a strip is ahead of the next."""
    return prediction_bands + 2 + RUN


@jit_inline
def rows_of(p: Any, state: Any) -> Any:
    """Return the Rows of a State, which must outlive them."""
    lanes = state.sigma.size
    width = state.differences.size // (difference_rows(p.prediction_bands) + 1)
    return Rows(
        pointer(state.ring, MARGIN),
        pointer(state.differences, MARGIN),
        pointer(state.directional, 0),
        pointer(state.weights, 0),
        pointer(state.first_weights, 0),
        pointer(state.sigma, 0),
        pointer(state.product, 0),
        pointer(state.double, 0),
        pointer(state.sign, 0),
        pointer(state.delta, 0),
        pointer(state.bad, 0),
        pointer(state.border, LANES + p.samples - 1),
        pointer(state.left, LANES + p.samples - 1),
        pointer(state.right, LANES + p.samples - 1),
        pointer(state.runs, 0),
        state.ring.size // width,
        width,
        lanes,
        state.weights.size // lanes,
    )


@jit_inline
def _ring_row(s: Any, step: int) -> Any:
    """Row of a step in the ring; steps may go back to -rows."""
    return ahead(s.ring, (step + s.rows) % s.rows * s.width)


@jit_inline
def _row_back(s: Any, row: int, back: int) -> Any:
    """Row of some steps before the one that has the number `row` in the ring."""
    row -= back
    return ahead(s.ring, (row + s.rows if row < 0 else row) * s.width)


@jit_inline
def _difference_row(p: Any, s: Any, step: int, back: int) -> Any:
    """Row of what each band sees `back` bands before it; beyond P that is a row of zeros."""
    rows = difference_rows(p.prediction_bands)
    if back > p.prediction_bands:
        return ahead(s.differences, rows * s.width)
    return ahead(s.differences, (step - back + rows) % rows * s.width - back)


@jit_inline
def _directional_rows(s: Any, step: int) -> Any:
    first = ahead(s.directional, (step & 1) * wavefront.GROUP * s.lanes)
    return first, ahead(first, s.lanes), ahead(first, 2 * s.lanes)


@jit_inline
def _local_sums(p: Any, s: Any, step: int, lo: int, hi: int) -> None:
    border, row = ahead(s.border, -step), step % s.rows
    west, north = _row_back(s, row, 1), _row_back(s, row, p.columns)
    northwest, northeast = _row_back(s, row, p.columns + 1), _row_back(s, row, p.columns - 1)
    near = ahead(_row_back(s, row, 2), -1) if p.local_sum & 1 else west
    if p.local_sum >= WIDE_COLUMN:
        wavefront.sum_column(s.sigma, near, north, border, lo, hi)
    elif p.local_sum == WIDE_NEIGHBOR:
        wavefront.sum_wide(s.sigma, west, northwest, north, northeast, border, lo, hi)
    else:
        wavefront.sum_narrow(s.sigma, near, northwest, north, northeast, border, lo, hi)
    if p.full:
        d_north, d_west, d_northwest = _directional_rows(s, step)
        wavefront.directional_differences(
            d_north, d_west, d_northwest, s.sigma, west, northwest, north, border, lo, hi
        )


@jit_inline
def _weight_rows(s: Any, term: int) -> Any:
    first = ahead(s.weights, term * s.lanes)
    return first, ahead(first, s.lanes), ahead(first, 2 * s.lanes)


@jit_inline
def _group_rows(p: Any, s: Any, step: int, i: int) -> Any:
    first = _difference_row(p, s, step, i)
    return first, _difference_row(p, s, step, i + 1), _difference_row(p, s, step, i + 2)


@jit_inline
def _inner_product(p: Any, s: Any, step: int, lo: int, hi: int) -> None:
    left, right = ahead(s.left, 1 - step), ahead(s.right, 1 - step)
    limit, term = (4 << p.resolution) - 1, 0
    wavefront.start_product(s.product, s.sigma, p.middle, p.resolution, lo, hi)
    if p.full:
        was, now = _directional_rows(s, step - 1), _directional_rows(s, step)
        weights = _weight_rows(s, 0)
        wavefront.add_terms(s.product, weights, was, now, s.sign, left, right, limit, lo, hi)
        term += wavefront.GROUP
    for i in range(1, p.prediction_bands + 1, wavefront.GROUP):
        was, now = _group_rows(p, s, step - 1, i), _group_rows(p, s, step, i)
        weights = _weight_rows(s, term)
        wavefront.add_terms(s.product, weights, was, now, s.sign, left, right, limit, lo, hi)
        term += wavefront.GROUP


@jit_inline
def advance(p: Any, s: Any, step: int, lo: int, hi: int) -> None:
    """Turn s.delta into samples for the lanes [lo, hi) of one step, all at t >= 1."""
    now = _ring_row(s, step)
    _local_sums(p, s, step, lo, hi)
    _inner_product(p, s, step, lo, hi)
    wavefront.predict(
        s.double, s.product, p.wrap, p.resolution, p.lowest, p.highest, p.middle, lo, hi
    )
    wavefront.unmap(now, s.sign, s.bad, s.double, s.delta, p.lowest, p.highest, lo, hi)
    wavefront.central_differences(_difference_row(p, s, step, 0), now, s.sigma, lo, hi)


@jit
def begin(p: Any, s: Any, z: int) -> None:
    """Set up lane z and decode its first sample (t = 0) from s.delta; this is step z."""
    zero = fit(0, s.delta)
    now, before = _ring_row(s, z), _ring_row(s, z - 1)
    known = z > 0 and p.prediction_bands > 0
    s.double[z] = fit(2 * (before[z - 1] if known else p.middle), s.delta)
    s.bad[z] = zero
    wavefront.unmap(now, s.sign, s.bad, s.double, s.delta, p.lowest, p.highest, z, z + 1)
    # No differences exist at t = 0: with zeros the first update leaves the weights alone.
    _difference_row(p, s, z, 0)[z] = zero
    for row in range(2 * wavefront.GROUP):
        s.directional[row * s.lanes + z] = zero
    for term in range(s.terms):
        s.weights[term * s.lanes + z] = s.first_weights[term * s.lanes + z]


@jit_inline
def active(p: Any, step: int, low: int, high: int) -> tuple[int, int]:
    """Lanes [lo, hi) of a strip at t >= 1 of one step, in whole vectors; none if hi <= lo."""
    lo = max(low, step - p.samples + 1) & -LANES
    hi = (min(p.bands, step) + LANES - 1) & -LANES
    return lo, min(hi, high)


@jit_inline
def strip_of(s: Any) -> int:
    """Return the lanes of a strip: equal parts of all, STRIP at most."""
    vectors, parts = s.lanes // LANES, -(-s.lanes // STRIP)
    return -(-vectors // parts) * LANES


@jit
def write_windows(
    p: Any, s: Any, out: Any, first: int, last: int, low: int, high: int
) -> None:
    """Write the samples that a strip completed in the steps [first, last) of one run.

    All bands are written in the same windows of RUN samples, t = 0 .. RUN - 1 and so on: whole
    cache lines, and rows of the image are cut in few places. A vector of bands writes a window
    when its last band has it; that is one window a run, and what is left in the last run.
    """
    for group in range(low, high, LANES):
        begun, done = first - group - LANES + 1, last - group - LANES + 1
        end = -(-p.samples // RUN) if last == p.samples + p.bands - 1 else done // RUN
        for window in range(max(begun // RUN, 0), min(end, -(-p.samples // RUN))):
            _write_window(p, s, out, group, window * RUN)


@jit
def _write_window(p: Any, s: Any, out: Any, group: int, t: int) -> None:
    for i in range(0, RUN + LANES, LANES):  # band z is z - group steps late
        transpose_tile(ahead(s.runs, i), RUN + LANES, ahead(_ring_row(s, t + group + i), group), s.width)
    end = min(t + RUN, p.samples)
    for z in range(group, min(group + LANES, p.bands)):
        run = ahead(s.runs, (z - group) * (RUN + LANES + 1))
        _write_band(out, out.address + z * out.z_stride, p.columns, t, end, run)


@jit
def _write_band(out: Any, band: int, columns: int, t: int, end: int, run: Any) -> None:
    y = t // columns
    x = t - y * columns
    while t < end:
        n = min(end - t, columns - x)
        row = band + y * out.y_stride + x * out.x_stride
        if out.width == 1:
            _write_row(pointer_at(row, np.uint8(0)), out.x_stride, run, n)
        elif out.width == 2:
            _write_row(pointer_at(row, np.uint16(0)), out.x_stride >> 1, run, n)
        else:
            _write_row(pointer_at(row, np.uint32(0)), out.x_stride >> 2, run, n)
        t, y, x, run = t + n, y + 1, 0, ahead(run, n)


@jit_restrict
def _write_row(row: Any, stride: int, run: Any, n: int) -> None:
    if stride == 1:  # known to be dense, a loop of vectors
        for i in range(n):
            row[i] = fit(run[i], row)
    else:
        for i in range(n):
            row[i * stride] = fit(run[i], row)


@jit
def _run_strip(
    p: Any, s: Any, delta: Any, most: int, first: int, last: int, low: int, high: int
) -> int:
    for step in range(first, last):
        for z in range(max(low, step - p.samples + 1), min(p.bands, step + 1, high)):
            s.delta[z] = fit(min(np.int64(delta[step - z, z]), most), s.delta)
        lo, hi = active(p, step, low, high)
        if lo < hi:
            advance(p, s, step, lo, hi)
        if low <= step < min(high, p.bands):
            begin(p, s, step)
        ended = step - p.samples + 1
        if low <= ended < high and s.bad[ended] != 0:
            return IMPOSSIBLE_RESIDUAL
    return 0


@jit
def _reconstruct(p: Any, state: Any, delta: Any, most: int, out: Any) -> int:
    s = rows_of(p, state)
    steps, strip = p.samples + p.bands - 1, strip_of(s)
    for first in range(0, steps, RUN):
        last = min(first + RUN, steps)
        for low in range(0, s.lanes, strip):
            high = min(low + strip, s.lanes)
            status = _run_strip(p, s, delta, most, first, last, low, high)
            if status != 0:
                return status
            write_windows(p, s, out, first, last, low, high)
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
    with target(out) as place:
        if _reconstruct(predictor, state, delta, 1 << image.bit_depth, place):
            raise CorruptChunk("a mapped residual lies outside the range of the samples")


@contextmanager
def target(out: npt.NDArray[Any]) -> Iterator[Target]:
    """Lend the place where kernels write samples; it has the machine's byte order."""
    if not out.flags.writeable:
        raise BadParams("the array to decode into is read-only")
    plain = out.dtype.isnative and out.flags.aligned
    native = out if plain else np.empty(out.shape, out.dtype.newbyteorder("="))
    yield Target(native.ctypes.data, *native.strides, native.itemsize)
    if not plain:
        out[...] = native
