"""Plan of a CCSDS-123 block: derived tables and constants, computed once for all coders."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.params import LOCAL_SUMS, Image, Params
from gangsaw.codecs.core.arrays import Dtype

PLANS = 16  # cached plans: a chunk has blocks of a few shapes


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


class Coder(NamedTuple):
    """Parameters of the sample-adaptive coder as plain integers, for kernels.

    Attributes
    ----------
    depth : D
    unary_limit : U_max
    first_count : 2^gamma_0
    top_count : 2^gamma* - 1, the count at which the statistics are halved
    """

    depth: int
    unary_limit: int
    first_count: int
    top_count: int


@dataclass(frozen=True, eq=False)
class Plan:
    """Plan of coding a block: values that kernels are specialised on, and kernel parameters.

    Plans are shared: their arrays are read-only. A plan equals only itself, so that a dictionary
    finds it fast.

    Attributes
    ----------
    image, params : the block's image, and params resolved for it
    bands : P, at most the number of the image's other bands
    full : full prediction mode
    local_sum : code of the local sum type
    dtype : lane dtype of prediction, and of coding in the same pass
    sums_dtype : dtype of accumulators in a separate pass, where prediction may need wider lanes
    lanes : bands in a vector of the encoder
    weights : (bands up to a multiple of lanes, C) int64, at t = 1
    first_sums : (NZ,) int64 accumulator Sigma(1) of each band
    predictor, coder : parameters of the kernels
    """

    image: Image
    params: Params
    bands: int
    full: bool
    local_sum: int
    dtype: Dtype
    sums_dtype: Dtype
    lanes: int
    weights: npt.NDArray[np.int64]
    first_sums: npt.NDArray[np.int64]
    predictor: Predictor
    coder: Coder

    @property
    def components(self) -> int:
        """Number of weights C_z of the last band."""
        return self.bands + 3 * self.full

    @staticmethod
    @lru_cache(PLANS)
    def of(image: Image, params: Params) -> Plan:
        """Return the plan of blocks with this image; params must be resolved for it."""
        bands, full = min(params.prediction_bands, image.n_bands - 1), params.mode == "full"
        components = bands + 3 * full
        lanes = 8 if image.n_bands <= 8 else 16 if image.n_bands <= 16 or components > 8 else 32
        sums = first_accumulators(image, params)
        sums_dtype = sums_type(image, params, sums)
        dtype = max(prediction_type(image, params, components), sums_dtype)
        weights = first_weights(params, -(-image.n_bands // lanes) * lanes, 3 * full, bands)
        for shared in (sums, weights):
            shared.setflags(write=False)
        return Plan(
            image=image,
            params=params,
            bands=bands,
            full=full,
            local_sum=LOCAL_SUMS.index(params.local_sum),
            dtype=dtype,
            sums_dtype=sums_dtype,
            lanes=lanes,
            weights=weights,
            first_sums=sums,
            predictor=_predictor(image, params, bands, dtype),
            coder=_coder(image, params),
        )


def _predictor(image: Image, params: Params, bands: int, dtype: Dtype) -> Predictor:
    return Predictor(
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


def _coder(image: Image, params: Params) -> Coder:
    return Coder(
        depth=image.bit_depth,
        unary_limit=params.unary_limit,
        first_count=1 << params.initial_count,
        top_count=(1 << params.rescale) - 1,
    )


def prediction_type(image: Image, params: Params, components: int) -> Dtype:
    """Return the dtype of prediction: int32 if R is 32 bits or nothing can overflow, else int64."""
    depth, omega = image.bit_depth, params.weight_resolution
    # |d| < 2^(D+2), |w| <= 2^(Omega+2), |sigma - 4 s_mid| and 4 s_mid <= 2^(D+1)
    inner = (components << (depth + omega + 4)) + (1 << (depth + omega + 2))
    exact = params.register_size == 32 or inner < 1 << 31
    # 4.10: |u| + 2^rho; the other terms, 2 s_max + 1 and 2^(Omega+2-v_min), are smaller
    update = (1 << (depth + 2)) + (1 << max(params.weight_max + depth - omega, 0))
    return np.dtype(np.int32 if exact and update < 1 << 31 else np.int64)


def sums_type(image: Image, params: Params, sums: npt.NDArray[np.int64]) -> Dtype:
    """Return the dtype of accumulators: int32 if they always fit it, else int64.

    The bound is Sigma <= Gamma max(2^D, Sigma(1) / Gamma(1)).
    """
    average = max(1 << image.bit_depth, (int(sums.max()) >> params.initial_count) + 1)
    average += 1  # the threshold adds less than Gamma
    none = params.coder == "block"  # the block-adaptive coder has no accumulators
    return np.dtype(np.int32 if none or average << params.rescale < 1 << 31 else np.int64)


def first_accumulators(image: Image, params: Params) -> npt.NDArray[np.int64]:
    """Return the accumulator Sigma(1) of each band, (NZ,) int64."""
    table = params.accumulator_init
    k = np.empty(image.n_bands, np.int64)
    k[:] = table
    depth = image.bit_depth
    k = np.where(k <= 30 - depth, k, 2 * k + depth - 30)
    return ((3 << (k + 6)) - 49 << params.initial_count) >> 7


def first_weights(
    params: Params, n_lanes: int, directional: int, bands: int
) -> npt.NDArray[np.int64]:
    """Return the weights at t = 1 (4.6), (n_lanes, directional + bands) int64, padded with 0."""
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
