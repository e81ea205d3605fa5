"""Bit primitives of kernels, on processors with and without the instructions for them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from gangsaw.codecs.core.numba import bits


def words() -> np.ndarray:
    """Every length of 32-bit words, with all kinds of bits below the first."""
    rng = np.random.default_rng(1)
    lengths = np.repeat(np.arange(33, dtype=np.uint64), 999)
    random = rng.integers(0, 1 << 32, lengths.size, np.uint64) | np.uint64(1 << 31)
    edges = [(1 << n) + d for n in range(33) for d in (-1, 0, 1)]
    below = np.clip(edges, 0, (1 << 32) - 1).astype(np.uint64)
    return np.concatenate([random >> (np.uint64(32) - lengths), below]).astype(np.uint32)


@pytest.mark.parametrize("native", [False, True])
def test_leading_zeros(native: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits, "HAS_AVX512", native)

    @numba.njit
    def count(values: np.ndarray, wide: np.ndarray, out: np.ndarray) -> None:
        for i in range(values.size):
            out[0, i] = bits.leading_zeros(values[i])
            out[1, i] = bits.leading_zeros_to_32(wide[i])

    values = words()
    wide = values.astype(np.uint64) << np.uint64(32) | np.uint64(0xFFFF)
    out = np.empty((2, values.size), np.int32)
    count(values.view(np.int32), wide, out)
    expected = [32 - int(value).bit_length() for value in values]
    np.testing.assert_array_equal(out, [expected, expected])


class _Mixed(NamedTuple):
    """Arrays, one a view that does not begin where its memory does, and an integer."""

    first: Any
    second: Any
    count: int


@numba.njit
def _sums(arrays: Any) -> tuple[int, int]:
    places = bits.pointers(arrays)
    return places.first[0] + places.first[-1], places.second[places.count]


def test_pointers_lead_to_where_arrays_begin() -> None:
    """Items in front of a view are reached; integers stay what they are."""
    mixed = _Mixed(np.arange(10, 20, dtype=np.int32)[3:], np.arange(4, dtype=np.uint64), 2)
    assert _sums(mixed) == (13 + 12, 2)
