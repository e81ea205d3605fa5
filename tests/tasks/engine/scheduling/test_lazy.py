"""Sequences of batches that hold none of them."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
from helpers.job_tasks import Square
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.tasks.engine.scheduling.lazy import BatchRanges, BatchSupply, find_overlaps
from gangsaw.tasks.jobs.runs.arrays import ArrayBatch, ArrayBatches


@st.composite
def units(draw: st.DrawFn) -> BatchRanges:
    """Runs that do not touch each other, cut somewhere."""
    edges = draw(st.lists(st.integers(0, 60), unique=True, max_size=8).map(sorted))
    runs = tuple(range(a, b) for a, b in zip(edges[::2], edges[1::2], strict=False))
    return BatchRanges(runs, draw(st.integers(1, 9)))


@given(units())
def test_batches_are_what_lies_between_cuts(cut: BatchRanges) -> None:
    batches = list(cut)
    assert len(cut) == len(batches)
    assert [n for batch in batches for n in batch] == [n for run in cut.ranges for n in run]
    assert all(0 < len(batch) <= cut.step for batch in batches)
    assert all(batch[0] // cut.step == batch[-1] // cut.step for batch in batches)
    for a, b in pairwise(batches):
        assert a.stop < b.start or b.start % cut.step == 0


@given(units(), st.integers(-3, 70), st.integers(-3, 70))
def test_slices_are_those_of_a_list(cut: BatchRanges, start: int, stop: int) -> None:
    batches = list(cut)
    assert list(cut[start:stop]) == batches[start:stop]
    assert [cut[at] for at in range(-len(batches), len(batches))] == batches * 2
    for outside in (len(batches), -len(batches) - 1):
        with pytest.raises(IndexError):
            cut[outside]


@given(st.lists(st.integers(0, 4), max_size=6), st.integers(0, 24), st.integers(0, 24))
def test_parts_of_a_joined_sequence(lengths: list[int], start: int, stop: int) -> None:
    parts = [[(k, i) for i in range(n)] for k, n in enumerate(lengths)]
    whole = [item for part in parts for item in part]
    ends = [sum(lengths[: k + 1]) for k in range(len(lengths))]
    stop = min(stop, len(whole))
    found = list(find_overlaps(ends, start, stop))
    assert [item for k, a, b in found for item in parts[k][a:b]] == whole[start:stop]
    assert all(a < b for _, a, b in found)


def test_a_task_of_many_chunks_is_as_small_as_one_of_few() -> None:
    many = ArrayBatches(((3, Square(), BatchRanges((range(10**8),), 64)),))  # type: ignore[arg-type]
    assert len(many) == 10**8 // 64
    task = many[1000:2000]
    assert len(pickle.dumps(task)) < len(pickle.dumps(many[:1])) + 100
    assert next(iter(task)) == many[1000] == ArrayBatch(3, Square(), range(64_000, 64_064))  # type: ignore[arg-type]


def test_batches_of_several_arrays_come_in_their_order() -> None:
    a, b = BatchRanges((range(5),), 2), BatchRanges((range(4),), 3)
    both = ArrayBatches(((0, Square(), a), (1, Square(), ()), (7, Square(), b)))  # type: ignore[arg-type]
    found = [(item.array, item.batch) for item in both]
    assert found == [(0, one) for one in a] + [(7, one) for one in b]
    assert [(item.array, item.batch) for item in both[2:4]] == found[2:4]


@pytest.mark.parametrize("batches", [range(10), iter(range(10)), list(range(10))])
def test_batches_are_supplied_once(batches: range) -> None:
    supply = BatchSupply(batches)
    assert supply.total == (10 if hasattr(batches, "__len__") else None)
    taken = [supply.take(n) for n in (4, 4, 4, 4)]
    assert [list(some) for some in taken] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9], []]
