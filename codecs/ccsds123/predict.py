"""Prediction of an encoder: mapped residuals of whole rows, a vector of bands at a time.

All samples are known, so the only serial chain is a band's weight vector along t: each lane of a
vector is a band. Samples lie in memory with the bands side by side, behind a halo of the bands
before them; where there is none the halo holds s_mid, which makes every difference 0, so that
P_z = min(z, P) and the special cases of band 0 come out by themselves.

Section numbers are those of CCSDS 123.0-B-2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from gangsaw.codecs.ccsds123.params import LOCAL_SUMS, Image, Params
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.jit import jit, jit_part
from gangsaw.codecs.core.simd import (
    copy_items,
    emit_call,
    inner_product,
    load,
    load_tuple,
    maximum,
    minimum,
    select,
    sign_mask,
    static,
    store,
    store_tuple,
    value_of,
    wrap,
)
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

HALO = 16  # lanes before the first band: P <= 15, and one more for narrow sums


class Predictor(NamedTuple):
    """Parameters of the prediction as plain integers, for kernels.

    Attributes
    ----------
    depth, resolution : D, Omega in bits
    spare_bits : bits of a lane above the register size R
    lowest, highest, middle : s_min, s_max, s_mid
    interval : log2(t_inc)
    exponent_min, exponent_max : v_min, v_max
    bands : P
    """

    depth: int
    resolution: int
    spare_bits: int
    lowest: int
    highest: int
    middle: int
    interval: int
    exponent_min: int
    exponent_max: int
    bands: int


class Layout(NamedTuple):
    """Where samples lie in a flat array of rows.

    Attributes
    ----------
    width : lanes of one pixel, halo included
    pitch : elements from row to row; a row has one pixel in front of its first (W and NW of x = 0)
    columns : NX
    """

    width: int
    pitch: int
    columns: int


@jit_part
def _mapped(sample: Any, doubled: Any, p: Any) -> Any:
    """Mapped residual delta (4.9) of a sample and its double-resolution prediction."""
    predicted = doubled >> 1
    residual = sample - predicted
    theta = minimum(predicted - p.lowest, p.highest - predicted)
    size = maximum(residual, 0 - residual)
    odd = 0 - (doubled & 1)
    against = sign_mask((residual ^ odd) - odd)
    return select(size > theta, size + theta, size + size + against)


@intrinsic
def _components(
    typing_context: Any,
    samples: Any,
    here: Any,
    layout: Any,
    local_sum: Any,
    directional: Any,
    differences: Any,
    there: Any,
    bands: Any,
    full: Any,
) -> Any:
    """U_z(t) (4.5): directional differences, 0 where `directional` is, then central ones."""
    vector = local_sum
    result = types.UniTuple(vector, bands.count + 3 * full.count)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        def vector_at(array_type: Any, array: Any, index: Any) -> Any:
            data = context.make_array(array_type)(context, builder, array).data
            lowered = context.get_value_type(vector).as_pointer()
            pointer = builder.bitcast(builder.gep(data, [index]), lowered)
            return builder.load(pointer, align=vector.bits // 8)

        word = args[1].type
        each = []
        if full.count:
            width, pitch = cgutils.unpack_tuple(builder, args[2], 3)[:2]
            north = builder.sub(args[1], pitch)
            west = builder.sub(args[1], width)
            for index in (north, west, builder.sub(north, width)):
                value = vector_at(samples, args[0], index)
                four = builder.shl(value, value.type([2] * vector.lanes))
                each.append(builder.and_(builder.sub(four, args[3]), args[4]))
        for i in range(1, bands.count + 1):
            each.append(vector_at(differences, args[5], builder.sub(args[6], word(i))))
        return context.make_tuple(builder, result, each)

    signature = result(
        samples, types.int64, layout, vector, vector, differences, types.int64, bands, full
    )
    return signature, codegen


@intrinsic
def _adapted(
    typing_context: Any,
    weights: Any,
    inputs: Any,
    flip: Any,
    left: Any,
    rounding: Any,
    right: Any,
    lowest: Any,
    highest: Any,
) -> Any:
    """Weights after one update (4.8): clip(w + ((((u << left) ^ flip) + rounding) >> right))."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        old, values = (cgutils.unpack_tuple(builder, v, weights.count) for v in args[:2])
        each = []
        for weight, value in zip(old, values, strict=True):
            scaled = builder.xor(builder.shl(value, args[3]), args[2])
            step = builder.ashr(builder.add(scaled, args[4]), args[5])
            moved = emit_call(builder, "smin", builder.add(weight, step), args[7])
            each.append(emit_call(builder, "smax", moved, args[6]))
        return context.make_tuple(builder, weights, each)

    return weights(weights, inputs, flip, left, rounding, right, lowest, highest), codegen


