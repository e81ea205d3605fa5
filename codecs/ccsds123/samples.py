"""Seeded arrays and params for the test suite of all codecs: typical, edge and hostile.

All are tiny. Each P, mode and width of arithmetic needs its own compiled kernel, so P is 0, 3 or 15
only.
"""

from __future__ import annotations

from functools import partial
from typing import Literal, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.params import Params, SupplementaryTable
from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.plugins.samples import Sample

SCALAR_TABLE = SupplementaryTable(bytes([0x02, 0x00, 0x45, 0x58]))  # one 8-bit wavelength


class Mode(TypedDict):
    """Keyword arguments of `Params` for full prediction mode."""

    mode: Literal["full"]
    local_sum: str


FULL: Mode = {"mode": "full", "local_sum": "wide_neighbor"}

# Macro values for which tests compile CUDA sources: usual kernels, and those with most registers.
DEFINES = ("GS_P", "GS_FULL", "GS_LOCAL_SUM", "GS_LANE", "GS_SAMPLE", "GS_SWAP")
SPECIALISED = [
    dict(zip(DEFINES, values, strict=True))
    for values in (
        (3, 0, 0, "int", "unsigned short", 0),
        (3, 1, 1, "int", "short", 1),
        (0, 0, 2, "int", "unsigned char", 0),
        (15, 1, 3, "int", "unsigned short", 0),
        (3, 0, 1, "long long", "unsigned", 0),
        (15, 1, 0, "long long", "int", 1),
    )
]
KERNELS = {
    "device/gpu_encode.cu": SPECIALISED,
    "device/gpu_decode.cu": SPECIALISED,
    "device/join_lanes.cu": [dict[str, int | str]()],
}


def samples() -> list[Sample]:
    """Return all samples; they are the same on every machine."""
    return [
        # rows, columns: some tables have one entry per band
        Sample(name, array, params, grows=(-2, -1))
        for group in GROUPS
        for name, array, params in group()
    ]


Rows: TypeAlias = list[tuple[str, NumpyArray, Params]]


