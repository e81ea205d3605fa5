"""Tables and the coder of lanes: what goes in comes out, and false lanes are read within bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.fenced_memory import fenced
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.entropy import rans_lanes
from gangsaw.codecs.core.entropy.sparse_tables import (
    decoder_tables,
    normalised,
    read_stored_tables,
    stored_tables,
)
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.jit import jit

HEAD = 4  # bytes before a lane: in a payload there are more
TABLES = 5  # of which the last one is never there


@jit
def read_lane(tables: Any, kinds: Any, data: Any, out: Any) -> Any:
    x, at = rans_lanes.begin_lane(data, HEAD, data.size)
    for i in range(kinds.size):
        if kinds[i] >= rans_lanes.RAW:
            out[i], x, at = rans_lanes.get_raw(kinds[i] - rans_lanes.RAW, x, at, data, data.size)
        else:
            out[i], x, at = rans_lanes.get(tables, kinds[i], x, at, data, data.size)
    return rans_lanes.is_whole(x, at, data.size)


def tokens(seed: int, n: int) -> rans_lanes.Tokens:
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, TABLES - 1, n).astype(np.uint16)
    symbols = np.minimum(rng.geometric(0.3, n) * (kinds + 1), 255).astype(np.uint16)
    is_raw = rng.random(n) < 0.2
    kinds[is_raw], symbols[is_raw] = rans_lanes.RAW + 7, rng.integers(0, 128, int(is_raw.sum()))
    return rans_lanes.Tokens(kinds, symbols)


def behind_head(lane: Any) -> Any:
    return np.concatenate((np.zeros(HEAD, np.uint8), lane))


def coded(some: rans_lanes.Tokens) -> tuple[Any, Any]:
    counts = np.zeros((TABLES, 256), np.int64)
    rans_lanes.count_tokens(some.tables, some.symbols, counts)
    frequencies = normalised(counts)
    lanes, _ = rans_lanes.encoded_lanes(some, np.array([some.tables.size]), frequencies)
    return lanes, frequencies


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 999), n=st.integers(1, 400))
def test_a_lane_comes_back(seed: int, n: int) -> None:
    some = tokens(seed, n)
    lane, frequencies = coded(some)
    out = np.zeros(n, np.int64)
    assert read_lane(decoder_tables(frequencies), some.tables, fenced(behind_head(lane), True), out)
    np.testing.assert_array_equal(out, some.symbols)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 999), cut=st.integers(0, 60))
def test_a_false_lane_is_told_and_read_within_bounds(seed: int, cut: int) -> None:
    """Also where many symbols are of a table that is not there."""
    rng = np.random.default_rng(seed)
    some = tokens(seed, 300)
    lane, frequencies = coded(some)
    out = np.zeros(300, np.int64)
    kinds = np.where(rng.random(300) < 0.3, TABLES - 1, some.tables).astype(np.uint16)
    tables = decoder_tables(frequencies)
    for false in (lane[:cut], rng.integers(0, 256, cut, np.uint8)):
        for at_end in (False, True):
            assert not read_lane(tables, kinds, fenced(behind_head(false), at_end), out)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_tables_sum_to_4096_and_come_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 6)), 256)
    counts = rng.integers(0, 10 ** int(rng.integers(1, 12)), shape) * (rng.random(shape) < 0.3)
    frequencies = normalised(counts.astype(np.int64))
    used = counts.any(axis=1)
    assert (frequencies.sum(axis=1) == 4096 * used).all()
    assert ((frequencies > 0) == (counts > 0)).all()
    data = stored_tables(frequencies)
    again, rest = read_stored_tables(np.append(data, [7]).astype(np.uint8), shape[0])
    np.testing.assert_array_equal(again, frequencies)
    assert rest.tolist() == [7]


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=80), n=st.integers(1, 20))
def test_any_bytes_are_tables_or_refused(data: bytes, n: int) -> None:
    try:
        frequencies, _ = read_stored_tables(np.frombuffer(data, np.uint8), n)
    except CorruptChunk:
        return
    assert set(frequencies.sum(axis=1).tolist()) <= {0, 4096}


def test_tables_that_are_cut_off_are_refused() -> None:
    data = stored_tables(normalised(np.arange(512).reshape(2, 256)))
    for n in range(data.size):
        with pytest.raises(CorruptChunk, match="tables"):
            read_stored_tables(data[:n], 2)
