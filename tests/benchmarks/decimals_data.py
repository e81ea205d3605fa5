"""Seeded floats with few digits, few bits or few values, as instruments and programs write them.

Walks are of rounded Gaussian steps, fields of smooth random surfaces; the same on every machine but
for the last bits of sines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[Any]
N = 1 << 20  # values of a row
CUBE = (16, 256, 256)
GAP, OUTLIER = 50, 1e-3  # values of a gap; share of values off the grid


def arrays() -> Iterator[tuple[str, Floats]]:
    """Yield every array by its name."""
    yield "prices, 2 decimals, f64", np.round(_walk(1, 0.3) + 100, 2)
    yield "temperatures, 1 decimal, f64", np.round(_daily(2), 1)
    yield "positions, 3 decimals, f32", np.round(_walk(3, 0.05) + 5, 3).astype("f4")
    yield "decimals with gaps and outliers, f64", _with_gaps(np.round(_walk(4, 0.3) + 100, 2))
    yield "packed by 0.01 and 273.15, f32", _packed(5)
    for keep in (6, 8, 10):
        yield f"bits rounded to {keep}, one axis, f32", bit_round(_daily(6).astype("f4"), keep)
    yield "bits rounded to 7, field, f32", bit_round(_field(7, (1024, 1024)), 7)
    yield "bits rounded to 7, cube, f32", bit_round(_field(8, CUBE), 7)
    yield "radar, steps of 0.5 dB, f32", _radar(9)
    yield "classes, f32", _classes(10)
    yield "counts, Poisson of 3, f32", np.random.default_rng(11).poisson(3, N).astype("f4")
    yield "counts of a smooth rate, f64", _counts(12)
    yield "grades, ten irregular values, f64", _grades(13)
    yield "noise, f32", np.random.default_rng(14).standard_normal(N).astype("f4")
    yield "noise, f64", np.random.default_rng(15).standard_normal(N)


def bit_round(values: Floats, keep: int) -> Floats:
    """Round float32s to so many bits of the fraction, ties to even, as BitRound of numcodecs."""
    drop = 23 - keep
    bits = values.view(np.uint32).copy()
    bits += (bits >> drop & 1) + ((1 << (drop - 1)) - 1)
    return (bits >> drop << drop).view(np.float32)


def _walk(seed: int, step: float) -> Floats:
    return np.cumsum(np.random.default_rng(seed).standard_normal(N) * step)


def _daily(seed: int) -> Floats:
    """Return temperatures each minute: of the day, of the weather, of the instrument."""
    rng, t = np.random.default_rng(seed), np.arange(N) / 1440
    weather = np.cumsum(rng.standard_normal(N)) * 0.01
    return 285 + 6 * np.sin(2 * np.pi * t) + weather + 0.05 * rng.standard_normal(N)


def _field(seed: int, shape: tuple[int, ...]) -> Floats:
    """Return a smooth field with little noise, of both signs."""
    rng, places = np.random.default_rng(seed), np.indices(shape)
    out = 0.02 * rng.standard_normal(shape)
    for _ in range(12):
        turns = rng.standard_normal(len(shape)) * 6
        angle = sum(2 * np.pi * k * x / n for k, x, n in zip(turns, places, shape, strict=True))
        out += np.sin(angle + rng.uniform(0, 6)) * rng.uniform(0.5, 2)
    return (out * 4 + 20).astype("f4")


def _with_gaps(values: Floats) -> Floats:
    rng = np.random.default_rng(16)
    for first in rng.integers(0, N - GAP, N // GAP // 20):
        values[first : first + GAP] = np.nan
    off = rng.random(N) < OUTLIER
    values[off] = rng.standard_normal(off.sum()) * 100
    return values


def _packed(seed: int) -> Floats:
    packed = np.rint((_daily(seed) - 273.15) * 100).astype("i2")
    return packed * np.float32(0.01) + np.float32(273.15)


def _radar(seed: int) -> Floats:
    """Return reflectivity in steps of half a decibel, with a fill value where there is no echo."""
    field = _field(seed, (1024, 1024)) * 1.5
    steps = (np.rint(field * 2) / 2).astype("f4")
    steps[steps < 10] = -32.5
    return steps


def _classes(seed: int) -> Floats:
    """Return classes of land in patches, some of single pixels."""
    rng = np.random.default_rng(seed)
    field = _field(seed, (1024, 1024))
    classes = np.digitize(field, np.quantile(field, np.linspace(0.1, 0.9, 9)))
    names = np.array([11, 21, 22, 31, 41, 42, 52, 71, 82, 90])[classes]
    lone = rng.random(names.shape) < 0.02
    names[lone] = rng.choice([11, 41, 82], lone.sum())
    return names.astype("f4")


def _counts(seed: int) -> Floats:
    rate = np.exp(_walk(seed, 0.002)).clip(0.1, 200) * 10
    return np.random.default_rng(seed).poisson(rate).astype("f8")


def _grades(seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    values, shares = rng.random(10), rng.dirichlet(np.full(10, 0.7))
    return rng.choice(values, N, p=shares)
