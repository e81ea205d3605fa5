"""Blocks that are back to back: their views, and where kernels find them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.container.runs import Runs, run_addresses
from gangsaw.codecs.core.memory.aligned import address_of
from gangsaw.codecs.core.ragged import RaggedArray

SIZES = st.lists(st.integers(0, 9), max_size=9)


def cut(sizes: list[int], lead: int) -> tuple[RaggedArray, list[np.ndarray]]:
    """Return blocks behind some bytes, and the same ones as a list."""
    offsets = np.cumsum([lead, *sizes])
    data = np.arange(offsets[-1] + 3).astype(np.uint8)
    pairs = itertools.pairwise(offsets)
    return RaggedArray(data, offsets), [data[a:b] for a, b in pairs]


@given(SIZES, st.integers(0, 5), st.integers(-12, 12), st.integers(-12, 12))
def test_blocks_are_taken_as_from_a_list(sizes: list[int], lead: int, a: int, b: int) -> None:
    blocks, expected = cut(sizes, lead)
    assert len(blocks) == len(expected)
    assert blocks.lengths.tolist() == sizes
    assert Runs(blocks).n_bytes == Runs(tuple(expected)).n_bytes == sum(sizes)
    for some, right in ((blocks, expected), (blocks[a:b], expected[a:b])):
        assert [bytes(part) for part in some] == [bytes(part) for part in right]
    if -len(sizes) <= a < len(sizes):
        assert bytes(blocks[a]) == bytes(expected[a])
    else:
        with pytest.raises(IndexError):
            blocks[a]


@given(SIZES, st.integers(0, 5))
def test_kernels_find_the_same_blocks_by_either(sizes: list[int], lead: int) -> None:
    for parts in cut(sizes, lead):
        found = run_addresses(parts)
        assert (found.ends - found.begins).tolist() == sizes
        assert found.limit == (parts.data.size if isinstance(parts, RaggedArray) else 0)
        places = [address_of(part) for part in parts if part.size]  # of none it means nothing
        assert (found.base + found.begins)[found.ends > found.begins].tolist() == places


def test_blocks_behind_the_end_of_the_data_are_short_and_no_kernel_gets_them() -> None:
    blocks = RaggedArray(np.zeros(5, np.uint8), np.array([0, 4, 9]))
    assert [part.size for part in blocks] == [4, 1]
    with pytest.raises(AssertionError, match="end before"):
        run_addresses(blocks)
