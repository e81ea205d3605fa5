"""State of the decoder's wavefront: constants, arrays, and index functions for kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.memory import SEGMENT
from gangsaw.codecs.ccsds123.params import Image
from gangsaw.codecs.ccsds123.predict.plan import Plan
from gangsaw.codecs.ccsds123.wave import wavefront
from gangsaw.codecs.ccsds123.wave.wavefront import WavePredictor
from gangsaw.codecs.core.arrays import Int64s, NumpyArray
from gangsaw.codecs.core.memory.aligned import aligned_zeros
from gangsaw.codecs.core.numba.bits import ahead
from gangsaw.codecs.core.numba.jit import jit

LANES = 16  # int32 lanes of a 512-bit vector: ranges of bands are rounded to it
MARGIN = LANES  # columns left of band 0 in a ring: bands refer to at most 15 bands before them
RUN = 64  # steps of a strip of bands per run, and samples per window
STRIP = 128  # bands at most in a strip: the working set of its step fits the first-level cache
CACHED_PIXELS = 1 << 16  # tables of 16 bytes per pixel; larger images take long anyway

Array = NumpyArray
T = TypeVar("T")


class State(NamedTuple):
    """State of the decoder's wavefront: step s decodes the sample t = s - z of every band z.

    Arrays have the plan's type T, and a lane per band; kernels get them as `pointers`.

    All arrays are flat, and start at band 0 and t = `origin`: the items before that belong to them.
    Tables over t are reversed, so that a step reads them with ascending z: t has index origin - t.
    """

    ring: Array  # (rows * width,) samples, one row per step
    differences: Array  # ((P + 3 + RUN) * width,) central ones, one row per step; last row 0
    # (2 * 3 * lanes,) directional differences, of this step and the previous one
    directional: Array
    weights: Array  # (terms * lanes,)
    first_weights: Array  # (terms * lanes,) weights before t = 1
    sigma: Array  # (lanes,) local sums
    product: Array  # (lanes,) inner products
    double: Array  # (lanes,) double-resolution predicted samples
    sign: Array  # (lanes,) signs of the errors
    delta: Array  # (lanes,) mapped residuals
    bad: Array  # (lanes,) not 0 if a sample was out of range
    border: Array  # table of flags: FIRST_COLUMN and so on
    left: Array  # table of shift counts of the weight update
    right: Array
    runs: Array  # (LANES * (RUN + LANES),) the last samples of a vector of bands, band by band
    rows: int  # number of rows of the ring
    width: int  # items of a row of the ring and of the differences
    lanes: int
    terms: int
    origin: int  # first t of the tables


class Segment(NamedTuple):
    """Range of steps of a wavefront that share tables, and the range of t in these tables."""

    first: int  # step
    last: int  # step after the last one
    begin: int  # t
    end: int


def segments(image: Image) -> Iterator[Segment]:
    """Yield the ranges of steps with tables of their own: one if the image's tables are cached."""
    samples = image.n_rows * image.n_columns
    steps, reach = samples + image.n_bands - 1, round_up(image.n_bands, LANES) + 1
    length = steps if samples <= CACHED_PIXELS else SEGMENT
    for first in range(0, steps, length):
        last = min(first + length, steps)
        begin = min(max(0, first - reach), samples - 1)
        yield Segment(first, last, begin, min(last, samples))


def make_predictor(plan: Plan) -> WavePredictor:
    """Return the constants of the predictor."""
    image, p = plan.image, plan.predictor
    return WavePredictor(
        bands=image.n_bands,
        columns=image.n_columns,
        samples=image.n_columns * image.n_rows,
        prediction_bands=plan.bands,
        full=plan.full,
        local_sum=plan.local_sum,
        lowest=p.lowest,
        middle=p.middle,
        highest=p.highest,
        resolution=p.resolution,
        wrap=p.spare_bits,
    )


def make_state(plan: Plan) -> State:
    """Allocate and fill the arrays of a wavefront: a few image rows, never an image."""
    image, of = plan.image, plan.dtype
    lanes = round_up(image.n_bands, LANES)
    width, rows = row_width(image), round_up(max(image.n_columns + 2, 2 * RUN + LANES), LANES)
    weights = _first_weights(plan, lanes)
    ring = aligned_zeros(rows * width, of)
    ring.reshape(rows, width)[:, :MARGIN] = image.middle  # narrow sums of band 0 read these
    differences = aligned_zeros((difference_rows(plan.bands) + 1) * width, of)
    nothing = aligned_zeros(1, of)  # `at_segment` sets the tables
    return State(
        ring=ring[MARGIN:],
        differences=differences[MARGIN:],
        directional=aligned_zeros(2 * wavefront.GROUP * lanes, of),
        weights=aligned_zeros(weights.size, of),
        first_weights=weights.reshape(-1),
        sigma=aligned_zeros(lanes, of),
        product=aligned_zeros(lanes, of),
        double=aligned_zeros(lanes, of),
        sign=aligned_zeros(lanes, of),
        delta=aligned_zeros(lanes, of),
        bad=aligned_zeros(lanes, of),
        border=nothing,
        left=nothing,
        right=nothing,
        runs=aligned_zeros(LANES * (RUN + LANES), of),
        rows=rows,
        width=width,
        lanes=lanes,
        terms=weights.size // lanes,
        origin=0,
    )


