"""Lanes against their reference: cuts, ranks, lists, and the bytes of these; hostile heads."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from helpers.bwt_strings import callable_kernel, corner_cases, strings
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import bwt_lanes as reference

from gangsaw.codecs.bwt.lanes import lists, ranks
from gangsaw.codecs.bwt.lanes.cut import (
    RunLanes,
    divide_into_lanes,
    fresh_list,
    lane_count,
    list_words,
)
from gangsaw.codecs.bwt.lanes.estimate import gets_no_shorter
from gangsaw.codecs.core.errors import CorruptChunk

Octets = npt.NDArray[np.uint8]
CASES = corner_cases()
move_back, move_to_front = map(callable_kernel, (ranks.move_back, ranks.move_to_front))


def check(bwt: Octets, *, by_decisions: bool) -> RunLanes:
    lanes = divide_into_lanes(bwt, by_decisions=by_decisions)
    parts = reference.cut(bwt.tobytes(), by_decisions=by_decisions)
    assert [
        bwt[a:b].tobytes() for a, b in zip(lanes.bounds, lanes.bounds[1:], strict=False)
    ] == parts
    for k, part in enumerate(parts):
        own = slice(lanes.starts[k], lanes.starts[k + 1])
        found = zip(lanes.symbols[own], lanes.ranks[own], lanes.lengths[own], strict=True)
        assert list(found) == reference.runs_of(part)
        assert lanes.lists[k, : lanes.sizes[k]].tolist() == reference.first_list(part)
    return lanes


@pytest.mark.parametrize("by_decisions", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_lanes_are_those_of_the_reference(name: str, by_decisions: bool) -> None:
    check(CASES[name], by_decisions=by_decisions)


@settings(max_examples=60, deadline=None)
@given(strings(), st.booleans(), st.integers(1, 2000))
def test_any_string_has_the_lanes_of_the_reference(
    bwt: Octets, by_decisions: bool, times: int
) -> None:
    bwt = np.repeat(bwt, 1 + 40000 // (times + bwt.size))
    heads = lists.encode_heads(check(bwt, by_decisions=by_decisions))
    expected = reference.heads(reference.cut(bwt.tobytes(), by_decisions=by_decisions))
    assert heads.tobytes() == expected


@pytest.mark.parametrize("name", CASES)
def test_heads_come_back(name: str) -> None:
    lanes = divide_into_lanes(CASES[name], by_decisions=True)
    data = lists.encode_heads(lanes)
    heads = lists.decode_heads(np.append(data, np.uint8(7)), CASES[name].size)
    assert heads.end == data.size
    assert (heads.bounds == lanes.bounds).all()
    assert (heads.sizes == lanes.sizes).all()
    for found, given_list, size in zip(heads.lists, lanes.lists, lanes.sizes, strict=True):
        assert (found[:size] == given_list[:size]).all()
        assert sorted(found) == list(range(256))


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=80), st.sampled_from([1, 2, 300, 40000, 1 << 18]))
def test_any_bytes_are_heads_or_corrupt(data: bytes, n: int) -> None:
    check_heads(np.frombuffer(data, np.uint8), n)


@pytest.mark.parametrize("name", ["logs", "halves", "a long run among random"])
def test_heads_that_were_damaged_are_others_or_corrupt(name: str) -> None:
    rng = np.random.default_rng(5)
    data = lists.encode_heads(divide_into_lanes(CASES[name], by_decisions=False))
    for _ in range(40):
        wrong = data[: rng.integers(data.size + 1)].copy()
        if wrong.size:
            wrong[rng.integers(wrong.size)] ^= 1 << rng.integers(8)
        check_heads(wrong, CASES[name].size)


def check_heads(data: Octets, n: int) -> None:
    try:
        lengths, expected, end = reference.read_heads(data.tobytes(), n)
    except reference.Wrong:
        with pytest.raises(CorruptChunk):
            lists.decode_heads(data, n)
        return
    heads = lists.decode_heads(data, n)
    assert (np.diff(heads.bounds).tolist(), heads.end) == (lengths, end)
    found = [row[:size].tolist() for row, size in zip(heads.lists, heads.sizes, strict=True)]
    assert found == expected


@pytest.mark.parametrize("rank", [0, 1, 6, 7, 8, 9, 15, 16, 63, 64, 200, 254, 255])
def test_moves_in_words_are_moves_in_lists(rank: int) -> None:
    order = np.random.default_rng(rank).permutation(256).astype(np.uint8)
    words = list_words(order[None])
    move_back(words, np.uint64(0), np.uint64(rank))
    assert words.view(np.uint8).tolist() == reference.moved(order.tolist(), rank)
    symbol = np.uint64(order[0])
    words[0], found = move_to_front(words, words[0], symbol)
    assert found == rank
    assert words.view(np.uint8).tolist() == order.tolist()


def test_lanes_are_as_many_as_the_format_says() -> None:
    sizes = [1, 1 << 14, (1 << 15) - 1, 1 << 15, 1 << 17, 1 << 18, 1 << 23]
    assert [lane_count(n) for n in sizes] == [1, 1, 1, 2, 8, 16, 16]
    assert [reference.lane_count(n) for n in sizes] == [lane_count(n) for n in sizes]
    assert fresh_list()[0] == 0x0706050403020100


@pytest.mark.parametrize("n", [1 << 14, 60000, 1 << 17, 1 << 20])
def test_random_bytes_are_told_before_they_are_coded(n: int) -> None:
    rng = np.random.default_rng(n)
    assert gets_no_shorter(rng.integers(0, 256, n, np.uint8))
    assert not gets_no_shorter(rng.integers(0, 200, n, np.uint8))
    part = np.append(rng.integers(0, 256, n, np.uint8), np.zeros(n // 50, np.uint8))
    assert not gets_no_shorter(part)


@pytest.mark.parametrize("name", sorted(set(CASES) - {"random"}))
def test_what_gets_shorter_is_not_taken_for_random(name: str) -> None:
    assert not gets_no_shorter(CASES[name])
