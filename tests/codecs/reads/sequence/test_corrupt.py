"""Damaged blocks of reads: CorruptChunk or other text, never a byte outside of the buffers."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from helpers.backends import fill_block
from helpers.fenced_memory import fenced, needs_fences
from helpers.read_layouts import Case, Recipe, made

from gangsaw.codecs.core.entropy.sparse_tables import (
    decoder_tables,
    normalised,
    read_stored_tables,
    stored_tables,
)
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.reads.payload import HEAD, Head
from gangsaw.codecs.reads.sequence import syntax
from gangsaw.codecs.reads.sequence.coding import SEQUENCE, decode_sequence_lanes, windows_of
from gangsaw.codecs.reads.sequence.decode import decode_windows
from gangsaw.codecs.reads.sequence.dictionary import SIZES, read_dictionary

RECIPE = Recipe(3, 600, 40, 60, 3, 0.03, 0.02, 0.1, False, False, False, 256)
RECIPES = {
    "kept": RECIPE,
    "sorted": RECIPE._replace(order=True, most_pieces=1),
    "pairs": RECIPE._replace(pairs=True),
    "open": RECIPE._replace(is_open=True, other=0),
    "small-lanes": RECIPE._replace(lane=64, longest=200),
}
every_case = pytest.mark.parametrize("name", RECIPES)


def decode(case: Case, data: Any, bits: Any) -> Any:
    out = np.empty_like(case.block)
    fill_block(SEQUENCE, data, bits, out, case.params)
    return out


@every_case
def test_a_lane_that_is_cut_is_refused(name: str) -> None:
    case = made(RECIPES[name])
    data, bits = case.payload()
    ends = np.cumsum(bits) // 8
    for lane in np.flatnonzero(bits):
        for n in (1, 2, bits[lane] // 8):
            shorter = bits.copy()
            shorter[lane] -= 8 * n
            cut = np.delete(data, np.arange(ends[lane] - n, ends[lane]))
            with pytest.raises(CorruptChunk):
                decode(case, cut, shorter)


@every_case
def test_a_lane_that_is_longer_is_refused(name: str) -> None:
    case = made(RECIPES[name])
    data, bits = case.payload()
    ends = np.cumsum(bits) // 8
    for lane in range(bits.size):
        longer = bits.copy()
        longer[lane] += 16
        with pytest.raises(CorruptChunk):
            decode(case, np.insert(data, ends[lane], [0, 0]), longer)


@needs_fences
@every_case
@pytest.mark.parametrize("at_end", [False, True])
def test_flipped_bits_never_touch_other_memory(name: str, at_end: bool) -> None:
    case = made(RECIPES[name])
    data, bits = case.payload()
    place, out = fenced(data, at_end), fenced(case.block, at_end)
    rng = np.random.default_rng(7)
    first = 8 * HEAD.size
    flips = [[bit] for bit in range(first + 8 * SIZES.size + 80)]
    flips += [list(rng.integers(0, 8 * data.size, n)) for n in (1, 2, 9) for _ in range(300)]
    for flip in flips:
        np.bitwise_xor.at(place, [bit // 8 for bit in flip], [1 << bit % 8 for bit in flip])
        with suppress(CorruptChunk):
            fill_block(SEQUENCE, place, bits, out, case.params)
        place[:] = data
    fill_block(SEQUENCE, place, bits, out, case.params)
    np.testing.assert_array_equal(out, case.block)


@needs_fences
@every_case
def test_lanes_of_noise_never_touch_other_memory(name: str) -> None:
    """All tables are there with all their symbols, so that a lane may say whatever is legal."""
    case = made(RECIPES[name])
    payload = case.unpacked()
    counts = np.ones((syntax.N_TABLES, 256), np.int64) * syntax.legal_symbols(0)
    counts[syntax.LEAD, 8:] = 0  # else most windows would end at once
    dictionary = read_dictionary(payload.rest, payload.shared, payload.head.used)
    dictionary = dictionary._replace(tables=decoder_tables(normalised(counts)))
    rng, out = np.random.default_rng(9), fenced(case.block, at_end=True)
    for _ in range(300):
        data = fenced(rng.integers(0, 256, payload.data.size, np.uint8), at_end=True)
        noise = payload._replace(data=data)
        windows = windows_of(noise, case.params.pairs, 0, payload.n_windows)
        decode_windows(windows, dictionary, out)


def test_windows_in_another_order_are_refused() -> None:
    case = made(RECIPE._replace(longest=20))
    payload = case.unpacked()
    out = np.empty_like(case.block)
    decode_sequence_lanes(payload, out, False)
    np.testing.assert_array_equal(out, case.block)
    turned = payload._replace(begins=payload.begins[::-1], ends=payload.ends[::-1])
    with pytest.raises(CorruptChunk):
        decode_sequence_lanes(turned, out, False)


@pytest.mark.parametrize(
    "change", [{"used": -1}, {"n_lines": -1}, {"n_lines": 1}, {"flags": 4}, {"flags": 8}]
)
def test_a_head_that_says_something_else_is_refused(change: dict[str, int]) -> None:
    case = made(RECIPE)
    payload = case.unpacked()
    fields = {name: getattr(payload.head, name) + by for name, by in change.items()}
    head: Head = payload.head._replace(**fields)
    with pytest.raises(CorruptChunk):
        decode_sequence_lanes(payload._replace(head=head), np.empty_like(case.block), False)


@pytest.mark.parametrize(
    ("sizes", "used"),
    [
        ((601, 0, 0), 600),
        ((1 << 40, 0, 0), 1 << 20),
        ((600, 601, 0), 1 << 20),
        ((600, 600, 0), 1 << 20),
        ((599, 0, 0), 1 << 20),
        ((600, 0, 255), 1 << 20),
    ],
)
def test_sizes_that_cannot_be_are_refused(sizes: tuple[int, int, int], used: int) -> None:
    payload = made(RECIPE._replace(strains=0)).unpacked()
    rest = payload.rest.copy()
    rest[: SIZES.size] = np.frombuffer(SIZES.pack(*sizes), np.uint8)
    with pytest.raises(CorruptChunk):
        read_dictionary(rest, payload.shared, used)


@pytest.mark.parametrize(
    ("table", "symbol"),
    [
        (syntax.REPEAT, 2),
        (syntax.KIND + 5, 3),
        (syntax.HOT, 100),
        (syntax.LETTER + 2, 2),
        (syntax.VARIANT + 35, 3),
        (syntax.RUN_BYTE, 10),
        (syntax.RUN_BYTE, 65),
        (syntax.TAIL, 4),
    ],
)
def test_symbols_that_cannot_be_are_refused(table: int, symbol: int) -> None:
    payload = made(RECIPE._replace(strains=0, longest=2000, n_lines=9)).unpacked()
    _, n_columns, n_hot = SIZES.unpack(payload.rest[: SIZES.size].tobytes())
    assert n_columns == n_hot == 0
    frequencies, left = read_stored_tables(payload.rest[SIZES.size :], syntax.N_TABLES)
    assert left.size == 0
    read_dictionary(payload.rest, payload.shared, payload.head.used)
    frequencies[table] = 0
    frequencies[table, symbol] = 4096
    rest = np.concatenate((payload.rest[: SIZES.size], stored_tables(frequencies)))
    with pytest.raises(CorruptChunk):
        read_dictionary(rest, payload.shared, payload.head.used)
