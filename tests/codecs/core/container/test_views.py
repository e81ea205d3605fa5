"""BlockViews of the blocks of a chunk, and their addresses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.container.grid import BlockGrid
from gangsaw.codecs.core.container.views import BlockViews, block_addresses
from gangsaw.codecs.core.memory.aligned import address_of

SHAPE, BLOCK = (7, 5, 6), (3, 5, 4)
GRID = BlockGrid(SHAPE, BLOCK)


def turned(block: Any) -> Any:
    """Turn the axes of a block, as codecs do."""
    return block.transpose(2, 0, 1)


def chunks() -> list[Any]:
    """Return chunks with different memory layouts."""
    plain = np.arange(210.0).reshape(SHAPE)
    wide = np.zeros((14, 5, 18))
    wide[::-2, :, 2::3] = plain
    backwards = np.ascontiguousarray(plain[::-1, ::-1])[::-1, ::-1]
    broadcast = np.broadcast_to(plain[:, :1], SHAPE)
    read_only = plain.astype(">f8")
    read_only.flags.writeable = False
    return [plain, np.asfortranarray(plain), wide[::-2, :, 2::3], backwards, broadcast, read_only]


def expected(chunk: Any, numbers: list[int]) -> list[Any]:
    """Return the views, made at once."""
    return [turned(chunk[GRID.slices(number)]) for number in numbers]


@pytest.mark.parametrize("which", range(6))
@given(numbers=st.none() | st.lists(st.integers(0, GRID.n_blocks - 1), unique=True))
def test_views_and_places_are_those_of_the_blocks(which: int, numbers: list[int] | None) -> None:
    chunk = chunks()[which]
    some = None if numbers is None else np.array(numbers, np.int64)
    views = BlockViews(chunk, GRID, turned, some)
    right = expected(chunk, list(range(GRID.n_blocks)) if numbers is None else numbers)
    assert len(views) == len(right)
    for view, block in zip(views, right, strict=True):
        assert (address_of(view), view.strides) == (address_of(block), block.strides)
        np.testing.assert_array_equal(view, block)
    addresses, plain = block_addresses(views), block_addresses(right)
    assert (addresses.base + addresses.offsets).tolist() == [address_of(block) for block in right]
    assert (plain.base + plain.offsets).tolist() == [address_of(block) for block in right]
    assert addresses.forms == plain.forms == tuple((b.shape, b.strides, b.dtype) for b in right)
    assert (
        addresses.n_bytes == plain.n_bytes == views.nbytes == sum(block.nbytes for block in right)
    )


def test_some_views_are_taken_as_from_a_list() -> None:
    chunk = chunks()[0]
    views, right = BlockViews(chunk, GRID, turned), expected(chunk, list(range(GRID.n_blocks)))
    np.testing.assert_array_equal(views[-1], right[-1])
    assert [view.shape for view in views[1:3]] == [block.shape for block in right[1:3]]
    with pytest.raises(IndexError):
        views[GRID.n_blocks]


def test_equal_forms_are_one_thing() -> None:
    forms = block_addresses(BlockViews(chunks()[0], GRID, turned)).forms
    assert len({id(form) for form in forms}) == len(set(forms)) < len(forms)


def test_a_chunk_without_numbers_has_no_blocks() -> None:
    views = BlockViews(np.zeros((0, 5, 6)), BlockGrid((0, 5, 6), BLOCK), turned)
    addresses = block_addresses(views)
    assert (len(views), addresses.offsets.size, addresses.forms, addresses.n_bytes) == (0, 0, (), 0)
