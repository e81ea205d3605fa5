"""Ragged arrays behave like lists of arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.ragged import RaggedArray, offsets_of

ROWS = st.lists(st.binary(max_size=9), max_size=9)
LEADS = st.integers(0, 3)


def ragged(rows: list[bytes], lead: int = 0) -> RaggedArray:
    """Return rows with `lead` bytes before the first, and as many after the last."""
    data = np.frombuffer(b"-" * lead + b"".join(rows) + b"-" * lead, np.uint8)
    return RaggedArray(data, lead + offsets_of([len(row) for row in rows]))


def listed(rows: RaggedArray) -> list[bytes]:
    return [row.tobytes() for row in rows]


@given(ROWS, LEADS)
def test_rows_are_those_of_a_list(rows: list[bytes], lead: int) -> None:
    own = ragged(rows, lead)
    assert listed(own) == listed(RaggedArray.from_rows(list(own))) == rows
    assert own.lengths.tolist() == list(map(len, rows))
    assert own.offsets.dtype == own.lengths.dtype == np.int64
    assert listed(own.reverse_rows()) == [row[::-1] for row in rows]
    assert own.reverse_rows().data.size == sum(map(len, rows))


@given(ROWS, LEADS, st.data())
def test_rows_are_taken_by_indices_and_by_a_mask(
    rows: list[bytes], lead: int, data: st.DataObject
) -> None:
    own, n = ragged(rows, lead), len(rows)
    which = data.draw(st.lists(st.integers(-n, n - 1), max_size=12)) if n else []
    assert listed(own.take(np.array(which, np.int64))) == [rows[i] for i in which]
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.bool_)
    assert listed(own.take(mask)) == [rows[i] for i in np.flatnonzero(mask)]


@given(st.lists(ROWS, min_size=1, max_size=4), LEADS)
def test_arrays_are_concatenated(parts: list[list[bytes]], lead: int) -> None:
    joined = RaggedArray.concatenate([ragged(rows, lead) for rows in parts])
    assert listed(joined) == [row for rows in parts for row in rows]
    assert (joined.offsets[0], joined.offsets[-1]) == (0, joined.data.size)


@given(ROWS, LEADS, st.integers(1, 3))
def test_consecutive_rows_are_joined(rows: list[bytes], lead: int, k: int) -> None:
    rows = rows[: len(rows) // k * k]
    joined = ragged(rows, lead).join_rows(k)
    assert listed(joined) == [b"".join(rows[i : i + k]) for i in range(0, len(rows), k)]
    assert joined.offsets.flags.c_contiguous  # other libraries take its memory


@given(st.binary(min_size=1, max_size=30), st.lists(st.tuples(*[st.integers(0, 30)] * 2)))
def test_ranges_are_gathered(text: bytes, pairs: list[tuple[int, int]]) -> None:
    ranges = [sorted(min(at, len(text)) for at in pair) for pair in pairs]
    begins, ends = np.array(ranges, np.int64).reshape(-1, 2).T
    found = RaggedArray.gather(np.frombuffer(text, np.uint8), begins, ends)
    assert listed(found) == [text[a:b] for a, b in ranges]


def test_a_slice_with_gaps_is_refused() -> None:
    with pytest.raises(AssertionError, match="follow each other"):
        ragged([b"a", b"b", b"c"])[::2]
