"""The table of lanes against the words of SPEC.md, Lanes, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.visibility_words import empty_table

from gangsaw.codecs.visibility.lanes.table import LANES, Lanes, gather_block, scatter_block

SHAPES = {
    "strips": (5, 4, 40),
    "one strip": (6, 3, 16),
    "folded": (4, 9, 3),
    "folded in two": (4, 9, 13),
    "folded into one row": (3, 5, 2),
    "folded in time": (37, 1, 3),
    "one time": (1, 40, 6),
    "one number": (1, 1),
    "one axis": (300, 1),
    "rest of two axes": (3, 4, 5, 6),
    "rest of extent 1": (3, 4, 1, 9, 1),
}
KINDS = ("<c8", ">c8", "<f4", ">f4", "<f2", ">f8", "<c16")


def any_bits(shape: tuple[int, ...], kind: str) -> Any:
    rng = np.random.default_rng(len(shape))
    octets = rng.integers(0, 256, int(np.prod(shape)) * np.dtype(kind).itemsize, np.uint8)
    return octets.view(kind).reshape(shape)


def expected(block: Any) -> Any:
    """Return the table word by word."""
    n_components = 2 if block.dtype.kind == "c" else 1
    width = block.dtype.itemsize // n_components
    little = block.astype(block.dtype.newbyteorder("<")).reshape(*block.shape[:2], -1)
    words = np.frombuffer(little.tobytes(), f"<u{width}").reshape(*little.shape, n_components)
    n_times, n_frequencies, n_rest = little.shape
    fold = max(1, min(LANES // (n_rest * n_components), n_frequencies))
    if n_frequencies == 1:
        fold = max(1, min(LANES // (n_rest * n_components), n_times))
    extents = [n_times, n_frequencies]
    axis = 0 if n_frequencies == 1 else 1
    extents[axis] = -(-extents[axis] // fold)
    n_rows = extents[0] * extents[1]
    n_strips = -(-(-(-words.shape[axis] // extents[axis]) * n_rest * n_components) // LANES)
    table = np.zeros((n_strips, n_rows, LANES), words.dtype)
    for (t, f, rest, component), word in np.ndenumerate(words):
        segment, place = divmod((t, f)[axis], extents[axis])
        series = (segment * n_rest + rest) * n_components + component
        row = f * extents[0] + place if axis == 0 else place * extents[0] + t
        table[series // LANES, row, series % LANES] = word
    return table.reshape(-1, LANES)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_words_are_where_the_specification_puts_them(shape: tuple[int, ...], kind: str) -> None:
    block = any_bits(shape, kind)
    lanes, table = Lanes.of_block(block), empty_table(block)
    gather_block(block, lanes, table)
    assert table.shape == lanes.shape
    assert np.array_equal(table, expected(block))
    back = np.zeros_like(block)
    scatter_block(table, lanes, back)
    assert back.tobytes() == block.tobytes()


VIEWS = {
    "steps": lambda whole: whole[::2, ::-1, 1:4, ::3],
    "transposed": lambda whole: whole.transpose(3, 1, 0, 2)[1:],
    "one channel": lambda whole: whole[:, 3, :, None],
}


@pytest.mark.parametrize("kind", ["<c8", ">f8"])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_any_strides(view: Any, kind: str) -> None:
    whole = any_bits((9, 12, 5, 14), kind)
    block, back = view(whole), view(np.zeros_like(whole))
    lanes, table = Lanes.of_block(block), empty_table(block)
    gather_block(block, lanes, table)
    assert np.array_equal(table, expected(block))
    scatter_block(table, lanes, back)
    assert back.tobytes() == block.tobytes()


def test_what_no_word_is_in_is_zero() -> None:
    block = any_bits((3, 9, 5), "<f4")  # 45 series in two strips, the last segment short
    lanes, table = Lanes.of_block(block), empty_table(block)
    table[...] = 77
    gather_block(block, lanes, table)
    assert np.array_equal(table, expected(block))
    assert lanes.n_series < lanes.n_strips * LANES


def test_nothing_beside_a_view_is_written() -> None:
    whole = np.zeros((6, 8, 10), np.complex64)
    block = whole[1:5, 2:7, 3:9]
    scatter_block(np.full(Lanes.of_block(block).shape, 1, np.uint32), Lanes.of_block(block), block)
    assert np.count_nonzero(whole) == block.size
