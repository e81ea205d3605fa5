"""Contigs are turned so that lines ascend, and pieces stay the same letters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.read_layouts import Recipe, made

from gangsaw.codecs.reads.sequence.encode.order import (
    arrange_layout,
    arranged_contigs,
    ascends,
    contigs_of,
    first_mapped,
)
from gangsaw.codecs.reads.sequence.layout.placed import Layout


def layout_of(rows: list[tuple[int, int, int, int, int]], size: int) -> Layout:
    """Mapped pieces: line, begin, end, position, strand."""
    fields = np.array(rows, np.int64).T
    consensus = np.random.default_rng(size).integers(0, 4, size, np.uint8)
    return Layout(consensus, *fields[:4], fields[4].astype(np.uint8), fields[0] >= 0)


def letters(pieces: Layout) -> list[bytes]:
    """What each piece copies."""
    found: list[Any] = []
    for k in np.flatnonzero(pieces.is_mapped):
        n = pieces.end[k] - pieces.begin[k]
        codes = pieces.consensus[pieces.position[k] : pieces.position[k] + n]
        assert codes.size == n
        found.append((3 - codes[::-1] if pieces.strand[k] else codes).tobytes())
    return found


def test_a_contig_that_runs_backwards_is_turned() -> None:
    forwards = [(i, 0, 10, 5 * i, i % 2) for i in range(20)]
    backwards = [(20 + i, 0, 10, 300 - 5 * i, i % 2) for i in range(30)]
    pieces = layout_of([*forwards, *backwards], 310)
    found, is_ahead = arrange_layout(pieces, pairs=False)
    assert is_ahead.all()
    assert (np.diff(found.position) >= 0).all()
    np.testing.assert_array_equal(found.position[:20], pieces.position[:20])
    np.testing.assert_array_equal(found.strand[20:], 1 - pieces.strand[20:])
    assert letters(found) == letters(pieces)


def test_contigs_come_in_the_order_of_their_first_lines() -> None:
    """Of those that lines begin in: one that has only later pieces is last."""
    later = [(i, 10, 20, 5 * i, 1) for i in range(20)]
    firsts = [(i, 0, 10, 200 + 5 * i, 0) for i in range(20)]
    others = [(20 + i, 0, 10, 110 + 4 * i, 0) for i in range(20)]
    rows = sorted([*later, *firsts, *others])
    pieces = layout_of(rows, 305)
    found, is_ahead = arrange_layout(pieces, pairs=False)
    assert is_ahead.sum() == 40
    assert (np.diff(found.position[is_ahead]) >= 0).all()
    assert found.position[~is_ahead].min() > found.position[is_ahead].max()
    assert letters(found) == letters(pieces)


def test_lines_in_no_order_are_left_alone() -> None:
    places = np.random.default_rng(1).permutation(60)
    pieces = layout_of([(i, 0, 10, place, 0) for i, place in enumerate(places)], 70)
    found, is_ahead = arrange_layout(pieces, pairs=False)
    assert found is pieces
    assert not is_ahead.any()


def test_of_mates_the_first_ones_count() -> None:
    mates = [(i, 0, 10, 5 * i if i % 2 == 0 else 300 - 5 * i, i % 2) for i in range(50)]
    pieces = layout_of([*mates, (50, 0, 300, 0, 0)], 310)
    _, is_ahead = arrange_layout(pieces, pairs=True)
    np.testing.assert_array_equal(is_ahead, pieces.line % 2 == 0)
    assert not arrange_layout(pieces, pairs=False)[1].any()


def test_the_first_mapped_piece_of_each_line_is_found() -> None:
    pieces = layout_of([(0, 0, 5, 0, 0), (0, 5, 9, 3, 0), (2, 0, 4, 0, 1), (2, 4, 8, 2, 0)], 9)
    pieces.is_mapped[2] = False
    np.testing.assert_array_equal(first_mapped(pieces), [True, False, False, True])


def test_contigs_end_where_no_piece_goes_on() -> None:
    pieces = layout_of([(0, 0, 5, 0, 0), (1, 0, 5, 4, 0), (2, 0, 6, 9, 1), (3, 0, 1, 16, 0)], 18)
    np.testing.assert_array_equal(contigs_of(pieces), [0, 9, 15, 16, 17])


@pytest.mark.parametrize("size", [1, 64, 5000])
def test_arranging_changes_no_letter(size: int) -> None:
    pieces = made(Recipe(8, size, 60, 40, 3, 0, 0, 0, True, False, False, 256)).pieces
    found = arranged_contigs(pieces, first_mapped(pieces))
    assert letters(found) == letters(pieces)
    assert not found.position[~found.is_mapped].any()


def test_few_lines_do_not_ascend() -> None:
    assert not ascends(np.array([], np.int64))
    assert not ascends(np.array([3]))
    assert ascends(np.array([3, 3]))
    assert not ascends(np.array([3, 2, 4, 5]))
