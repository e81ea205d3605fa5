"""Floats that are integers: every form in both directions, beside the slow reference."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import visibility as reference
from reference import visibility_integers

from gangsaw.codecs import Visibility
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility.dense.model.predict import PREDICTORS
from gangsaw.codecs.visibility.integers import choose, cpu
from gangsaw.codecs.visibility.integers.form import (
    BITS,
    HEAD,
    KIND,
    LONG,
    PALETTE,
    QUOTIENT,
    SHORT,
    Form,
    read_form,
)
from gangsaw.codecs.visibility.integers.predict import INSTEAD, available
from gangsaw.codecs.visibility.integers.sample import find_grid, find_signs, sampled_words
from gangsaw.codecs.visibility.lanes.table import Lanes, gather_block
from gangsaw.codecs.visibility.samples import decimals, patterns

SHAPES = [(40, 6), (7, 20, 5), (300, 1), (1, 1), (5, 3, 33)]
FLIPS = 80


def coded(block: Any, form: Form, predictor: int) -> bytes:
    """Return the payload of a block in a form with a predictor."""
    lanes = Lanes.of_block(block)
    table = np.empty(lanes.shape, f"u{block.itemsize}")
    gather_block(block, lanes, table)
    whole = choose.as_integers(table.ravel(), form)
    return np.concatenate(cpu.encode_whole(whole, predictor, lanes)).tobytes()


def check(block: Any, data: bytes) -> None:
    """Decode a payload, and have the slow reference decode it and write it again."""
    out = np.ones_like(block)
    cpu.decode_integers(np.frombuffer(data, np.uint8), out)
    assert out.tobytes() == block.tobytes()
    back, again = reference.recode_block(data, {}, block.shape, block.dtype)
    assert back.tobytes() == block.tobytes()
    assert again == data


def forms(dtype: str) -> list[Form]:
    """Return forms that some of the words of any block are of, and some not."""
    size = np.dtype(dtype).itemsize
    values = np.arange(40).astype(dtype).view(f"u{size}")
    found = [Form(PALETTE, SHORT, 3, values=values), Form(BITS, SHORT, 5, shift=8 * size - 10)]
    if size > 2:
        found += [Form(QUOTIENT, SHORT, 7, factor=5.0, divisor=100.0)]
    if size == LONG:
        found += [Form(QUOTIENT, LONG, -9, divisor=1e3), Form(BITS, LONG, 1 << 40, shift=12)]
    return found


def mixed(shape: tuple[int, ...], dtype: str) -> Any:
    """Decimals, whole numbers, and any bits."""
    rng = np.random.default_rng(4)
    parts = [decimals(shape, dtype, 1), decimals(shape, dtype, 0) % 40, patterns(shape, dtype)]
    out = np.empty(shape, dtype)
    choice = rng.choice(3, shape, p=(0.5, 0.4, 0.1))
    for i, part in enumerate(parts):
        out[choice == i] = part[choice == i]
    return out


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_forms_agree_with_the_reference(shape: tuple[int, ...], dtype: str) -> None:
    block = mixed(shape, dtype)
    for i, form in enumerate(forms(dtype)):
        check(block, coded(block, form, (3 * i + len(shape)) % len(PREDICTORS)))


@pytest.mark.parametrize("predictor", range(len(PREDICTORS)))
def test_predictors_agree_with_the_reference(predictor: int) -> None:
    block = mixed((9, 7, 4), "f4")
    check(block, coded(block, forms("f4")[2], predictor))


def test_a_predictor_gives_way_to_one_whose_neighbours_are_there() -> None:
    for code in range(len(PREDICTORS)):
        for time, frequency in np.ndindex(6, 6):
            found = available(code, time, frequency)
            assert all(b <= time and d <= frequency for b, d, _ in PREDICTORS[found])
            enough = all(b <= time and d <= frequency for b, d, _ in PREDICTORS[code])
            assert (found == code) == enough or code == 0
    assert available(6, 3, 0) == INSTEAD[6] == 5
    assert available(3, 0, 2) == 2


@given(
    st.lists(st.integers(-(10**7), 10**7), min_size=1, max_size=300),
    st.integers(0, 4),
    st.sampled_from(["f4", "f8"]),
    st.data(),
)
@settings(deadline=None, max_examples=40)
def test_any_decimals_come_back(
    numbers: list[int], digits: int, dtype: str, data: st.DataObject
) -> None:
    values = (np.array(numbers) / 10**digits).astype(dtype)
    odd = data.draw(st.lists(st.integers(0, len(numbers) - 1), max_size=9))
    words = values.view(f"u{values.itemsize}")
    words[odd] = data.draw(
        st.lists(
            st.integers(0, (1 << 8 * values.itemsize) - 1), min_size=len(odd), max_size=len(odd)
        )
    )
    codec = Visibility()
    out = np.empty_like(values)
    codec.decode_chunk(codec.encode_chunk(values), out)
    assert out.tobytes() == values.tobytes()


def walk(n: int, digits: int) -> npt.NDArray[Any]:
    return np.round(np.cumsum(np.random.default_rng(2).standard_normal(n)) + 50, digits)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_decimals_are_found_and_shorter(dtype: str) -> None:
    values = walk(20000, 2).astype(dtype)
    data = b"".join(part.tobytes() for part in cpu.encode_integers(values[:, None]))
    form, odd, _ = read_form(np.frombuffer(data, np.uint8), values.itemsize)
    assert (data[0], form.kind, form.factor, form.divisor) == (KIND, QUOTIENT, 1.0, 100.0)
    assert odd.apart.size == 0
    assert len(data) < 20000 * 10 / 8  # noise of one, in steps of 0.01, has 8.7 bits


def test_products_and_common_factors_are_found() -> None:
    numbers = np.random.default_rng(1).integers(-500, 500, 300)
    products = numbers.astype("f4") * np.float32(0.01)
    grid = find_grid(products.view("u4"))
    assert grid is not None
    assert (grid.factor, grid.divisor) == (float(np.float32(0.01)), 1.0)
    steps = find_grid((numbers * 0.5).view("u8"))
    assert steps is not None
    assert (steps.factor, steps.divisor) == (5.0, 10.0)


def test_noise_shows_no_signs() -> None:
    rng = np.random.default_rng(3)
    for dtype in ("f4", "f8"):
        words = sampled_words(rng.standard_normal((40, 50)).astype(dtype))
        assert not find_signs(words).any
    gaps = np.full((40, 50), np.nan)
    assert find_grid(sampled_words(gaps)) is None
    assert find_signs(sampled_words(gaps)).has_few


def test_two_frequent_odd_words_have_marks_and_others_are_apart() -> None:
    values = walk(4000, 1)
    values[::7], values[1::9], values[5], values[77] = np.nan, -0.0, np.pi, np.e
    data = np.concatenate(cpu.encode_integers(values[:, None]))
    _, odd, _ = read_form(data, 8)
    assert {*odd.marked.view("f8").astype(str)} == {"nan", "-0.0"}
    np.testing.assert_array_equal(odd.apart.view("f8"), [np.pi, np.e][::1])
    check(values[:, None], data.tobytes())


def test_complex_numbers_are_left_to_other_kinds() -> None:
    block = decimals((20, 10), "f4", 1).astype("c8")
    assert np.concatenate(cpu.encode_integers(block))[0] != KIND


def head(kind: int, n_marked: int, n_apart: int, *rest: bytes) -> bytes:
    return HEAD.pack(KIND, kind, n_marked, 0, n_apart) + b"".join(rest)


@pytest.mark.parametrize(
    "data",
    [
        head(3, 0, 0, bytes(40)),
        head(8, 0, 0, bytes(40)),
        head(BITS, 3, 0, bytes(40)),
        head(BITS | 4, 0, 0, bytes(40)),  # long integers of short words
        head(BITS, 0, 0, bytes([32]), bytes(40)),
        head(QUOTIENT, 0, 0, bytes(16), bytes(40)),
        head(QUOTIENT, 0, 0, np.array([1, np.nan]).tobytes(), bytes(40)),
        head(PALETTE, 0, 0, bytes(2), bytes(40)),
        head(PALETTE, 0, 0, (1025).to_bytes(2, "little"), bytes(5000)),
        head(BITS, 0, 1 << 30, bytes(1), bytes(40)),
        head(BITS, 0, 0, bytes(1)),
        bytes([KIND]),
    ],
)
def test_wrong_heads_are_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptChunk):
        cpu.decode_integers(np.frombuffer(data, np.uint8), np.empty((4, 5), "f4"))


def test_words_apart_have_to_be_as_many_as_there_are_places() -> None:
    values = walk(400, 1)
    values[5], values[77], values[80], values[90] = np.pi, np.e, np.inf, 1e-9
    data = np.concatenate(cpu.encode_integers(values[:, None]))
    form, odd, at = read_form(data, 8)
    assert odd.apart.size == 2
    for apart in (odd.apart[:1], np.append(odd.apart, odd.apart)):
        changed = cpu.write_form(form, odd._replace(apart=apart))
        with pytest.raises(CorruptChunk):
            cpu.decode_integers(np.concatenate([changed, data[at + 1 :]]), values[:, None].copy())


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_damage_never_crashes(dtype: str) -> None:
    block, rng = mixed((12, 9, 4), dtype), random.Random(5)
    for form in forms(dtype):
        data = bytearray(coded(block, form, 3))
        for end in rng.sample(range(len(data)), 20):
            with pytest.raises(CorruptChunk):
                cpu.decode_integers(np.frombuffer(bytes(data[:end]), np.uint8), block.copy())
        for _ in range(FLIPS):
            wrong = bytearray(data)
            wrong[rng.randrange(1, len(wrong))] ^= 1 << rng.randrange(8)
            try:
                cpu.decode_integers(np.frombuffer(bytes(wrong), np.uint8), block.copy())
            except CorruptChunk:
                continue


def test_the_reference_reads_no_other_kind_as_integers() -> None:
    assert visibility_integers.KIND == KIND
