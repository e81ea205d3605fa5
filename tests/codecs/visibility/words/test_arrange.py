"""Blocks to words and back: any layout in memory, and not a byte outside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.fenced_memory import fenced, needs_fences
from helpers.visibility_words import DTYPES, slow_words
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.codecs.visibility.words.arrange import STRIP, from_words, to_words, words_layout

SHAPES = [
    (1, 1),
    (9, 5),
    (2, 3, 1),
    (1, 40, 7),
    (17, 1, 9),
    (3, STRIP, 8),
    (8, 8, 2, 3),
    (5, 4, 3, 2, 2),
]


def any_bits(shape: tuple[int, ...], dtype: Any) -> Any:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    octets = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    return octets.view(dtype).reshape(shape)


def words_of(block: Any) -> Any:
    words = np.empty(*words_layout(block))
    to_words(block, words)
    return words


@pytest.mark.parametrize("dtype", [*DTYPES, ">f4", ">f8", ">c8"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_words_are_those_of_plain_numpy(shape: tuple[int, ...], dtype: str) -> None:
    block = any_bits(shape, dtype)
    words = words_of(block)
    np.testing.assert_array_equal(words, slow_words(block))
    out = np.empty_like(block)
    from_words(words, out)
    assert out.tobytes() == block.tobytes()


@given(st.data())
@settings(max_examples=200)
def test_any_strides(data: st.DataObject) -> None:
    """Steps, reversed axes and permuted ones; memory between stays as it is."""
    rank = data.draw(st.integers(2, 5))
    shape = tuple(data.draw(st.integers(1, 9)) for _ in range(rank))
    whole = any_bits(shape, data.draw(st.sampled_from([*DTYPES, ">c8"])))
    order = data.draw(st.permutations(range(rank)))
    steps = [data.draw(st.sampled_from([1, 1, 2, -1, -2])) for _ in shape]
    cut = tuple(slice(None, None, step) for step in steps)

    def part(array: Any) -> Any:
        return array.transpose(order)[cut]

    words = words_of(part(whole))
    np.testing.assert_array_equal(words, slow_words(part(whole)))
    out = any_bits((*shape, 2), whole.dtype)[..., 1].copy()
    untouched = out.copy()
    from_words(words, part(out))
    part(untouched)[...] = 0
    assert slow_words(part(out)).tobytes() == words.tobytes()
    part(out)[...] = 0
    assert out.tobytes() == untouched.tobytes()


@needs_fences
@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("dtype", ["f2", "c8", "c16"])
@pytest.mark.parametrize("shape", [*SHAPES, (7, 9, 13), (1, 100, 5)], ids=str)
def test_nothing_beside_the_block_is_touched(shape: Any, dtype: str, at_end: bool) -> None:
    block = fenced(any_bits(shape, dtype), at_end)
    words = fenced(np.zeros(*words_layout(block)), at_end)
    to_words(block, words)
    again = fenced(np.zeros(shape, dtype), at_end)
    from_words(words, again)
    assert again.tobytes() == block.tobytes()