def scene(shape: tuple[int, ...], dtype: npt.DTypeLike, bit_depth: int = 0) -> NumpyArray:
    """Return a scene-like cube: smooth in space, correlated between bands, with sensor noise.

    All values are computed as integers, because sines and their rounding differ between machines.
    """
    low, span, kind = _range(dtype, bit_depth)
    z, y, x = np.indices(shape)
    surface = 3 * (x - y) ** 2 + 2 * x * y + y * y + (x + y) * (z + 9)
    grain = np.random.default_rng([*shape, span]).integers(0, span // 50 + 1, shape)
    scaled = surface * (span - span // 50 - 1) // max(surface.max(), 1)
    return np.asarray(low + scaled + grain).astype(kind)


def noise(shape: tuple[int, ...], dtype: npt.DTypeLike, bit_depth: int = 0) -> NumpyArray:
    """Return incompressible samples over the whole D-bit range."""
    low, span, kind = _range(dtype, bit_depth)
    return np.random.default_rng(span).integers(low, low + span, shape).astype(kind)


def checkerboard(shape: tuple[int, ...], dtype: npt.DTypeLike) -> NumpyArray:
    """Return an array that alternates between its lowest and highest value along each axis."""
    low, span, kind = _range(dtype, 0)
    return np.asarray(low + np.indices(shape).sum(axis=0) % 2 * (span - 1)).astype(kind)


def _range(dtype: npt.DTypeLike, bit_depth: int) -> tuple[int, int, Dtype]:
    kind = np.dtype(dtype)
    span = 1 << (bit_depth or 8 * kind.itemsize)
    return -span // 2 if kind.kind == "i" else 0, span, kind


def _typical() -> Rows:
    return [
        ("default", scene((12, 20, 24), "u2"), Params()),
        ("blocks", scene((12, 20, 24), "u2"), Params(block=(0, 8, 16))),
        ("full", scene((12, 20, 24), "u2", 12), Params(bit_depth=12, **FULL)),
        ("signed", scene((6, 13, 17), "i2"), Params(block=(4, 8, 8))),
        ("bytes", scene((5, 16, 16), "u1"), Params(prediction_bands=0)),
    ]


def _geometry() -> Rows:
    cube = scene((9, 18, 14), "u2", 13)
    return [
        ("one-sample", scene((1, 1, 1), "u2"), Params()),
        ("one-column", scene((7, 21, 1), "u2"), Params(**FULL)),
        ("one-row", scene((7, 1, 21), "u2"), Params(**FULL)),
        ("one-band", scene((1, 19, 21), "u2"), Params(**FULL)),
        ("plane", scene((1, 19, 21), "u2")[0], Params(axes="zyx")),
        ("pixel-interleaved", scene((16, 12, 9), "u2"), Params(axes="yxz", block=(0, 8, 8))),
        ("stack", np.stack([cube, cube[::-1]]), Params(block=(0, 16, 8))),
        ("strided", scene((8, 30, 26), "u2")[::2, ::-1, 1::3], Params(**FULL)),
        ("big-endian", scene((8, 12, 16), ">i2"), Params(block=(3, 0, 5))),
        ("fortran", np.asfortranarray(cube), Params(bit_depth=13, block=(4, 7, 5))),
    ]


def _orders() -> Rows:
    cube = scene((7, 12, 11), "u2", 14)
    bi = partial(Params, order="bi", bit_depth=14)
    return [
        ("bip", cube, bi()),
        ("bil", cube, bi(interleave_depth=1)),
        ("bi-3", cube, bi(interleave_depth=3, block=(0, 8, 8))),
        ("bip-block", cube, bi(coder="block", reference_interval=3)),
        ("bi-3-block", cube, bi(interleave_depth=3, coder="block", word_bytes=4)),
    ]


def _coders() -> Rows:
    cube = scene((6, 15, 16), "u2", 12)
    table = (0, 10, 5, 2, 7, 1)
    block = partial(Params, coder="block")
    return [
        ("accumulator-table", cube, Params(bit_depth=12, accumulator_init=table)),
        ("slow-statistics", cube, Params(bit_depth=12, rescale=11, initial_count=8)),
        ("short-unary", cube, Params(unary_limit=8, rescale=4, word_bytes=8)),
        ("block-coder", cube, block(bit_depth=12)),
        ("block-coder-64", cube, block(samples_per_block=64, word_bytes=7)),
        ("restricted-4", scene((4, 9, 9), "u1", 4), block(bit_depth=4, restricted=True)),
        ("restricted-2", scene((4, 9, 9), "u1", 2), block(bit_depth=2, restricted=True)),
        ("zeros", np.zeros((6, 30, 40), "u2"), block(samples_per_block=8)),
    ]


def _predictors() -> Rows:
    cube = scene((5, 14, 15), "u2", 13)
    weights = tuple(tuple(i - z for i in range(min(z, 3) + 3)) for z in range(5))
    outside = partial(Params, init_weights_in_header=False, **FULL)
    return [
        ("p15", scene((20, 12, 13), "u2"), Params(prediction_bands=15, **FULL)),
        ("narrow-neighbor", cube, Params(mode="full", local_sum="narrow_neighbor")),
        ("narrow-column", cube, Params(local_sum="narrow_column")),
        ("custom-weights", cube, Params(init_weights=weights, init_weight_bits=5, **FULL)),
        ("known-weights", cube, outside(init_weights=weights, init_weight_bits=16)),
        ("fine-weights", cube, Params(weight_resolution=19, register_size=64)),
        ("coarse-weights", cube, Params(weight_resolution=4, weight_interval=16, weight_min=-6)),
        ("narrow-register", noise((5, 9, 8), "u2"), Params(weight_resolution=19, register_size=32)),
        ("fast-weights", cube, Params(weight_min=9, weight_max=9, weight_interval=2048)),
        ("tables", cube, Params(user_data=123, supplementary=(SCALAR_TABLE, SCALAR_TABLE))),
    ]


def _hostile() -> Rows:
    boards = [
        (f"checkerboard-{np.dtype(kind)}", checkerboard((4, 11, 12), kind), Params(**FULL))
        for kind in ("u2", "i4")
    ]
    return [
        *boards,
        ("two-bits", noise((4, 9, 10), "u1", 2), Params(bit_depth=2)),
        ("noise-8", noise((5, 9, 10), "i1"), Params(unary_limit=8)),
        ("noise-16", noise((5, 9, 10), "u2"), Params(accumulator_init=14, unary_limit=32)),
        ("noise-32", noise((5, 9, 10), "u4"), Params(unary_limit=32, **FULL)),
        ("noise-32-signed", noise((5, 9, 10), "i4"), Params(register_size=64, order="bi")),
        ("noise-17-block", noise((5, 9, 10), "u4", 17), Params(bit_depth=17, coder="block")),
        ("constant", np.full((3, 40, 40), 65535, "u2"), Params()),
    ]


def _wide() -> Rows:
    """Return samples of 64 bits whose values fit in 32. The kernels are those of other samples."""
    signed = noise((5, 9, 10), "i4").astype(">i8")
    unsigned = noise((5, 9, 10), "u4", 17).astype("u8")
    return [
        ("wide-signed", checkerboard((4, 11, 12), "i4").astype("i8"), Params(**FULL)),
        ("wide-unsigned", unsigned, Params(unary_limit=32, **FULL)),
        ("wide-blocks", np.asfortranarray(signed), Params(block=(4, 8, 8), **FULL)),
        ("wide-bip", signed[:, ::-1], Params(register_size=64, order="bi")),
        ("wide-block-coder", unsigned[..., ::2], Params(bit_depth=17, coder="block")),
    ]


GROUPS = (_typical, _geometry, _orders, _coders, _predictors, _hostile, _wide)
