"""Prediction of the encoder: mapped residuals of whole rows, one vector of bands at a time.

All samples are known, so a band's weight vector is the only serial chain along t: each lane of a
vector is a band. The bands of a pixel are adjacent in memory, after a halo of the bands before
them. At the first bands the halo contains s_mid, which makes every difference 0. So P_z = min(z, P)
and the special cases of band 0 need no code.

Section numbers are those of CCSDS 123.0-B-2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils

from gangsaw.codecs.ccsds123.predict.plan import Plan, Predictor
from gangsaw.codecs.ccsds123.predict.rows import HALO, BandRows, RowLayout, group_lanes
from gangsaw.codecs.core.arrays import Int64s, NumpyArray
from gangsaw.codecs.core.numba.jit import intrinsic, jit
from gangsaw.codecs.core.numba.vectors.integers import (
    Vector,
    emit_call,
    load,
    maximum,
    minimum,
    select,
    sign_mask,
    static,
    store,
    value_of,
    wrap,
)
from gangsaw.codecs.core.numba.vectors.tuples import inner_product, load_tuple, store_tuple


@jit(part=True)
def _map_residual(sample: Vector, doubled: Vector, p: Predictor) -> Any:
    """Return the mapped residual delta (4.11) of a sample and its double-resolution prediction."""
    predicted = doubled >> 1
    residual = sample - predicted
    theta = minimum(predicted - p.lowest, p.highest - predicted)
    size = maximum(residual, 0 - residual)
    odd = 0 - (doubled & 1)
    against = sign_mask((residual ^ odd) - odd)
    return select(size > theta, size + theta, size + size + against)


@intrinsic
def _components(
    typing_context: Any, g: Any, here: Any, there: Any, local_sum: Any, directional: Any
) -> Any:
    """Return U_z(t) (4.5.3): directional differences, masked by `directional`, then central ones.

    g : a `Bands`; here, there : indices into its samples and its differences
    """
    field = {name: i for i, name in enumerate(g.fields)}
    names = ("samples", "differences", "bands", "full")
    samples, differences, bands, full = (g.types[field[name]] for name in names)
    vector = local_sum
    result = types.UniTuple(vector, bands.count + 3 * full.count)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        def vector_at(array_type: Any, array: Any, index: Any) -> Any:
            data = context.make_array(array_type)(context, builder, array).data
            lowered = context.get_value_type(vector).as_pointer()
            pointer = builder.bitcast(builder.gep(data, [index]), lowered)
            return builder.load(pointer, align=vector.bits // 8)

        group, own, at, total, mask = args
        each = []
        if full.count:
            layout = builder.extract_value(group, field["layout"])
            width, pitch = cgutils.unpack_tuple(builder, layout, 3)[:2]
            north = builder.sub(own, pitch)
            west = builder.sub(own, width)
            rows = builder.extract_value(group, field["samples"])
            for index in (north, west, builder.sub(north, width)):
                value = vector_at(samples, rows, index)
                four = builder.shl(value, value.type([2] * vector.lanes))
                each.append(builder.and_(builder.sub(four, total), mask))
        row = builder.extract_value(group, field["differences"])
        for i in range(1, bands.count + 1):
            each.append(vector_at(differences, row, builder.sub(at, at.type(i))))
        return context.make_tuple(builder, result, each)

    return result(g, types.int64, types.int64, vector, vector), codegen


@intrinsic
def _update_weights(
    typing_context: Any,
    weights: Any,
    inputs: Any,
    flip: Any,
    left: Any,
    rounding: Any,
    right: Any,
    limits: Any,
) -> Any:
    """Return the updated weights (4.10): clip(w + ((((u << left) ^ flip) + rounding) >> right)).

    limits : the smallest and the largest weight
    """

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        old, values = (cgutils.unpack_tuple(builder, v, weights.count) for v in args[:2])
        least, most = cgutils.unpack_tuple(builder, args[6], 2)
        each = []
        for weight, value in zip(old, values, strict=True):
            scaled = builder.xor(builder.shl(value, args[3]), args[2])
            step = builder.ashr(builder.add(scaled, args[4]), args[5])
            moved = emit_call(builder, "smin", builder.add(weight, step), most)
            each.append(emit_call(builder, "smax", moved, least))
        return context.make_tuple(builder, weights, each)

    return weights(weights, inputs, flip, left, rounding, right, limits), codegen


class Bands(NamedTuple):
    """Group of bands that are predicted together, as kernels use it.

    Attributes
    ----------
    predictor, layout : parameters
    samples : rows of samples; row 0 is the one before the batch
    neighbors : (2, 3, 4) int64, see `neighbor_offsets`
    differences : central differences of one row, in the layout of `samples`
    weights : C vectors for each vector of bands
    skipped : lanes of the halo that no band uses
    bands, full, components, lanes, half : P, full mode, C, vector lanes of the group and the halo
    """

    predictor: Predictor
    layout: RowLayout
    samples: NumpyArray
    neighbors: Int64s
    differences: NumpyArray
    weights: NumpyArray
    skipped: int
    bands: tuple[None, ...]
    full: tuple[None, ...]
    components: tuple[None, ...]
    lanes: tuple[None, ...]
    half: tuple[None, ...]


@jit(part=True)
def difference_row(g: Bands, y: int, first: int) -> None:
    """Compute the central differences d = 4s - sigma (4.5) of row y with its halo.

    Every local sum of the standard, borders included, is the sum of four neighbours.

    first : index in `g.samples` of the row's first pixel
    """
    samples, width = g.samples, g.layout.width
    bounds = (0, 1, max(g.layout.columns - 1, 1), g.layout.columns)
    for span in range(3):
        a, b, c, d = g.neighbors[min(y, 1), span]
        for x in range(bounds[span], bounds[span + 1]):
            here = first + x * width
            for z in range(here + g.skipped, here + width, value_of(g.half)):
                total = load(samples, z + a, g.half) + load(samples, z + b, g.half)
                total = total + load(samples, z + c, g.half) + load(samples, z + d, g.half)
                store(g.differences, z - first, (load(samples, z, g.half) << 2) - total)


@jit(part=True)
def _intervals_at(t: int, columns: int, p: Predictor) -> Any:
    """Return the increments of the scaling exponent before t, not clipped; negative in row 0."""
    return (t - columns) >> p.interval


@jit(part=True)
def _update_after(intervals: int, p: Predictor) -> Any:
    """Return left shift, rounding term and right shift of the weight update (4.10).

    intervals : result of `_intervals_at`
    """
    rho = min(max(p.exponent_min + intervals, p.exponent_min), p.exponent_max)
    rho += p.depth - p.resolution
    return max(-rho, 0), 1 << max(rho, 0), max(rho, 0) + 1


@jit(part=True)
def predict_band_row(
    g: Bands, y: int, first: int, lane: int, out: NumpyArray, at: int, step: int
) -> None:
    """Write mapped residuals of one row of a vector of bands; weights persist between rows.

    samples[first + HALO + lane] is the sample of the first band at x = 0; out[at + x * step]
    receives the vector of column x.
    """
    p, samples, width, columns = g.predictor, g.samples, g.layout.width, g.layout.columns
    origin = HALO + lane
    place, stride = lane * value_of(g.components), value_of(g.lanes)
    w = load_tuple(g.weights, place, stride, g.components, g.lanes)
    zero = load(samples, first + origin, g.lanes) & 0
    directional = zero - (1 if y > 0 else 0)
    most = 1 << (p.resolution + 2)
    limits = (zero - most, zero + (most - 1))
    x = 0
    if y == 0:
        s = load(samples, first + origin, g.lanes)
        before = load(samples, first + origin - 1, g.lanes) if p.bands > 0 else zero + p.middle
        store(out, at, _map_residual(s, before << 1, p))
        x = 1
    while x < columns:
        t = y * columns + x
        intervals = _intervals_at(t, columns, p)
        stop = min(x + ((intervals + 1) << p.interval) + columns - t, columns)
        shift, half, drop = _update_after(intervals, p)
        left, right = zero + shift, zero + drop
        for i in range(x, stop):
            there = origin + i * width
            here = first + there
            s = load(samples, here, g.lanes)
            local_sum = (s << 2) - load(g.differences, there, g.lanes)
            u = _components(g, here, there, local_sum, directional)
            high_resolution = inner_product(w, u, (local_sum - 4 * p.middle) << p.resolution)
            doubled = wrap(high_resolution, p.spare_bits) >> (p.resolution + 1)
            doubled = minimum(doubled + (2 * p.middle + 1), 2 * p.highest + 1)
            doubled = maximum(doubled, 2 * p.lowest)
            store(out, at + i * step, _map_residual(s, doubled, p))
            flip = sign_mask((s << 1) - doubled)
            w = _update_weights(w, u, flip, left, half - flip, right, limits)
        x = stop
    store_tuple(g.weights, place, stride, w)


@jit
def residual_rows(g: Bands, y: int, rows: int, out: NumpyArray, step: int) -> None:
    """Write mapped residuals of `rows` rows from y on: out[(r * NX + x) * step + lane]."""
    for r in range(rows):
        first = begin_band_row(g, y + r, r)
        difference_row(g, y + r, first)
        for lane in range(0, g.layout.width - HALO, value_of(g.lanes)):
            predict_band_row(g, y + r, first, lane, out, r * g.layout.columns * step + lane, step)


@jit(part=True)
def begin_band_row(g: Bands, y: int, row: int) -> Any:
    """Return the index in `g.samples` of a row of the batch; set W and NW of x = 0 to N (4.5.2)."""
    width, pitch = g.layout.width, g.layout.pitch
    first = (row + 1) * pitch + width
    if y > 0:
        for z in range(first, first + width):
            north = g.samples[z - pitch]
            g.samples[z - width] = north
            g.samples[z - pitch - width] = north
    return first


def residuals(x: NumpyArray, plan: Plan) -> npt.NDArray[np.uint32]:
    """Return the mapped residuals delta[t, z] of a block, t = y * NX + x.

    Parameters
    ----------
    x : (z, y, x) integers of native byte order, any strides

    Returns
    -------
    (NY * NX, NZ) uint32

    Raises
    ------
    BadParams : a sample is outside the range of the image
    """
    image = plan.image
    out = np.empty((image.n_rows * image.n_columns, image.n_bands), np.uint32)
    for group in band_groups(x, plan):
        first = group.first
        delta = np.empty((group.rows.batch * image.n_columns, group.lanes), plan.dtype)
        stop = min(first + group.lanes, image.n_bands)
        for y, rows in group.rows.batches():
            residual_rows(group.kernel, y, rows, delta.reshape(-1), group.lanes)
            part = slice(y * image.n_columns, (y + rows) * image.n_columns)
            out[part, first:stop] = delta[: rows * image.n_columns, : stop - first]
    return out


def neighbor_offsets(local_sum: int, layout: RowLayout) -> npt.NDArray[np.int64]:
    """Return the offsets of the four samples that sigma adds up (4.4), (2, 3, 4) int64.

    The first axis is row 0 and the other rows, the second one column 0, inner columns, last column.
    """
    n, w = -layout.pitch, -layout.width
    nw, ne = n + w, n - w
    before = w - 1 if local_sum & 1 else w
    if local_sum & 2:
        others = [[n] * 4] * 3
    elif local_sum == 0:
        others = [[n, n, ne, ne], [w, nw, n, ne], [w, nw, n, n]]
    else:
        others = [[n, n, ne, ne], [nw, n, n, ne], [nw, nw, n, n]]
    return np.array([[[0] * 4, [before] * 4, [before] * 4], others], np.int64)


class BandGroup:
    """Samples and prediction state of `lanes` bands from `first` on.

    `first` is a multiple of the plan's lanes.
    """

    def __init__(self, x: NumpyArray, plan: Plan, first: int, lanes: int) -> None:
        self.plan, self.first, self.lanes = plan, first, lanes
        self.rows = BandRows(x, plan.image, plan.bands, plan.dtype, first, lanes)
        layout = self.rows.layout
        own = plan.weights[first : first + lanes]
        own = own.reshape(lanes // plan.lanes, plan.lanes, plan.components)
        half = min(plan.lanes, HALO)
        self.kernel = Bands(
            predictor=plan.predictor,
            layout=layout,
            samples=self.rows.buffer,
            neighbors=neighbor_offsets(plan.local_sum, layout),
            differences=np.empty(layout.columns * layout.width, plan.dtype),
            weights=np.array(own.swapaxes(1, 2), plan.dtype, order="C").reshape(-1),
            skipped=(HALO - plan.bands) // half * half,
            bands=static(plan.bands),
            full=static(plan.full),
            components=static(plan.components),
            lanes=static(plan.lanes),
            half=static(half),
        )


def band_groups(x: NumpyArray, plan: Plan) -> Iterator[BandGroup]:
    """Yield the groups of bands, which are predicted one after the other."""
    n_lanes = plan.weights.shape[0]
    size = group_lanes(plan.image, plan.lanes, plan.dtype.itemsize)
    for first in range(0, n_lanes, size):
        yield BandGroup(x, plan, first, min(size, n_lanes - first))
