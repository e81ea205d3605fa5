"""What the encoder's kernels are specialised on, and their parameters as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.params import LOCAL_SUMS, Image, Params
from gangsaw.codecs.ccsds123.rows import RowLayout, group_lanes
from gangsaw.codecs.core.arrays import Dtype


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


@dataclass(frozen=True)
class PredictorPlan:
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
    dtype: Dtype
    lanes: int
    group: int
    predictor: Predictor

    @property
    def components(self) -> int:
        """C_z of the last band."""
        return self.bands + 3 * self.full


def plan_prediction(
    image: Image, params: Params, at_least: npt.DTypeLike = np.int32
) -> PredictorPlan:
    """Choose kernels for an image and params resolved for it."""
    bands = min(params.prediction_bands, image.n_bands - 1)
    full = params.mode == "full"
    local_sum = LOCAL_SUMS.index(params.local_sum)
    components = bands + 3 * full
    dtype = max(lane_type(image, params, components), np.dtype(at_least))
    lanes = 8 if image.n_bands <= 8 else 16 if image.n_bands <= 16 or components > 8 else 32
    predictor = Predictor(
        depth=image.bit_depth,
        resolution=params.weight_resolution,
        spare_bits=max(0, 8 * dtype.itemsize - params.register_size),
        lowest=image.lowest,
        highest=image.highest,
        middle=image.middle,
        interval=params.weight_interval.bit_length() - 1,
        exponent_min=params.weight_min,
        exponent_max=params.weight_max,
        bands=bands,
    )
    return PredictorPlan(
        bands, full, local_sum, dtype, lanes, group_lanes(image, lanes, dtype.itemsize), predictor
    )


def lane_type(image: Image, params: Params, components: int) -> Dtype:
    """Return int32 where wrapping to 32 bits is what R asks for, or where nothing can overflow."""
    depth, omega = image.bit_depth, params.weight_resolution
    # |d| < 2^(D+2), |w| <= 2^(Omega+2), |sigma - 4 s_mid| and 4 s_mid <= 2^(D+1)
    inner = (components << (depth + omega + 4)) + (1 << (depth + omega + 2))
    exact = params.register_size == 32 or inner < 1 << 31
    # 4.10: |u| + 2^rho; next to it 2 s_max + 1 and 2^(Omega+2-v_min) are small
    update = (1 << (depth + 2)) + (1 << max(params.weight_max + depth - omega, 0))
    return np.dtype(np.int32 if exact and update < 1 << 31 else np.int64)


def neighbor_offsets(local_sum: int, layout: RowLayout) -> npt.NDArray[np.int64]:
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


def initial_weights(image: Image, params: Params, plan: PredictorPlan) -> npt.NDArray[np.int64]:
    """(bands up to a multiple of lanes, C): weights at t = 1 of the encoder's lanes."""
    n_lanes = -(-image.n_bands // plan.lanes) * plan.lanes
    return band_weights(params, n_lanes, 3 * plan.full, plan.bands)


def band_weights(
    params: Params, n_lanes: int, directional: int, bands: int
) -> npt.NDArray[np.int64]:
    """(n_lanes, directional + bands): weights at t = 1 (4.6); 0 where a band has fewer."""
    weights = np.zeros((n_lanes, directional + bands), np.int64)
    if params.init_weights is None:
        value = 7 << params.weight_resolution
        for i in range(bands):
            value >>= 3
            weights[i + 1 :, directional + i] = value
        return weights
    shift = params.weight_resolution + 3 - params.init_weight_bits
    for z, band in enumerate(params.init_weights):
        # ceil(2^(Omega+2-Q) - 1); the exponent is -1 for Q = Omega + 3, which makes it 0
        weights[z, : len(band)] = [(v << shift) + (1 << shift >> 1) - (shift > 0) for v in band]
    return weights