class Bands(NamedTuple):
    """A group of bands that are worked on together, as kernels see it.

    Attributes
    ----------
    predictor, layout : parameters
    samples : rows of samples, row 0 is the one before the batch
    neighbors : (2, 3, 4) int64, see `neighbor_offsets`
    differences : central differences of one row, pixel by pixel as in `samples`
    weights : C vectors for each vector of bands
    skipped : lanes of the halo that no band looks at
    bands, full, components, lanes, half : P, full mode, C, lanes of a vector, of one for the halo
    """

    predictor: Any
    layout: Any
    samples: Any
    neighbors: Any
    differences: Any
    weights: Any
    skipped: int
    bands: Any
    full: Any
    components: Any
    lanes: Any
    half: Any


@jit_part
def difference_row(g: Any, y: int, first: int) -> None:
    """Central differences d = 4s - sigma (4.5) of a row, halo included.

    Every local sum of the standard, borders included, is the sum of four neighbours.
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


@jit_part
def predict_row(g: Any, y: int, first: int, lane: int, out: Any, at: int, step: int) -> None:
    """Mapped residuals of one row of one vector of bands; its weights go on from row to row.

    samples[first + HALO + lane] is the sample of the first band at x = 0; out[at + x * step]
    receives the vector of column x.
    """
    p, samples, width, columns = g.predictor, g.samples, g.layout.width, g.layout.columns
    origin = HALO + lane
    place, stride = lane * value_of(g.components), value_of(g.lanes)
    w = load_tuple(g.weights, place, stride, g.components, g.lanes)
    zero = load(samples, first + origin, g.lanes) & 0
    directional = zero - (1 if y > 0 else 0)
    low = zero - (1 << (p.resolution + 2))
    high = zero + ((1 << (p.resolution + 2)) - 1)
    x = 0
    if y == 0:
        s = load(samples, first + origin, g.lanes)
        before = load(samples, first + origin - 1, g.lanes) if p.bands > 0 else zero + p.middle
        store(out, at, _mapped(s, before << 1, p))
        x = 1
    while x < columns:
        t = y * columns + x
        interval = (t - columns) >> p.interval
        rho = min(max(p.exponent_min + interval, p.exponent_min), p.exponent_max)
        rho += p.depth - p.resolution
        stop = min(x + ((interval + 1) << p.interval) + columns - t, columns)
        left = zero + max(-rho, 0)
        half = 1 << max(rho, 0)
        right = zero + (max(rho, 0) + 1)
        for i in range(x, stop):
            there = origin + i * width
            here = first + there
            s = load(samples, here, g.lanes)
            local_sum = (s << 2) - load(g.differences, there, g.lanes)
            u = _components(
                samples,
                here,
                g.layout,
                local_sum,
                directional,
                g.differences,
                there,
                g.bands,
                g.full,
            )
            high_resolution = inner_product(w, u, (local_sum - 4 * p.middle) << p.resolution)
            doubled = wrap(high_resolution, p.spare_bits) >> (p.resolution + 1)
            doubled = minimum(doubled + (2 * p.middle + 1), 2 * p.highest + 1)
            doubled = maximum(doubled, 2 * p.lowest)
            store(out, at + i * step, _mapped(s, doubled, p))
            flip = sign_mask((s << 1) - doubled)
            w = _adapted(w, u, flip, left, half - flip, right, low, high)
        x = stop
    store_tuple(g.weights, place, stride, w)


@jit
def residual_rows(g: Any, y: int, rows: int, out: Any, step: int) -> None:
    """Mapped residuals of `rows` rows from row y on: out[(r * NX + x) * step + lane]."""
    for r in range(rows):
        first = begin_row(g, y + r, r)
        difference_row(g, y + r, first)
        for lane in range(0, g.layout.width - HALO, value_of(g.lanes)):
            predict_row(g, y + r, first, lane, out, r * g.layout.columns * step + lane, step)


@jit_part
def begin_row(g: Any, y: int, row: int) -> int:
    """Return where row `row` of the batch starts; left of x = 0, W and NW are N (4.5.3)."""
    width, pitch = g.layout.width, g.layout.pitch
    first = (row + 1) * pitch + width
    if y > 0:
        for z in range(first, first + width):
            north = g.samples[z - pitch]
            g.samples[z - width] = north
            g.samples[z - pitch - width] = north
    return first


@jit
def _load_rows(
    x: Any,
    y: int,
    rows: int,
    first_band: int,
    samples: Any,
    layout: Any,
    lane: int,
    extremes: Any,
    tile: Any,
    tile_rows: Any,
) -> Any:
    """Copy rows of x (z, y, x) from band `first_band` on to lane `lane` of rows 1, 2, ..

    Tiles at the end of an axis overlap those before them. Return the smallest and the largest
    sample so far; extremes (2, lanes of a tile) holds them by lane.
    """
    lanes = value_of(tile)
    columns = value_of(tile_rows)  # a transposed tile is square, one along z has one column
    stop = min(x.shape[0], first_band + layout.width - lane)
    flat = extremes.ravel()
    ends = (load(flat, 0, tile), load(flat, lanes, tile))
    for band in range(first_band, stop, lanes):
        z = min(band, stop - lanes)
        for r in range(rows):
            origin = (r + 1) * layout.pitch + layout.width + lane
            for column in range(0, layout.columns, columns):
                i = min(column, layout.columns - columns)
                place = origin + z - first_band + i * layout.width
                ends = copy_items(
                    x, z, y + r, i, samples, place, layout.width, ends, tile, tile_rows
                )
    store(flat, 0, ends[0])
    store(flat, lanes, ends[1])
    return extremes[0].min(), extremes[1].max()


BATCH_BYTES = 1 << 20  # samples of a batch of rows: they stay in a usual second-level cache


class Rows:
    """Samples of a group of bands with the bands side by side, some rows at a time.

    Attributes
    ----------
    layout : where samples lie in the buffer
    buffer : flat, of the lane type; row 0 is the one before the batch
    """

    def __init__(self, x: Any, image: Image, plan: Plan, first_band: int, lanes: int) -> None:
        self.x, self.image = x, image
        self.bands_before = min(first_band, plan.bands + 1)
        self.first_band = first_band
        width = HALO + lanes
        self.layout = Layout(width, (image.n_columns + 1) * width, image.n_columns)
        row_bytes = self.layout.pitch * plan.dtype.itemsize
        self.batch = min(max(1, BATCH_BYTES // row_bytes), image.n_rows)
        self.tile = _tile(x, min(self.bands_before + lanes, x.shape[0] - first_band))
        self.extremes = np.full((2, len(self.tile[0])), x[0, 0, 0])
        self.buffer = np.full((self.batch + 1) * self.layout.pitch, image.middle, plan.dtype)

    def batches(self) -> Iterator[tuple[int, int]]:
        """Yield (first row, number of rows) of each batch once it is in the buffer."""
        pitch = self.layout.pitch
        for y in range(0, self.image.n_rows, self.batch):
            rows = min(self.batch, self.image.n_rows - y)
            before = self.bands_before
            extremes = _load_rows(
                self.x,
                y,
                rows,
                self.first_band - before,
                self.buffer,
                self.layout,
                HALO - before,
                self.extremes,
                *self.tile,
            )
            _check_range(self.image, *extremes)
            yield y, rows
            self.buffer[:pitch] = self.buffer[rows * pitch : (rows + 1) * pitch]


def _tile(x: npt.NDArray[Any], bands: int) -> tuple[tuple[None, ...], tuple[None, ...]]:
    """Return (lanes, rows) of the tiles to copy: square where x is the fastest axis of memory."""
    along_z, along_x = (x.strides[axis] == x.itemsize for axis in (0, 2))
    if along_x:
        side = next(n for n in (16, 4, 1) if n <= min(bands, x.shape[2]) or n == 1)
        return static(side), static(side)
    lanes = next(n for n in (16, 4, 1) if n <= bands or n == 1) if along_z else 1
    return static(lanes), static(1)


def _check_range(image: Image, lowest: int, highest: int) -> None:
    for value in (int(lowest), int(highest)):
        if not image.lowest <= value <= image.highest:
            kind = "signed" if image.signed else "unsigned"
            raise BadParams(
                f"sample {value} does not fit bit_depth {image.bit_depth} ({kind}: "
                f"{image.lowest}..{image.highest}); give a bit_depth that holds the data"
            )


@dataclass(frozen=True)
class Plan:
    """How a block is predicted: what kernels are specialised on, and their parameters.

    Attributes
    ----------
    bands : P, not more than the image has
    full : full prediction mode
    local_sum : code of the local sum type
    dtype : of a lane
    lanes : bands in a vector
    group : bands that are worked on row by row, a multiple of `lanes`
    predictor : parameters of the kernels
    """

    bands: int
    full: bool
    local_sum: int
    dtype: npt.DTypeLike
    lanes: int
    group: int
    predictor: Predictor

    @property
    def components(self) -> int:
        """C_z of the last band."""
        return self.bands + 3 * self.full


def plan_prediction(image: Image, params: Params, at_least: npt.DTypeLike = np.int32) -> Plan:
    """Choose kernels for an image and params resolved for it."""
    bands = min(params.prediction_bands, image.n_bands - 1)
    full = params.mode == "full"
    local_sum = LOCAL_SUMS.index(params.local_sum)
    components = bands + 3 * full
    dtype = max(_lane_type(image, params, components), np.dtype(at_least))
    lanes = 8 if image.n_bands <= 8 else 16 if image.n_bands <= 16 or components > 8 else 32
    row_bytes = (image.n_columns + 1) * dtype.itemsize
    most = max(1, BATCH_BYTES // 4 // (row_bytes * lanes))
    group = min(-(-image.n_bands // lanes), most)
    predictor = Predictor(
        image.bit_depth,
        params.weight_resolution,
        max(0, 8 * dtype.itemsize - params.register_size),
        image.lowest,
        image.highest,
        image.middle,
        params.weight_interval.bit_length() - 1,
        params.weight_min,
        params.weight_max,
        bands,
    )
    return Plan(bands, full, local_sum, dtype, lanes, group * lanes, predictor)


def _lane_type(image: Image, params: Params, components: int) -> np.dtype[Any]:
    """Return int32 where wrapping to 32 bits is what R asks for, or where nothing can overflow."""
    depth, omega = image.bit_depth, params.weight_resolution
    # |d| < 2^(D+2), |w| <= 2^(Omega+2), |sigma - 4 s_mid| <= 2^(D+1)
    inner = (components << (depth + omega + 4)) + (1 << (depth + omega + 1))
    exact = params.register_size == 32 or inner < 1 << 31
    # 4.8: |u| + 2^rho; beside it 2 s_max + 1 and 2^(Omega+2-v_min) are small
    update = (1 << (depth + 2)) + (1 << max(params.weight_max + depth - omega, 0))
    return np.dtype(np.int32 if exact and update < 1 << 31 else np.int64)


def neighbor_offsets(local_sum: int, layout: Layout) -> npt.NDArray[np.int64]:
    """(2, 3, 4): for row 0 and the others, for columns 0, inner, last: what sigma adds up (4.4)."""
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


def initial_weights(image: Image, params: Params, plan: Plan) -> npt.NDArray[np.int64]:
    """(bands up to a multiple of lanes, C): weights at t = 1 (4.6); 0 where a band has no such."""
    n_lanes = -(-image.n_bands // plan.lanes) * plan.lanes
    weights = np.zeros((n_lanes, plan.components), np.int64)
    directional = 3 * plan.full
    if params.init_weights is None:
        value = 7 << params.weight_resolution
        for i in range(plan.bands):
            value >>= 3
            weights[i + 1 :, directional + i] = value
        return weights
    shift = params.weight_resolution + 3 - params.init_weight_bits
    for z, band in enumerate(params.init_weights):
        # ceil(2^(Omega+2-Q) - 1); the exponent is -1 for Q = Omega + 3, which makes it 0
        weights[z, : len(band)] = [(v << shift) + (1 << shift >> 1) - (shift > 0) for v in band]
    return weights


def residuals(x: npt.NDArray[Any], image: Image, params: Params) -> npt.NDArray[np.uint32]:
    """Mapped residuals delta[t, z] of a block, t = y * NX + x.

    Parameters
    ----------
    x : (z, y, x) integers of native byte order, any strides
    params : resolved for the image

    Returns
    -------
    (NY * NX, NZ) uint32

    Raises
    ------
    BadParams : a sample is outside the range of `image`
    """
    plan = plan_prediction(image, params)
    weights = initial_weights(image, params, plan)
    out = np.empty((image.n_rows * image.n_columns, image.n_bands), np.uint32)
    for first in range(0, image.n_bands, plan.group):
        group = BandGroup(x, image, plan, weights, first)
        delta = np.empty((group.rows.batch * image.n_columns, group.lanes), plan.dtype)
        stop = min(first + group.lanes, image.n_bands)
        for y, rows in group.rows.batches():
            residual_rows(group.kernel, y, rows, delta.reshape(-1), group.lanes)
            part = slice(y * image.n_columns, (y + rows) * image.n_columns)
            out[part, first:stop] = delta[: rows * image.n_columns, : stop - first]
    return out


class BandGroup:
    """State of the prediction of the bands from `first` on."""

    def __init__(
        self, x: Any, image: Image, plan: Plan, weights: npt.NDArray[np.int64], first: int
    ) -> None:
        self.plan, self.first = plan, first
        self.lanes = min(plan.group, weights.shape[0] - first)
        self.rows = Rows(x, image, plan, first, self.lanes)
        layout = self.rows.layout
        own = weights[first : first + self.lanes]
        own = own.reshape(self.lanes // plan.lanes, plan.lanes, plan.components)
        half = min(plan.lanes, HALO)
        self.kernel = Bands(
            plan.predictor,
            layout,
            self.rows.buffer,
            neighbor_offsets(plan.local_sum, layout),
            np.empty(layout.columns * layout.width, plan.dtype),
            np.ascontiguousarray(own.swapaxes(1, 2), plan.dtype).reshape(-1),
            (HALO - plan.bands) // half * half,
            static(plan.bands),
            static(plan.full),
            static(plan.components),
            static(plan.lanes),
            static(half),
        )