def at_segment(state: State, plan: Plan, part: Segment) -> State:
    """Return the state with the tables of a range of steps; it shares all other arrays."""
    border, left, right = _tables(plan, part.begin, part.end)
    return state._replace(border=border, left=left, right=right, origin=part.begin)


def row_width(image: Image) -> int:
    """Return the items of a ring row, an odd number of vectors, to spread rows over cache sets."""
    vectors = (MARGIN + round_up(image.n_bands, LANES)) // LANES
    return LANES * (vectors | 1)


def skewed(table: Array, dtype: npt.DTypeLike) -> Array:
    """Return a table over t reversed, so that one step reads it with ascending band z.

    The returned start is the first t; the others are stored before it. Both ends have a margin for
    inactive lanes.
    """
    out = np.pad(table[::-1], LANES, mode="edge").astype(dtype)
    out.setflags(write=False)
    return out[LANES + table.size - 1 :]


def cached_if_small(
    make_tables: Callable[[Plan, int, int], T],
) -> Callable[[Plan, int, int], T]:
    """Cache the tables that a function makes for small images: blocks of a chunk share them."""
    cached = lru_cache(8)(make_tables)

    @wraps(make_tables)
    def look_up(plan: Plan, begin: int, end: int) -> T:
        small = plan.image.n_rows * plan.image.n_columns <= CACHED_PIXELS
        return (cached if small else make_tables)(plan, begin, end)

    return look_up


@cached_if_small
def _tables(plan: Plan, begin: int, end: int) -> tuple[Array, Array, Array]:
    of, t = plan.dtype, np.arange(begin, end)
    left, right = _shifts(plan, t)
    return skewed(_border(plan.image, t), of), skewed(left, of), skewed(right, of)


def round_up(n: int, unit: int) -> int:
    """Return the smallest multiple of `unit` that is at least n."""
    return -(-n // unit) * unit


def _border(image: Image, t: Int64s) -> Int64s:
    x = t % image.n_columns
    kind: Int64s = wavefront.FIRST_COLUMN * (x == 0) | wavefront.LAST_COLUMN * (
        x == image.n_columns - 1
    )
    kind |= wavefront.FIRST_ROW * (t < image.n_columns)
    return kind


def _shifts(plan: Plan, t: Int64s) -> tuple[Int64s, Int64s]:
    """Return left and right shifts of the weight update (CCSDS 123.0-B-2, 4.10)."""
    p = plan.predictor
    steps = p.exponent_min + ((t - plan.image.n_columns) >> p.interval)
    exponent = np.clip(steps, p.exponent_min, p.exponent_max) + p.depth - p.resolution
    return np.maximum(-exponent, 0), np.maximum(exponent, 0) + 1


def _first_weights(plan: Plan, lanes: int) -> Array:
    """Return the first weights, (terms, lanes) of type T, each kind padded to whole groups."""
    directional = wavefront.GROUP if plan.full else 0
    out = np.zeros((directional + round_up(plan.bands, wavefront.GROUP), lanes), plan.dtype)
    n_bands = plan.image.n_bands
    out[: plan.components, :n_bands] = plan.weights[:n_bands].T
    return out


@jit(inline=True)
def difference_rows(prediction_bands: int) -> int:
    """Return the rows of differences to store: P back, and RUN steps that strips are apart."""
    return prediction_bands + 2 + RUN


@jit(inline=True, part=True)
def strip_of(s: State) -> Any:
    """Return the number of bands in a strip, which are decoded together for RUN steps.

    It is an equal part of all bands, at most STRIP.
    """
    vectors, parts = s.lanes // LANES, -(-s.lanes // STRIP)
    return -(-vectors // parts) * LANES


@jit(inline=True, part=True)
def ring_row(s: State, step: int) -> Any:
    """Return the samples of a step in the ring buffer; step may be as low as -rows."""
    return ahead(s.ring, (step + s.rows) % s.rows * s.width)
