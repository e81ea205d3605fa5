"""Runs of bytes: every byte in one block, selections touch the blocks that they read, no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.container.byte_grid import ByteGrid
from gangsaw.codecs.core.container.plan import as_it_is
from gangsaw.codecs.core.container.views import BlockViews, block_addresses
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.memory.aligned import address_of


def layouts(plain: Any) -> list[Any]:
    """The same numbers in several memory and byte orders."""
    swapped = plain.astype(plain.dtype.newbyteorder("S"))
    wide = np.zeros([2 * n for n in plain.shape], plain.dtype)
    strided = wide[(*(slice(None, None, -2) for _ in plain.shape), ...)]
    strided[...] = plain
    return [plain, np.asfortranarray(plain), swapped, np.asfortranarray(swapped), strided]


@pytest.mark.parametrize("shape", [(), (1,), (17,), (3, 5, 4)], ids=str)
@pytest.mark.parametrize("kind", ["u1", "<i4", ">c8", "f2", "?"])
def test_blocks_are_the_bytes_in_c_order(shape: tuple[int, ...], kind: str) -> None:
    plain = np.asarray(np.random.default_rng(3).integers(0, 2, shape)).astype(kind)
    right = plain.astype(plain.dtype.newbyteorder("<")).tobytes()
    for size in (1, 10, 16, 1000):
        grid = ByteGrid.of(shape, plain.dtype, size)
        for chunk in layouts(plain):
            views = BlockViews(chunk, grid, as_it_is)
            assert b"".join(view.tobytes() for view in views) == right  # type: ignore[attr-defined]
            assert len(views) == grid.n_blocks
            assert max(view.nbytes for view in views) == min(grid.block_shape[0], len(right))


@given(
    numbers=st.lists(st.integers(0, 5), unique=True),
    which=st.integers(0, 4),
    size=st.integers(40, 48),
)
def test_only_blocks_that_are_filled_change(numbers: list[int], which: int, size: int) -> None:
    plain = np.arange(60, dtype="i4").reshape(3, 5, 4)
    chunk, grid = layouts(plain)[which], ByteGrid.of((3, 5, 4), plain.dtype, size)
    some = np.array([number for number in numbers if number < grid.n_blocks], np.int64)
    views, expected = BlockViews(chunk, grid, as_it_is, some), plain.reshape(-1).copy()
    for number, view in zip(some.tolist(), views, strict=True):
        view[...] = 255  # type: ignore[index]
        expected[number * grid.block_items : (number + 1) * grid.block_items] = -1
    views.write_back()
    np.testing.assert_array_equal(chunk, expected.reshape(plain.shape))
    addresses = block_addresses(views)
    assert (addresses.base + addresses.offsets).tolist() == [address_of(view) for view in views]  # type: ignore[arg-type]


SHAPE = (4, 5, 6)


@st.composite
def selections(draw: Any) -> Any:
    """Slices, integers, arrays, masks and open meshes."""
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return np.random.default_rng(draw(st.integers(0, 99))).random(SHAPE) < 0.1
    if kind == 1:
        parts = [draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3)) for n in SHAPE]
        return np.ix_(*parts)
    if kind == 2:
        places = draw(st.lists(st.tuples(*(st.integers(0, n - 1) for n in SHAPE)), max_size=4))
        return tuple(np.array(axis, np.int64) for axis in zip(*places, strict=True)) or (slice(0),)
    return tuple(draw(st.one_of(st.integers(-n, n - 1), st.slices(n))) for n in SHAPE)[
        : draw(st.integers(0, 3))
    ]


@given(selections(), st.integers(1, 130))
def test_touched_blocks_are_those_that_numpy_reads(selection: Any, size: int) -> None:
    grid = ByteGrid.of(SHAPE, np.dtype("i2"), size)
    items = np.arange(120).reshape(SHAPE)[selection]
    expected = np.unique(items // grid.block_items)
    np.testing.assert_array_equal(grid.touched(selection), expected)
    bounds = grid.bounds(selection)
    if items.size:
        assert (bounds.start, bounds.stop) == (2 * items.min(), 2 * items.max() + 2)
    else:
        assert len(bounds) == 0


def test_an_index_outside_is_refused() -> None:
    with pytest.raises(IndexError):
        ByteGrid.of(SHAPE, np.dtype("i2"), 9).touched((4, 0))


def test_a_chunk_without_items_has_no_blocks() -> None:
    grid = ByteGrid.of((3, 0, 2), np.dtype("i2"), 9)
    assert grid.n_blocks == len(BlockViews(np.zeros((3, 0, 2), "i2"), grid, as_it_is)) == 0
    assert grid.touched(np.s_[:]).size == 0


@pytest.mark.parametrize("dtype", [object, [("a", "i2")], "S0"], ids=str)
def test_items_that_are_no_bytes_are_refused(dtype: Any) -> None:
    with pytest.raises(BadParams, match="no plain bytes"):
        ByteGrid.of((3,), np.dtype(dtype), 9)
