"""Floats inside kernels, alone and as vectors: bit for bit what NumPy's float32 does."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from gangsaw.codecs.core.numba import words as floats
from gangsaw.codecs.core.numba.vectors import floats as simd_floats
from gangsaw.codecs.core.numba.vectors import integers as simd
from gangsaw.codecs.core.numba.vectors import logic as simd_logic

LANES = simd.static(32)
ODD = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3.4e38, 1.1754944e-38]


def numbers(seed: int) -> Any:
    """32 float32 of all sizes, and what is special."""
    rng = np.random.default_rng(seed)
    values = np.ldexp(rng.normal(size=32), rng.integers(-140, 125, 32)).astype("f4")
    values[: len(ODD)] = rng.permutation(ODD)
    return values


def bits(values: Any) -> Any:
    """As integers, with one NaN: which one comes out is the processor's."""
    return np.where(np.isnan(values), np.float32(np.nan), values).view("u4")


@numba.njit
def operate(left: Any, right: Any, number: Any, out: Any) -> None:
    x, y = simd_floats.load_floats(left, 0, LANES), simd_floats.load_floats(right, 0, LANES)
    simd_floats.store_floats(out, 0, x + y)
    simd_floats.store_floats(out, 32, x - y)
    simd_floats.store_floats(out, 64, x * y)
    simd_floats.store_floats(out, 96, x / y)
    simd_floats.store_floats(out, 128, x + number * y)
    simd_floats.store_floats(out, 160, x - (x - y) * number)
    simd_floats.store_floats(out, 192, simd_floats.choose_floats(x > y, x, number))
    simd_floats.store_floats(out, 224, simd_floats.choose_floats(x == y, number, y))


@pytest.mark.parametrize("seed", range(20))
def test_vectors_round_as_numpy_does(seed: int) -> None:
    """Each operation by itself: a sum of a product is not contracted."""
    x, y, number = numbers(seed), numbers(seed + 100), np.float32(1 / 3)
    y[::5] = x[::5]
    out = np.empty(256, np.float32)
    operate(x, y, number, out)
    with np.errstate(all="ignore"):
        expected = [x + y, x - y, x * y, x / y, x + number * y, x - (x - y) * number]
    expected += [np.where(x > y, x, number), np.where(x == y, number, y)]
    np.testing.assert_array_equal(bits(out), bits(np.concatenate(expected)))


@numba.njit
def work_on_words(words: Any, others: Any, counts: Any, floats_in: Any, out: Any) -> None:
    word, count = simd.load(words, 0, LANES), simd.load(counts, 0, LANES)
    simd.store(out, 0, simd_logic.logical_shift_right(word, 5))
    simd.store(out, 32, simd_logic.logical_shift_right(word, count))
    small, low = word < 0, simd.load(others, 0, LANES) < 0
    simd.store(out, 64, simd.select(simd_logic.both(small, low), 1, word * 0))
    simd.store(out, 96, simd.select(simd_logic.either(small, low), 1, word * 0))
    number = simd_floats.load_floats(floats_in, 0, LANES)
    simd.store(out, 128, simd.resize_to(simd_floats.float_bits(number), out))


@pytest.mark.parametrize("kind", ["i4", "i8"])
def test_words_are_shifted_and_masks_joined(kind: str) -> None:
    rng = np.random.default_rng(1)
    width, unsigned = 8 * np.dtype(kind).itemsize, kind.replace("i", "u")
    words, others = rng.integers(0, 1 << 62, (2, 32), np.int64)
    words, others = (v * 5 - (1 << 62) for v in (words, others))
    words, others = (np.ascontiguousarray(v).view(kind)[:32].copy() for v in (words, others))
    counts, x = (np.arange(32) * 7 % width).astype(kind), numbers(1)
    out = np.empty(160, kind)
    work_on_words(words, others, counts, x, out)
    expected = [
        words.view(unsigned) >> np.array(5, unsigned),
        words.view(unsigned) >> counts.view(unsigned),
        ((words < 0) & (others < 0)).astype(unsigned),
        ((words < 0) | (others < 0)).astype(unsigned),
        x.view("u4").astype(unsigned),
    ]
    np.testing.assert_array_equal(out.view(unsigned), np.concatenate(expected))


@numba.njit
def move(data: Any) -> None:
    for i in range(32):
        floats.store_le64(data, 8 * i + 3, floats.load_le64(data, 8 * i + 1))


def test_words_are_taken_from_any_byte_on() -> None:
    data = np.arange(8 * 33 + 3, dtype=np.uint8)
    copy = data.copy()
    move(data)
    for i in range(32):
        copy[8 * i + 3 : 8 * i + 11] = copy[8 * i + 1 : 8 * i + 9].copy()
    np.testing.assert_array_equal(data, copy)
