"""Inverse prediction: samples from mapped residuals, as a wavefront over the bands."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.params import LOCAL_SUMS
from gangsaw.codecs.ccsds123.predict.plan import Plan
from gangsaw.codecs.ccsds123.wave import wavefront
from gangsaw.codecs.ccsds123.wave.output import SampleTarget, read_residuals, write_samples
from gangsaw.codecs.ccsds123.wave.state import (
    LANES,
    RUN,
    Segment,
    State,
    at_segment,
    difference_rows,
    make_predictor,
    make_state,
    ring_row,
    segments,
    strip_of,
)
from gangsaw.codecs.ccsds123.wave.wavefront import WavePredictor
from gangsaw.codecs.core.arrays import NumpyArray, UInt32s
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.bits import ahead, fit, pointers
from gangsaw.codecs.core.numba.jit import jit

WIDE_NEIGHBOR, NARROW_NEIGHBOR, WIDE_COLUMN, NARROW_COLUMN = range(len(LOCAL_SUMS))
IMPOSSIBLE_RESIDUAL = 1  # status: a residual whose sample is outside s_min..s_max
OUT_OF_RANGE = "a mapped residual lies outside the range of the samples"


@jit(inline=True, part=True)
def _row_back(s: State, row: int, back: int) -> Any:
    """Return the samples of the step `back` steps before ring row `row`."""
    row -= back
    return ahead(s.ring, (row + s.rows if row < 0 else row) * s.width)


@jit(inline=True, part=True)
def _band_before(s: State, row: int) -> Any:
    """Return the samples W of the previous band, for narrow local sums in the first image row."""
    return ahead(_row_back(s, row, 2), -1)


@jit(inline=True, part=True)
def _difference_row(p: WavePredictor, s: State, step: int, back: int) -> Any:
    """Return the differences of the band z - back at the same t, for each band z; 0 if back > P."""
    rows = difference_rows(p.prediction_bands)
    if back > p.prediction_bands:
        return ahead(s.differences, rows * s.width)
    return ahead(s.differences, (step - back + rows) % rows * s.width - back)


@jit(inline=True, part=True)
def _directional_rows(s: State, step: int) -> Any:
    first = ahead(s.directional, (step & 1) * wavefront.GROUP * s.lanes)
    return first, ahead(first, s.lanes), ahead(first, 2 * s.lanes)


@jit(inline=True, part=True)
def _local_sum(p: WavePredictor, s: State, step: int, lo: int, hi: int) -> None:
    border, row = ahead(s.border, s.origin - step), step % s.rows
    west, north = _row_back(s, row, 1), _row_back(s, row, p.columns)
    northwest, northeast = _row_back(s, row, p.columns + 1), _row_back(s, row, p.columns - 1)
    near = _band_before(s, row) if p.local_sum & 1 else west
    if p.local_sum >= WIDE_COLUMN:
        wavefront.sum_column(s.sigma, near, north, border, lo, hi)
    elif p.local_sum == WIDE_NEIGHBOR:
        wavefront.sum_wide(s.sigma, west, northwest, north, northeast, border, lo, hi)
    else:
        wavefront.sum_narrow(s.sigma, near, northwest, north, northeast, border, lo, hi)
    if p.full:
        samples = (north, west, northwest)
        wavefront.directional_differences(
            _directional_rows(s, step), s.sigma, samples, border, lo, hi
        )


@jit(inline=True, part=True)
def _weight_rows(s: State, term: int) -> Any:
    first = ahead(s.weights, term * s.lanes)
    return first, ahead(first, s.lanes), ahead(first, 2 * s.lanes)


@jit(inline=True, part=True)
def _group_rows(p: WavePredictor, s: State, step: int, i: int) -> Any:
    first = _difference_row(p, s, step, i)
    return first, _difference_row(p, s, step, i + 1), _difference_row(p, s, step, i + 2)


@jit(inline=True, part=True)
def _inner_product(p: WavePredictor, s: State, step: int, lo: int, hi: int) -> None:
    left, right = ahead(s.left, s.origin + 1 - step), ahead(s.right, s.origin + 1 - step)
    update, term = wavefront.WeightUpdate(s.sign, left, right, (4 << p.resolution) - 1), 0
    wavefront.start_product(s.product, s.sigma, p.middle, p.resolution, lo, hi)
    if p.full:
        was, now = _directional_rows(s, step - 1), _directional_rows(s, step)
        weights = _weight_rows(s, 0)
        wavefront.add_terms(s.product, weights, was, now, update, lo, hi)
        term += wavefront.GROUP
    for i in range(1, p.prediction_bands + 1, wavefront.GROUP):
        was, now = _group_rows(p, s, step - 1, i), _group_rows(p, s, step, i)
        weights = _weight_rows(s, term)
        wavefront.add_terms(s.product, weights, was, now, update, lo, hi)
        term += wavefront.GROUP


@jit
def advance(p: WavePredictor, s: State, step: int, lo: int, hi: int) -> None:
    """Replace residuals s.delta by samples in bands [lo, hi) of one step, all at t >= 1."""
    now = ring_row(s, step)
    _local_sum(p, s, step, lo, hi)
    _inner_product(p, s, step, lo, hi)
    wavefront.predict(s.double, s.product, p, lo, hi)
    wavefront.unmap(now, s.sign, s.bad, s.double, s.delta, p, lo, hi)
    wavefront.central_difference(_difference_row(p, s, step, 0), now, s.sigma, lo, hi)


@jit(inline=True, part=True)
def _predict_first(p: WavePredictor, before: NumpyArray, z: int) -> Any:
    """Return the double-resolution prediction at t = 0: first sample of the previous band."""
    known = z > 0 and p.prediction_bands > 0
    return 2 * (before[z - 1] if known else p.middle)


@jit
def begin_band(p: WavePredictor, s: State, z: int) -> None:
    """Initialise the state of band z, and decode its first sample (t = 0) from s.delta.

    This is step z.
    """
    zero = fit(0, s.delta)
    now, before = ring_row(s, z), ring_row(s, z - 1)
    s.double[z] = fit(_predict_first(p, before, z), s.delta)
    s.bad[z] = zero
    wavefront.unmap(now, s.sign, s.bad, s.double, s.delta, p, z, z + 1)
    # At t = 0 there are no differences: zeros make the first update keep the weights.
    _difference_row(p, s, z, 0)[z] = zero
    for row in range(2 * wavefront.GROUP):
        s.directional[row * s.lanes + z] = zero
    for term in range(s.terms):
        s.weights[term * s.lanes + z] = s.first_weights[term * s.lanes + z]


@jit(inline=True)
def active(p: WavePredictor, step: int, low: int, high: int) -> tuple[int, int]:
    """Return the bands [lo, hi) of a strip [low, high) with t >= 1 at a step, in whole vectors.

    There are none if hi <= lo.
    """
    lo = max(low, step - p.samples + 1) & -LANES
    hi = (min(p.bands, step) + LANES - 1) & -LANES
    return lo, min(hi, high)


@jit(part=True)
def _reconstruct_strip(
    p: WavePredictor,
    s: State,
    residuals: UInt32s,
    most: int,
    first: int,
    last: int,
    low: int,
    high: int,
) -> int:
    for step in range(first, last):
        for z in range(max(low, step - p.samples + 1), min(p.bands, step + 1, high)):
            s.delta[z] = fit(min(np.int64(residuals[z * RUN + step - first]), most), s.delta)
        lo, hi = active(p, step, low, high)
        if lo < hi:
            advance(p, s, step, lo, hi)
        if low <= step < min(high, p.bands):
            begin_band(p, s, step)
        ended = step - p.samples + 1
        if low <= ended < high and s.bad[ended] != 0:
            return IMPOSSIBLE_RESIDUAL
    return 0


@jit
def _reconstruct(
    p: WavePredictor,
    state: State,
    residuals: RunResiduals,
    most: int,
    part: Segment,
    place: SampleTarget,
) -> int:
    s, strip = pointers(state), strip_of(state)
    fetched = pointers(residuals).residuals
    for first in range(part.first, part.last, RUN):
        last = min(first + RUN, part.last)
        for low in range(0, s.lanes, strip):
            high = min(low + strip, s.lanes)
            read_residuals(p, place, fetched, first, last, low, high)
            status = _reconstruct_strip(p, s, fetched, most, first, last, low, high)
            if status != 0:
                return status
            write_samples(p, s, place, first, last, low, high)
    return 0


class RunResiduals(NamedTuple):
    """Residuals of the RUN steps of a run, band by band."""

    residuals: npt.NDArray[np.uint32]  # (lanes * RUN,)


def reconstruct(place: SampleTarget, plan: Plan) -> None:
    """Replace the mapped residuals of a block by its samples, in place.

    Parameters
    ----------
    place : (NZ, NY, NX) residuals as unsigned integers of the width of the samples

    Raises
    ------
    CorruptChunk
        A residual is impossible: no sample of the image's range has it.
    """
    predictor, state = make_predictor(plan), make_state(plan)
    residuals = RunResiduals(np.zeros(state.lanes * RUN, np.uint32))
    most = 1 << plan.image.bit_depth
    for part in segments(plan.image):
        tables = at_segment(state, plan, part)
        if _reconstruct(predictor, tables, residuals, most, part, place):
            raise CorruptChunk(OUT_OF_RANGE)
