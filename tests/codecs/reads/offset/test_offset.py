"""Starts of lines: any numbers of 64 bits come back; regular ones cost next to nothing."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from helpers.backends import encoded_block, fill_block
from helpers.fenced_memory import fenced, needs_fences
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpies

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.reads.offset.coding import OFFSET, usual_difference
from gangsaw.codecs.reads.params import Params

PARAMS = Params(kind="offset", lane=64)


def coded(items: Any, params: Params = PARAMS) -> Any:
    """Encode, decode and compare; return payload and bits of lanes."""
    data, lanes = encoded_block(OFFSET, items, params)
    assert data.size <= items.nbytes + 64
    out = np.full_like(items, 99)
    fill_block(OFFSET, data, lanes, out, params)
    np.testing.assert_array_equal(out, items)
    return data, lanes


def any_items(most: int) -> st.SearchStrategy[Any]:
    return numpies.arrays(np.uint64, st.integers(1, 200), elements=st.integers(0, most))


@given(any_items((1 << 64) - 1))
@settings(deadline=None)
def test_any_numbers_come_back(items: Any) -> None:
    coded(items)


@given(any_items(1 << 16), st.integers(0, (1 << 64) - 1))
@settings(deadline=None)
def test_steps_come_back(steps: Any, first: int) -> None:
    coded(np.cumsum(steps) + np.uint64(first))
    coded(np.uint64(first) - np.cumsum(steps))


@pytest.mark.parametrize("step", [0, 1, 151, 1 << 40, 1 << 63, (1 << 64) - 1])
def test_equal_lines_cost_next_to_nothing(step: int) -> None:
    items = np.arange(1 << 16, dtype=np.uint64) * np.uint64(step)
    data, _ = coded(items, Params(kind="offset"))
    assert data.size < 12 * 16 + 40


def test_lengths_cost_their_entropy() -> None:
    items = np.cumsum(np.random.default_rng(1).integers(100, 228, 1 << 16)).astype(np.uint64)
    data, _ = coded(items, Params(kind="offset"))
    assert 8 * data.size / items.size < 7.1


def test_one_jump_moves_nothing() -> None:
    """The zeros behind the last line of an array, or a step far back."""
    steps = np.full(4000, 151, np.uint64)
    steps[3000] = np.uint64(1 << 63)
    assert usual_difference(np.cumsum(steps)) == 151
    assert usual_difference(steps[:1]) == 0


SMALL = np.cumsum(np.random.default_rng(2).integers(30, 900, 300)).astype(np.uint64)


def decode(data: Any, lanes: Any, at_end: bool = True) -> None:
    out = fenced(np.zeros_like(SMALL), at_end)
    fill_block(OFFSET, fenced(data, at_end), lanes, out, PARAMS)


@needs_fences
def test_flipped_bits_never_crash() -> None:
    data, lanes = coded(SMALL)
    assert data[0] == 1
    rng = np.random.default_rng(3)
    flips = [[bit] for bit in range(8 * data.size)]
    flips += [list(rng.integers(0, 8 * data.size, n)) for n in (2, 9) for _ in range(100)]
    for places in flips:
        damaged = data.copy()
        for bit in places:
            damaged[bit // 8] ^= np.uint8(1 << bit % 8)
        with suppress(CorruptChunk):
            decode(damaged, lanes)


@needs_fences
@pytest.mark.parametrize("items", [SMALL, np.random.default_rng(4).integers(0, 1 << 64, 300, "u8")])
def test_lanes_of_other_lengths_are_refused(items: Any) -> None:
    data, lanes = coded(items)
    for a, b in [(0, 1), (0, 2), (2, 0), (2, 3), (3, 2), (6, 1), (6, 5)]:
        moved = lanes.copy()
        moved[a] -= 8
        moved[b] += 8
        with pytest.raises(CorruptChunk):
            decode(data, moved)
    for wrong in (data[:-1], np.append(data, np.uint8(0))):
        with pytest.raises(CorruptChunk):
            decode(wrong, lanes)


@needs_fences
@given(st.binary(min_size=1, max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_refused(noise: bytes) -> None:
    data = np.frombuffer(noise, np.uint8)
    lanes = np.zeros(7, np.int64)
    lanes[0], lanes[2] = 8 * min(60, data.size), 8 * max(0, data.size - 60)
    with pytest.raises(CorruptChunk):
        decode(data, lanes)
