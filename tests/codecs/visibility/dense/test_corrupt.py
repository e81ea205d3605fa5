"""Damaged blocks of the kind "dense": CorruptChunk or other words, never a byte outside buffers."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from helpers.dense_blocks import as_block, mixed, near_grid, ramp
from helpers.fenced_memory import fenced, needs_fences
from helpers.visibility_words import any_words, empty_table
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility.dense import cpu as dense
from gangsaw.codecs.visibility.lanes.table import Lanes, gather_block

every_width = pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
every_block = pytest.mark.parametrize("make", [ramp, mixed, near_grid], ids=lambda f: f.__name__)
MEANS, GRID, VALUE, START, N_USED, BYTES, USED = 1, 2, 3, 5, 9, 10, 14  # places in a head


@pytest.mark.quick(cases=1)
@every_width
@every_block
def test_every_truncation_is_refused(make: Any, dtype: str) -> None:
    block = make((4, 3, 11), dtype)
    data = dense.encode_dense(block)
    for wrong in [np.append(data, np.zeros(n, np.uint8)) for n in (1, 2)]:
        with pytest.raises(CorruptChunk):
            dense.decode_dense(wrong, np.empty_like(block))
    for size in range(1, data.size):
        with pytest.raises(CorruptChunk):
            dense.decode_dense(data[:size], np.empty_like(block))


@needs_fences
@every_width
@every_block
def test_flipped_bits_never_touch_other_memory(make: Any, dtype: str) -> None:
    """Every bit of the head, and many behind it, alone and several at once."""
    block = make((5, 3, 35), dtype)
    data = dense.encode_dense(block)
    rng = np.random.default_rng(1)
    flips = [[bit] for bit in [*range(8, 300), *rng.integers(300, 8 * data.size, 200)]]
    flips += [list(rng.integers(8, 8 * data.size, n)) for n in (2, 5, 20) for _ in range(60)]
    table, lanes = empty_table(block), Lanes.of_block(block)
    gather_block(block, lanes, table)
    for at_end in (False, True):
        place, out = fenced(data, at_end), fenced(np.zeros_like(table), at_end)
        dense.decode_table(place, out, lanes)
        np.testing.assert_array_equal(out, table)
        for bits in flips:
            np.bitwise_xor.at(place, [bit // 8 for bit in bits], [1 << bit % 8 for bit in bits])
            with suppress(CorruptChunk):
                dense.decode_table(place, out, lanes)
            place[:] = data


@given(any_words(), st.binary(max_size=200), st.booleans())
@settings(max_examples=200)
def test_any_bytes_are_refused_or_decoded(words: Any, data: bytes, has_head: bool) -> None:
    block = as_block(words)
    octets = np.frombuffer(data, np.uint8)
    if has_head:
        octets = np.concatenate([dense.encode_dense(block)[: USED + 1], octets])
    with suppress(CorruptChunk):
        dense.decode_dense(octets, block)


@pytest.mark.parametrize(
    ("place", "octets", "reason"),
    [
        (MEANS, [5], "head"),
        (GRID, [3], "head"),
        (GRID, [8], "head"),
        (GRID, [17], "head"),
        (GRID, [2, 24, 0], "head"),
        (GRID, [2, 255, 255], "head"),
        (VALUE, [0, 8], "head"),
        (VALUE, [0, 248], "head"),
        (START, [0, 8], "head"),
        (START + 2, [0, 248], "head"),
        (N_USED, [0], "head"),
        (N_USED, [16], "head"),
        (BYTES, [255, 255, 255, 255], "lengths"),
        (USED, [15], "predictor"),
    ],
)
def test_what_a_head_must_not_say(place: int, octets: list[int], reason: str) -> None:
    block = np.arange(60, dtype="f4").reshape(3, 4, 5) ** 2
    data = dense.encode_dense(block)
    data[place : place + len(octets)] = octets
    with pytest.raises(CorruptChunk, match=reason):
        dense.decode_dense(data, np.empty_like(block))


def test_an_index_beyond_the_predictors_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def three(words: Any, lanes: Any, *_: Any) -> Any:
        return np.resize(np.arange(3, dtype=np.uint8), lanes.n_strips * 32)

    monkeypatch.setattr(dense, "choose_predictors", three)
    block = ramp((9, 4, 40), "f4")
    data = dense.encode_dense(block)
    assert data[N_USED] == 3
    data[USED + 3] |= 3
    with pytest.raises(CorruptChunk, match="predictor"):
        dense.decode_dense(data, np.empty_like(block))


def test_halves_have_no_predictions() -> None:
    block = np.arange(60, dtype="f2").reshape(3, 4, 5)
    data = dense.encode_dense(block)
    data[USED] = 1
    with pytest.raises(CorruptChunk, match="predictor"):
        dense.decode_dense(data, np.empty_like(block))


@pytest.mark.parametrize("lane", [0, 5])
def test_states_must_end_where_a_writer_begins(lane: int) -> None:
    """Those of lanes without values, too."""
    block = np.full((1, 1), 1.5, "f4")
    data = dense.encode_dense(block)
    n_bits = int(data[BYTES : BYTES + 4].view("<u4")[0])
    states = data[data.size - n_bits - 128 : data.size - n_bits].view("<u4")
    assert set(states) == {1 << 16}, "of a table of one symbol, and so no stream"
    states[lane] += 1
    with pytest.raises(CorruptChunk, match="symbols"):
        dense.decode_dense(data, np.empty_like(block))
