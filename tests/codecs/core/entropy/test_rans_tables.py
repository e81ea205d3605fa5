"""Tables of range asymmetric numeral systems: what is written is read, what is wrong refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.entropy import rans_tables

ROOM = 8  # bytes that kernels read and write beyond


def tables_of(*rows: dict[int, int], n_symbols: int = 108) -> Any:
    counts = np.zeros((len(rows), n_symbols), np.uint32)
    for row, frequencies in zip(counts, rows, strict=True):
        row[list(frequencies)] = list(frequencies.values())
    return counts


def written(counts: Any) -> Any:
    out = np.zeros(counts.size * 2 + 2 * ROOM, np.uint8)
    return out[: rans_tables.write_tables(counts, counts.shape[1], out)]


def read(data: Any, n_tables: int, n_symbols: int = 108) -> Any:
    """Tables, None where they are refused."""
    counts = np.full((n_tables, n_symbols), 77, np.uint32)
    padded = np.concatenate([data, np.full(ROOM, 255, np.uint8)])
    size = rans_tables.read_tables(padded, data.size, counts)
    return None if size < 0 else (counts, size)


@st.composite
def any_counts(draw: st.DrawFn) -> Any:
    n_symbols = draw(st.integers(1, rans_tables.STRIDE - 1))
    numbers = st.sampled_from([0, 0, 0, 1, 2, 1000]) | st.integers(0, 1 << 24)
    rows = st.lists(numbers, min_size=n_symbols, max_size=n_symbols)
    return np.array(draw(st.lists(rows, min_size=1, max_size=4)), np.uint32)


@given(any_counts())
def test_what_occurs_keeps_a_slot_and_all_are_given(counts: Any) -> None:
    scaled = counts.copy()
    rans_tables.normalise(scaled)
    np.testing.assert_array_equal(scaled > 0, counts > 0)
    used = counts.any(axis=1)
    np.testing.assert_array_equal(scaled.sum(axis=1), used * rans_tables.TOTAL)


def test_frequencies_are_in_proportion() -> None:
    counts = tables_of({3: 30, 5: 10, 9: 0}, {0: 1 << 31, 1: 1 << 31})
    rans_tables.normalise(counts)
    assert counts[0, 3] == 3072
    assert counts[0, 5] == 1024
    assert list(counts[1, :3]) == [2048, 2048, 0]


def test_many_rare_symbols_take_from_the_frequent_one() -> None:
    counts = tables_of({0: 1 << 20, **dict.fromkeys(range(1, 108), 1)})
    rans_tables.normalise(counts)
    assert counts[0, 0] == rans_tables.TOTAL - 107
    assert set(counts[0, 1:]) == {1}


@given(any_counts())
def test_tables_come_back(counts: Any) -> None:
    rans_tables.normalise(counts)
    data = written(counts)
    again, size = read(data, *counts.shape)
    np.testing.assert_array_equal(again, counts)
    assert size == data.size
    for stop in range(data.size):
        found = read(data[:stop], *counts.shape)
        assert found is None or found[1] <= stop


def test_the_bits_of_a_table() -> None:
    """A table that is not used, then one of two symbols: as SPEC.md of dense has them."""
    data = written(tables_of({}, {0: 4095, 2: 1}, n_symbols=3))
    bits = np.unpackbits(data, bitorder="little")
    expected = [0] + [1] + [1, *np.binary_repr(4094, 12)[::-1]] + [0] + [1] + [0] * 12
    assert list(bits[: len(expected)]) == [int(bit) for bit in expected]
    assert not bits[len(expected) :].any()


@pytest.mark.parametrize("frequencies", [{0: 4095}, {0: 4096, 1: 1}, {5: 1}])
def test_frequencies_that_do_not_fill_the_slots_are_refused(frequencies: dict[int, int]) -> None:
    assert read(written(tables_of(frequencies)), 1) is None


def test_tables_that_end_too_early_are_refused() -> None:
    data = written(tables_of(dict.fromkeys(range(64), 64)))
    for stop in range(data.size):
        assert read(data[:stop], 1) is None


def test_what_an_encoder_looks_up() -> None:
    frequencies = np.full(3 * rans_tables.STRIDE, 99, np.uint32)
    rans_tables.build_encoder_table(tables_of({2: 1, 7: 4095}, {}, {107: 4096}), frequencies)
    entries = frequencies.reshape(3, rans_tables.STRIDE)
    assert entries[0, 7] == 4095 | 1 << 16
    assert entries[0, 2] == 1
    assert entries[0, 6] & 0xFFFF == 0
    assert entries[2, 107] == 4096


def test_slots_are_symbols_in_ascending_order() -> None:
    slots = np.full(3 * rans_tables.TOTAL, 99, np.uint32)
    rans_tables.build_decoder_table(tables_of({2: 1, 7: 4095}, {}, {107: 4096}), slots)
    first, unused, last = slots.reshape(3, rans_tables.TOTAL)
    symbols, frequencies, numbers = slots & 255, (slots >> 8 & 4095) + 1, slots >> 20
    assert first[0] == 2
    assert set(symbols[1 : rans_tables.TOTAL]) == {7}
    assert set(frequencies[1 : rans_tables.TOTAL]) == {4095}
    np.testing.assert_array_equal(numbers[1 : rans_tables.TOTAL], np.arange(4095))
    assert set(unused & 255) == {0}, "no slot of a table that is not used leads out of bounds"
    assert set(last & 255) == {107}
    for whole in (unused, last):
        np.testing.assert_array_equal(whole >> 8 & 4095, 4095)
        np.testing.assert_array_equal(whole >> 20, np.arange(rans_tables.TOTAL))
