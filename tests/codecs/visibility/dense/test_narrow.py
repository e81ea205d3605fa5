"""Doubles that hold float32s: coded as these, bit for bit, on both sides."""

from __future__ import annotations

import random
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.backends import encoded
from helpers.dense_blocks import MAKERS, integers, mixed, near_grid, noise, ramp
from helpers.pairwise import pairwise
from helpers.visibility_on_gpu import (
    check,
    check_memory,
    check_views,
    check_wrong,
    leave_integers,
)
from hypothesis import given
from hypothesis import strategies as st
from reference import visibility as reference

from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.visibility import cpu
from gangsaw.codecs.visibility.dense import cpu as dense
from gangsaw.codecs.visibility.dense import narrow as dense_narrow
from gangsaw.codecs.visibility.params import Params
from gangsaw.codecs.visibility.samples import patterns

DENSE = Params()
SHAPES = [(9, 5, 3), (70, 1, 3), (3, 3, 33), (1, 1), (34, 4, 2, 9)]
LOST = (1 << 29) - 1


@pytest.fixture(autouse=True)
def no_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real floats are no integers here."""
    leave_integers(monkeypatch)


def widened(block: Any) -> Any:
    """Return the doubles that floats stand for, moved by fields of bits: NaNs and all."""
    words = np.ascontiguousarray(block).view(np.uint32)
    wide = np.empty(words.size, np.uint64)
    dense_narrow.widen_words(words.ravel(), wide)
    kind = {"c": "c16", "f": "f8"}[block.dtype.kind]
    return wide.view(kind).reshape(block.shape)


def narrowed(words: npt.ArrayLike) -> Any:
    """Return uint32 words, None where some do not fit."""
    wide = np.array(words, np.uint64)
    out = np.empty(wide.size, np.uint32)
    return out if dense_narrow.narrow_words(wide, out) else None


@given(st.lists(st.integers(0, (1 << 32) - 1), min_size=1, max_size=40))
def test_every_word_comes_back_and_is_its_number(words: list[int]) -> None:
    narrow = np.array(words, np.uint32)
    wide = np.empty(narrow.size, np.uint64)
    dense_narrow.widen_words(narrow, wide)
    assert wide.tolist() == [reference.widened(word) for word in words]
    np.testing.assert_array_equal(narrowed(wide), narrow)
    floats, doubles = narrow.view("f4"), wide.view("f8")
    usual = np.isfinite(floats) & ((np.abs(floats) >= np.finfo("f4").tiny) | (floats == 0))
    np.testing.assert_array_equal(doubles[usual], floats[usual].astype("f8"))
    np.testing.assert_array_equal(np.isnan(doubles), np.isnan(floats))


def test_which_doubles_fit() -> None:
    """All exponents, the bits around those that are lost; no other word is taken for one."""
    for field in range(2048):
        for fraction in (0, 1, LOST, LOST + 1, (1 << 52) - 1, (1 << 52) - 1 - LOST):
            word = field << 52 | fraction
            found = narrowed([word])
            has_field = field in (0, 2047) or 896 < field < 1151
            assert (found is not None) == (has_field and fraction & LOST == 0)
            assert found is None or reference.widened(int(found[0])) == word


@pytest.mark.parametrize("place", [0, 1023, 1024, 3000, 4999])
def test_one_word_that_does_not_fit_is_enough(place: int) -> None:
    words = np.full(5000, 0x3FF0_0000_0000_0000, np.uint64)
    assert narrowed(words) is not None
    words[place] += np.uint64(1)
    assert narrowed(words) is None


@pytest.mark.parametrize(("make", "shape", "dtype"), pairwise(MAKERS, SHAPES, ["f4", "c8"]))
def test_payloads_are_those_of_floats(make: Any, shape: tuple[int, ...], dtype: str) -> None:
    block = make(shape, dtype)
    data, plain = encoded(cpu, [widened(block)], DENSE).payloads[0], dense.encode_dense(block)
    if plain.size > 2 * block.nbytes:
        assert data[0] == 0
    else:
        assert data[0] == dense_narrow.KIND
        np.testing.assert_array_equal(data[1:], plain[1:])


@pytest.mark.parametrize("make", [mixed, near_grid, integers])
def test_payloads_are_the_references(make: Any) -> None:
    block = widened(make((9, 4, 20), "f4"))
    data = encoded(cpu, [block], DENSE).payloads[0].tobytes()
    words, extents, width = reference.to_words(block)
    assert data[0] == reference.NARROWED
    assert reference.decode(data, extents, width) == words
    assert reference.encode_as(data, words, extents, width, {}) == data


def test_other_doubles_are_coded_as_doubles() -> None:
    block = widened(ramp((9, 5, 8), "f4"))
    assert encoded(cpu, [block], DENSE).payloads[0][0] == dense_narrow.KIND
    block[4, 2, 3] *= 1 + 2.0**-40
    assert encoded(cpu, [block], DENSE).payloads[0][0] == dense.KIND


def test_the_order_of_bytes_and_strides_do_not_matter() -> None:
    block = widened(mixed((12, 7, 9), "c8"))
    data = encoded(cpu, [block], DENSE).payloads[0]
    foreign = np.zeros((12, 14, 18), ">c16")[:, ::2, ::2]
    foreign[...] = block
    np.testing.assert_array_equal(encoded(cpu, [foreign], DENSE).payloads[0], data)
    foreign[...] = 0
    cpu.BACKEND.decode(Runs((data,)), [foreign], DENSE)
    assert foreign.astype("c16").tobytes() == block.tobytes()


@pytest.mark.parametrize("dtype", ["f2", "f4", "c8"])
def test_arrays_without_doubles_have_no_such_blocks(cupy: ModuleType, dtype: str) -> None:
    data = encoded(cpu, [widened(ramp((9, 5, 8), "f4"))], DENSE).payloads[0]
    assert "narrowed doubles" in check_wrong(cupy, data, np.zeros((9, 5, 8), dtype))


def test_truncated_and_flipped_payloads(cupy: ModuleType) -> None:
    block = widened(mixed((5, 3, 35), "f4"))
    data, rng = encoded(cpu, [block], DENSE).payloads[0], random.Random(1)
    for size in range(1, data.size, 41):
        assert check_wrong(cupy, data[:size], block) != "decoded"
    for _ in range(60):
        wrong = data.copy()
        wrong[rng.randrange(1, data.size)] ^= 1 << rng.randrange(8)
        check_wrong(cupy, wrong, block)


@pytest.mark.parametrize("dtype", ["f4", "c8"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_both_sides_write_the_same(cupy: ModuleType, shape: tuple[int, ...], dtype: str) -> None:
    """Blocks that fit among others, which go another way."""
    makers = [ramp, integers, mixed, near_grid, noise]
    blocks = [widened(make(shape, dtype)) for make in makers]
    others = [make(shape, blocks[0].dtype.str) for make in (noise, patterns)]
    coded = check(cupy, [blocks[0], others[0], *blocks[1:], others[1]], DENSE)
    kinds = [int(part[0]) for part in coded.payloads]
    assert kinds[1] != dense_narrow.KIND
    assert kinds[-1] == 0
    assert dense_narrow.KIND in kinds or shape == (1, 1)


@pytest.mark.parametrize("dtype", ["<c16", ">c16", ">f8"])
def test_views(cupy: ModuleType, dtype: str) -> None:
    host = ramp((14, 9, 13, 6), "f8").astype(dtype)
    check_views(cupy, host, DENSE, dense_narrow.KIND)


SMALL = [(1, 1, 4000), (2000, 1, 2), (60, 9, 16), (1, 1)]


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        *zip((mixed, patterns) * 2, SMALL, strict=True),
        # so large that what is promised for tables does not hide a copy forgotten
        pytest.param(patterns, (32, 512, 32), marks=pytest.mark.full),
    ],
)
def test_the_memory_of_a_block_is_enough(
    cupy: ModuleType, make: Any, shape: tuple[int, ...]
) -> None:
    check_memory(cupy, widened(make(shape, "c8")), DENSE)
