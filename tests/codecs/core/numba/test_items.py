"""Vectors of items from anywhere, and divisions of vectors, against whole numbers of Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.gather import HAS_GATHER, gather
from gangsaw.codecs.core.numba.vectors.integers import load, static, store
from gangsaw.codecs.core.numba.vectors.items import (
    add_items,
    halve_items,
    load_items,
    store_items,
)
from gangsaw.codecs.core.numba.vectors.ratios import small_quotients, squash

LANES = 16
OF_LANES, OF_TWICE = static(LANES), static(2 * LANES)
Words = npt.NDArray[np.uint32]


@jit(norefs=True)
def squashed(z: Any, out: Any) -> None:
    for at in range(0, z.size, LANES):
        store(out, at, squash(load(z, at, OF_LANES)))


@jit(norefs=True)
def divided(left: Any, right: Any, out: Any) -> None:
    for at in range(0, left.size, LANES):
        store(out, at, small_quotients(load(left, at, OF_LANES), load(right, at, OF_LANES)))


@jit(norefs=True)
def copied(data: Any, to: Any, index: Any, places: Any) -> None:
    store_items(to, load(places, 0, OF_LANES), load_items(data, load(index, 0, OF_LANES)))


@jit(norefs=True)
def gathered(data: Any, index: Any, out: Any) -> None:
    store(out, 0, gather(data, load(index, 0, OF_TWICE)))


@jit(norefs=True)
def added(data: Any, index: Any, numbers: Any) -> Any:
    return add_items(data, load(index, 0, OF_LANES), load(numbers, 0, OF_LANES))


@jit(norefs=True)
def halved(data: Any, index: Any) -> None:
    halve_items(data, load(index, 0, OF_LANES), 0x800, 0x7FFF, 1)


def test_squash_is_exact_for_every_z() -> None:
    z = np.arange(-3072, 3072, dtype=np.int32)
    out = np.empty_like(z)
    squashed(z, out)
    for number, found in zip(z[1:].tolist(), out[1:].tolist(), strict=True):
        e, f = divmod(-number, 256)
        one = 256 << max(0, -e)  # all times as much as makes the power a whole number
        assert found == 16383 * one // (one + ((256 + f) << max(0, e)))


def test_quotients_are_exact() -> None:
    rng = np.random.default_rng(1)
    right = rng.integers(2, (1 << 14) + 1, 1 << 16).astype(np.uint32)
    left = rng.integers(0, 1 << 32, right.size).astype(np.uint32)
    left[::2] -= left[::2] % right[::2]  # whole numbers, and just below them
    left[::4] -= 1
    left[:LANES], left[LANES : 2 * LANES] = 0, (1 << 32) - 1
    out = np.empty_like(left)
    divided(left, right, out)
    np.testing.assert_array_equal(out, left // right)


def test_items_come_from_anywhere_and_go_there() -> None:
    rng = np.random.default_rng(2)
    for dtype in (np.uint32, np.uint64):
        data = rng.integers(0, 1 << 32, 1000).astype(dtype) * dtype(3)
        index, places = rng.permutation(1000)[: 2 * LANES].astype(np.uint32).reshape(2, LANES)
        to = np.zeros(1000, dtype)
        copied(data, to, index, places)
        expected = np.zeros(1000, dtype)
        expected[places] = data[index]
        np.testing.assert_array_equal(to, expected)


def test_sums_of_one_item_add_up_and_it_is_halved_once() -> None:
    data = np.full(8, 0x7FC, np.uint32)
    index = np.array([1] * 5 + [3] * 2 + [5] * 9, np.uint32)
    numbers = np.ones(LANES, np.uint32)
    joined = added(data, index, numbers)
    assert data.tolist() == [0x7FC, 0x801, 0x7FC, 0x7FE, 0x7FC, 0x805, 0x7FC, 0x7FC]
    assert joined & 0x800
    halved(data, index)
    assert data.tolist() == [0x7FC, 0x401, 0x7FC, 0x7FE, 0x7FC, 0x403, 0x7FC, 0x7FC]


@pytest.mark.skipif(not HAS_GATHER, reason="this processor gathers nothing at once")
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_gathered_words_are_those_of_their_places(dtype: type[np.generic]) -> None:
    """In registers of any processor: 32 bits from each place on, whatever the items' width."""
    rng = np.random.default_rng(4)
    octets = rng.integers(0, 256, 4096 + 4, np.uint8)
    data, out = octets.view(dtype), np.zeros(2 * LANES, np.int32)
    width = data.itemsize
    index = rng.integers(0, 4096 // width, 2 * LANES).astype(np.int32)
    index[:2] = 0, 4096 // width
    gathered(data, index, out)
    wanted = [octets[width * i : width * i + 4].view(np.int32)[0] for i in index.tolist()]
    assert out.tolist() == wanted
