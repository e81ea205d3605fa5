"""Block grids: the tiles cover the chunk, and a selection touches what NumPy would read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nst

from gangsaw.codecs.core.container.grid import BlockGrid
from gangsaw.codecs.core.errors import BadParams


def numbered(grid: BlockGrid) -> Any:
    """Each sample holds the number of its block; -1 where no block is."""
    chunk = np.full(grid.chunk_shape, -1)
    for i in range(grid.n_blocks):
        assert (chunk[grid.slices(i)] == -1).all()
        chunk[grid.slices(i)] = i
    return chunk


@st.composite
def grids_and_selections(draw: Any) -> tuple[BlockGrid, Any]:
    shape = draw(nst.array_shapes(min_dims=1, max_dims=4, max_side=9))
    grid = BlockGrid(shape, tuple(draw(st.integers(1, 5)) for _ in shape))
    index = st.one_of(
        nst.basic_indices(shape, allow_newaxis=False),
        nst.integer_array_indices(shape),
        st.tuples(*(st.lists(st.integers(-n, n - 1), max_size=5) for n in shape)).map(
            lambda lists: np.ix_(*(np.array(part, int) for part in lists))
        ),
        nst.arrays(bool, shape),
    )
    return grid, draw(index)


@given(grids_and_selections())
def test_touched_blocks_are_those_that_numpy_reads(case: tuple[BlockGrid, Any]) -> None:
    grid, selection = case
    expected = np.unique(numbered(grid)[selection])
    np.testing.assert_array_equal(grid.touched(selection), expected)


def test_blocks_cover_a_ragged_chunk() -> None:
    grid = BlockGrid((5, 7, 3), (2, 3, 8))
    assert grid.n_blocks == 3 * 3 * 1
    assert (numbered(grid) >= 0).all()
    assert grid.slices(8) == (slice(4, 5), slice(6, 7), slice(0, 3))


def test_an_open_mesh_is_not_broadcast() -> None:
    """A billion samples through three vectors: as blocks, not as coordinates."""
    grid = BlockGrid((1000, 1000, 1000), (100, 100, 100))
    assert len(grid.touched(np.ix_(*[np.arange(1000)] * 3))) == 1000


@pytest.mark.parametrize(("part", "n"), [(slice(None), 1 << 10), (slice(5, None, -2), 1)])
def test_a_slice_costs_its_blocks_and_not_its_items(part: slice, n: int) -> None:
    """Numbers of all items took longer than to decode them."""
    grid = BlockGrid((1 << 40,), (1 << 30,))
    assert len(grid.touched(part)) == n


def test_an_empty_chunk_has_no_blocks() -> None:
    grid = BlockGrid((0, 4), (2, 2))
    assert grid.n_blocks == 0
    assert grid.touched(slice(None)).size == 0


@pytest.mark.parametrize("selection", [9, (0, 0, 0), [0, -6]])
def test_an_index_outside_the_chunk(selection: Any) -> None:
    with pytest.raises(IndexError):
        BlockGrid((5, 5), (2, 2)).touched(selection)


@pytest.mark.parametrize("block", [(2,), (0, 2)])
def test_blocks_that_cannot_tile(block: tuple[int, ...]) -> None:
    with pytest.raises(BadParams):
        BlockGrid((5, 5), block)
