"""Test samples for the suite of all codecs: seeded tiny arrays with parameters.

They are typical, edge and hostile cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.plugins.samples import Sample
from gangsaw.codecs.scaled import INNER
from gangsaw.codecs.scaled.params import Params

Floats: TypeAlias = "npt.NDArray[np.float32 | np.float64]"
SHAPE = 4, 6, 9
SMALL = {"name": INNER, "configuration": {"block": [0, 4, 5]}}  # edge blocks are smaller
NAN_WITH_PAYLOAD = 0x7FC01234


def samples() -> list[Sample]:
    """Return all samples; the same on every machine."""
    return [Sample(*row, grows=(-2, -1)) for row in (*_shapes(), *_forms(), *_apart())]


def _forms() -> Iterator[tuple[str, Floats, Params]]:
    k = _integers()
    yield "reflectance", _quotient(k, "f4", 10000), Params()
    doubles = Params(scale=0.02, form="product", offset=273.15, integers="int32")
    yield "doubles", k * 0.02 + 273.15, doubles
    wide = Params(scale=0.01, form="product", precision="double", integers="uint16")
    yield "rounded-doubles", (k * 0.01).astype("f4"), wide
    product = Params(scale=0.1, form="product", offset=-3.0)
    yield "product", k.astype("f4") * np.float32(0.1) + np.float32(-3), product
    yield "eighths", _quotient(k - 700, "f4", 8), Params(scale=8, integers="int32")
    yield "bytes", _quotient(k % 200, "f8", 255), Params(scale=255, integers="uint8")
    serial = {"name": INNER, "configuration": {"order": "bi"}}
    yield "without-lanes", _quotient(k, "f4", 10000), Params(inner=serial)


def _apart() -> Iterator[tuple[str, Floats, Params]]:
    k = _quotient(_integers(), "f4", 10000)
    filled, border, odd = k.copy(), k.copy(), k.copy()
    filled[:, 4:, :6] = -9999
    border[..., 0] = border[..., -1] = np.nan
    border[1, 2, 3] = -0.0
    border.view("u4")[2, 3, 4] = NAN_WITH_PAYLOAD
    border[3, 3, 3:5] = np.inf, -np.inf
    odd[2, 1:3, 1:3] += np.float32(1e-7)
    yield "filled", filled, Params()
    yield "border", border, Params()
    yield "odd", odd, Params()
    both = filled.copy()
    both[:, :3, 6:] = np.nan
    yield "two-masks", both, Params()
    band = k.copy()
    band[2] = np.random.default_rng(3).random(SHAPE[1:])
    yield "band-off", band, Params(inner=SMALL)
    yield "outside", k * np.float32(16), Params(integers="int8")
    yield "too-deep", k, Params(inner={"name": INNER, "configuration": {"bit_depth": 4}})


def _shapes() -> Iterator[tuple[str, Floats, Params]]:
    k = _quotient(_integers(), "f4", 10000)
    yield "tiles", k, Params(inner=SMALL)
    turned = {"name": INNER, "configuration": {"axes": "yxz", "block": [0, 4, 5]}}
    yield "turned", np.ascontiguousarray(k.transpose(1, 2, 0)), Params(inner=turned)
    yield "big-endian", k.astype(">f4"), Params()
    yield "fortran", np.asfortranarray(k), Params()
    yield "image", k[0], Params()
    yield "one", k[:1, :1, :1] + np.float32(0.00001), Params()
    yield "constant", np.full(SHAPE, -9999, "f4"), Params()
    yield "noise", np.random.default_rng(5).random(SHAPE).astype("f4"), Params()
    any_bits = np.random.default_rng(6).integers(0, 1 << 32, SHAPE, np.uint32)
    yield "any-bits", any_bits.view("f4"), Params()


def _integers() -> npt.NDArray[np.int64]:
    """Return a smooth scene, similar between bands, with noise."""
    z, y, x = np.indices(SHAPE)
    grain = np.random.default_rng(36).integers(0, 30, SHAPE)
    found: npt.NDArray[np.int64] = 900 + 40 * z + 25 * y + 11 * x * (y + 1) + grain
    return found


def _quotient(k: npt.NDArray[np.int64], dtype: str, scale: float) -> Floats:
    kind = np.dtype(dtype).type
    found: Floats = k.astype(dtype) / kind(scale)
    return found
