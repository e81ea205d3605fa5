"""Test samples for the suite of all codecs: seeded tiny arrays with parameters.

They are typical, edge and hostile cases.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.plugins.samples import Sample
from gangsaw.codecs.visibility.params import PACKINGS, PREDICTORS, RESIDUALS, Params

# preprocessor definitions with which tests compile CUDA sources
SPECIALISED: list[dict[str, int | str]] = [
    {"GS_BITS": bits, "GS_SWAP": int(bits == 16)} for bits in (16, 32, 64)
]
KERNELS = {
    **{f"dense/choice/{name}.cu": SPECIALISED for name in ("choose", "means")},
    **{f"dense/coding/{name}.cu": SPECIALISED for name in ("encode", "decode")},
    "dense/narrow.cu": SPECIALISED[-1:],
    **{
        f"fast/{name}.cu": [{**one, "GS_GAIN": 16} for one in SPECIALISED]
        for name in ("encode", "decode")
    },
}

WIDE = 8  # bytes of a double

Rows = list[tuple[str, NumpyArray, Params]]


def samples() -> list[Sample]:
    """Return all samples; the same on every machine."""
    groups = (_typical(), _geometry(), _constructions(), _hostile(), _integers())
    rows = (row for group in groups for row in group)
    return [Sample(*row, grows=tuple(range(row[1].ndim))[-2:]) for row in rows]


def fringes(shape: tuple[int, ...], dtype: npt.DTypeLike) -> NumpyArray:
    """Return visibilities that vary slowly on all axes, with noise, in steps of 2^-6.

    Only integers and powers of two are used, because sines and their rounding differ between
    machines.
    """
    kind = np.dtype(dtype)
    rng = np.random.default_rng([*shape, kind.itemsize])
    places = np.indices(shape)
    parts = []
    for phase in (3, 11):
        waves = sum((i + phase) * place for i, place in enumerate(places)) % 512
        parts.append(np.abs(waves - 256) - 128 + rng.integers(-20, 21, shape))
    values = (parts[0] + 1j * parts[1]) / 64
    return np.asarray(values if kind.kind == "c" else values.real).astype(kind)


def near_grid(shape: tuple[int, ...], dtype: npt.DTypeLike) -> NumpyArray:
    """Return multiples of one number, most of them off by a few units in the last place."""
    kind = np.dtype(dtype)
    n_parts = 2 if kind.kind == "c" else 1
    size = kind.itemsize // n_parts
    rng, split = np.random.default_rng(6), (*shape, n_parts)
    values = np.ldexp(rng.integers(-900, 901, split), -size - 3).astype(f"f{size}")
    off = rng.integers(-2, 3, split) * 4 ** rng.integers(0, 6, split) * (values != 0)
    words = values.view(f"i{size}") + off.astype(f"i{size}")
    return np.asarray(words.view(kind)[..., 0])


def patterns(shape: tuple[int, ...], dtype: npt.DTypeLike) -> NumpyArray:
    """Return random bits: incompressible, with NaNs of every payload, denormals and infinities."""
    kind = np.dtype(dtype)
    size = int(np.prod(shape)) * kind.itemsize
    octets = np.random.default_rng([*shape, kind.itemsize]).integers(0, 256, size, np.uint8)
    return octets.view(kind.newbyteorder("<")).astype(kind).reshape(shape)


def specials(shape: tuple[int, ...], dtype: npt.DTypeLike) -> NumpyArray:
    """Return zeros of both signs, infinities, NaNs of several payloads, denormals and ones."""
    kind = np.dtype(dtype)
    parts = 2 if kind.kind == "c" else 1
    width = 8 * kind.itemsize // parts
    exponent = {16: 5, 32: 8, 64: 11}[width]
    infinity = ((1 << exponent) - 1) << (width - 1 - exponent)
    sign, quiet = 1 << (width - 1), 1 << (width - 2 - exponent)
    one = infinity >> 1 & infinity
    bits = [0, sign, infinity, sign | infinity, infinity | quiet, infinity | 1]
    bits += [sign | infinity | quiet | 5, 1, sign | 1, quiet, one, sign | one, (1 << width) - 1]
    rng = np.random.default_rng(width)
    count = int(np.prod(shape)) * parts
    chosen = np.array(bits, f"u{width // 8}")[rng.integers(0, len(bits), count)]
    return chosen.view(kind.newbyteorder("=")).astype(kind).reshape(shape)


def _typical() -> Rows:
    return [
        ("default", fringes((9, 16, 6), "c8"), Params()),
        ("fast", fringes((9, 16, 6), "c8"), Params(effort="fast")),
        ("blocks", fringes((10, 15, 7), "c8"), Params(block=(4, 8, 3))),
        ("double", fringes((6, 9, 4), "c16"), Params()),
        ("real", fringes((12, 10, 5), "f4"), Params(effort="fast", block=(5, 0, 2))),
        ("half", fringes((12, 10, 5), "f2"), Params()),
        ("float64", fringes((7, 6, 3), "f8"), Params(effort="fast")),
        ("narrowed", fringes((8, 6, 5), "f8"), Params()),
        # doubles that are not float32 values
        ("thirds", np.divide(fringes((9, 16, 6), "c16"), 3), Params()),
        ("beside", near_grid((24, 16, 6), "c8"), Params()),
    ]


def _geometry() -> Rows:
    cube = fringes((6, 7, 8, 4), "c8")
    return [
        ("one-number", fringes((1, 1), "c8"), Params()),
        ("one-axis", fringes((300,), "f4"), Params(block=(64, 0, 0))),
        ("one-step", fringes((1, 40, 6), "c8"), Params()),
        ("one-channel", fringes((30, 1, 6), "c8"), Params()),
        ("spectrum", fringes((12, 20), "f4"), Params(axes="tf")),
        ("no-time", fringes((8, 30), "c8"), Params(axes="bf", block=(0, 16, 3))),
        ("baseline-first", cube, Params(axes="btfb", block=(3, 4, 6))),
        ("channels-last", fringes((4, 3, 30), "c8"), Params(axes="tbf")),
        ("strided", fringes((12, 15, 9), "c8")[::2, ::-1, 1::3], Params()),
        ("big-endian", fringes((6, 9, 5), ">c8"), Params(block=(4, 5, 2))),
        ("fortran", np.asfortranarray(cube), Params(axes="tbfb", effort="fast")),
    ]


def _constructions() -> Rows:
    rows = []
    for i, predictor in enumerate(PREDICTORS):
        params = Params(
            predictor=predictor,
            residual=RESIDUALS[i % 2],
            packing=PACKINGS[i // 2 % 2],
            window=3 + i % 2,
            block=(0, 4, 3),
        )
        cube = fringes((8, 6, 4), "c8" if i % 3 else "f4")
        rows.append((predictor, cube, params))
    return rows


def _hostile() -> Rows:
    mean = Params(predictor="mean", residual="xor", packing="bits")
    return [
        ("patterns", patterns((6, 8, 5), "c8"), Params()),
        ("patterns-half", patterns((6, 8, 5), "f2"), Params(effort="fast")),
        ("patterns-double", patterns((5, 4, 3), "c16"), mean),
        ("specials", specials((7, 8, 5), "c8"), Params()),
        ("specials-half", specials((7, 8, 5), "f2"), replace(mean, predictor="median")),
        ("specials-double", specials((7, 5, 3), "f8"), Params(effort="fast")),
        ("constant", np.full((8, 16, 6), np.complex64(-0.0)), Params()),
        ("zeros", np.zeros((8, 16, 6), "f8"), Params(effort="fast")),
    ]


def decimals(shape: tuple[int, ...], dtype: npt.DTypeLike, digits: int) -> NumpyArray:
    """Return random walks on the last axis with `digits` digits after the point."""
    rng = np.random.default_rng([*shape, digits])
    steps = np.cumsum(rng.integers(-40, 41, shape), axis=-1) + 3000
    return np.asarray(steps / 10**digits).astype(dtype)


def _with_odd(values: NumpyArray) -> NumpyArray:
    """Replace some values by odd ones: NaN, negative zero, numbers with many digits."""
    rng, flat = np.random.default_rng(17), values.ravel()
    odd = np.array([np.nan, -0.0, np.pi, 1e300 if values.itemsize == WIDE else 1e30], flat.dtype)
    chosen = rng.random(flat.size) < 1 / 20
    flat[chosen] = odd[rng.choice(4, int(chosen.sum()), p=(0.6, 0.3, 0.05, 0.05))]
    return flat.reshape(values.shape)


def _rounded(shape: tuple[int, ...], dtype: npt.DTypeLike, zeros: int) -> NumpyArray:
    """Return floats of both signs with `zeros` trailing zero bits."""
    floats = decimals(shape, "f8", 2).astype(dtype) - np.asarray(29).astype(dtype)
    words = floats.view(f"u{floats.itemsize}")
    kept: NumpyArray = (words >> zeros << zeros).view(floats.dtype)
    return kept


def _few(shape: tuple[int, ...], dtype: npt.DTypeLike, count: int) -> NumpyArray:
    """Return values from a table of `count` rare and frequent ones."""
    rng = np.random.default_rng([*shape, count])
    values = np.divide(rng.integers(1, 1 << 15, count), 3).astype(dtype)
    return values[rng.geometric(0.3, shape) % count]


def _integers() -> Rows:
    return [
        ("decimals", decimals((20, 40), "f8", 2), Params()),
        ("decimals-one-axis", decimals((900,), "f4", 3), Params(block=(400, 0, 0))),
        ("decimals-odd", _with_odd(decimals((12, 60), "f8", 1)), Params()),
        ("decimals-odd-single", _with_odd(decimals((6, 30, 5), "f4", 2)), Params()),
        ("decimals-long", np.multiply(decimals((8, 90), "f8", 1), 1e7), Params()),
        ("decimals-big-endian", decimals((10, 50), ">f8", 2), Params(axes="ft")),
        ("rounded", _rounded((12, 120), "f4", 14), Params()),
        ("rounded-double", _rounded((12, 60), "f8", 20), Params()),
        ("rounded-half", _rounded((12, 120), "f2", 6), Params()),
        ("few", _few((15, 50), "f8", 9), Params()),
        ("few-half", _few((15, 50), "f2", 9), Params()),
        ("few-single", _few((4, 30, 7), "f4", 30), Params(axes="bft")),
    ]
