"""Effort fast against its reference, on corner cases, and on hostile bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.bwt_strings import callable_kernel, corner_cases, strings
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import bwt_fast as reference
from reference.bwt_lanes import Wrong

from gangsaw.codecs.bwt.fast import cpu, merge, symbols
from gangsaw.codecs.bwt.fast.tables import decode_tables, encode_tables, tables_of
from gangsaw.codecs.core.errors import CorruptChunk

Octets = npt.NDArray[np.uint8]
CASES = corner_cases()
symbol_of, least_of, bits_below = map(
    callable_kernel, (symbols.symbol_of, symbols.least_of, symbols.bits_below)
)
SHORT = [name for name, bwt in CASES.items() if bwt.size < 100000]


def coded(bwt: Octets) -> Octets:
    """The bytes of a string, even if they are more."""
    parts = cpu.coded(bwt, 10 * bwt.size + 10000)
    assert parts is not None
    return np.concatenate(parts)


def decoded(data: Octets, n: int) -> bytes:
    out = np.full(n + 16, 173, np.uint8)
    cpu.decode(data, out[:n])
    assert (out[n:] == 173).all()
    return out[:n].tobytes()


@pytest.mark.parametrize("name", CASES)
def test_strings_come_back(name: str) -> None:
    assert decoded(coded(CASES[name]), CASES[name].size) == CASES[name].tobytes()


@pytest.mark.parametrize("name", SHORT)
def test_the_reference_reads_and_writes_the_same_bytes(name: str) -> None:
    """It takes the encoder's tables: the format leaves their choice open."""
    bwt = CASES[name][:6000] if name != "just two lanes" else CASES[name]
    data = coded(bwt).tobytes()
    found, tables = reference.read_all(data, bwt.size)
    assert found == bwt.tobytes()
    assert reference.encoded(found, tables) == data


@settings(max_examples=60, deadline=None)
@given(strings(), st.integers(1, 300))
def test_any_string_comes_back(bwt: Octets, times: int) -> None:
    bwt = np.repeat(bwt, times)
    assert decoded(coded(bwt), bwt.size) == bwt.tobytes()


@settings(max_examples=30, deadline=None)
@given(strings(60))
def test_any_string_has_the_bytes_of_the_reference(bwt: Octets) -> None:
    data = coded(bwt).tobytes()
    found, tables = reference.read_all(data, bwt.size)
    assert found == bwt.tobytes()
    assert reference.encoded(found, tables) == data


def test_what_gets_no_shorter_is_none() -> None:
    assert cpu.encode(CASES["random"], None) is None
    assert cpu.encode(CASES["one byte"], None) is None
    assert cpu.encode(np.random.default_rng(1).integers(0, 256, 1 << 18, np.uint8), None) is None


def test_bytes_are_put_where_there_is_room() -> None:
    room = np.zeros(CASES["text"].size, np.uint8)
    found = cpu.encode(CASES["text"], room)
    assert found is not None
    assert np.shares_memory(found, room)
    alone = cpu.encode(CASES["text"], room[:100])
    assert alone is not None
    assert not np.shares_memory(alone, room)
    assert (alone == found).all()
    assert (found == coded(CASES["text"])).all()


def check(data: Octets, n: int) -> None:
    """What is wrong by the specification is corrupt; the rest is what it says."""
    try:
        expected = reference.decoded(data.tobytes(), n)
    except Wrong:
        with pytest.raises(CorruptChunk):
            decoded(data, n)
        return
    assert decoded(data, n) == expected


@pytest.mark.parametrize("name", ["sorted and back", "text", "period 2", "just two lanes"])
def test_damaged_bytes_are_other_strings_or_corrupt(name: str) -> None:
    rng = np.random.default_rng(3)
    bwt = CASES[name][: 1 << 15 if name == "just two lanes" else 700]
    data = coded(bwt)
    for _ in range(8 if name == "just two lanes" else 60):
        wrong = data.copy()
        wrong[rng.integers(wrong.size, size=rng.integers(1, 3))] ^= np.uint8(1 << rng.integers(8))
        check(wrong, bwt.size)
    for size in rng.integers(0, data.size, 20):
        with pytest.raises(CorruptChunk):
            decoded(data[:size], bwt.size)
    with pytest.raises(CorruptChunk):
        decoded(np.append(data, [0, 0]).astype(np.uint8), bwt.size)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=120), st.sampled_from([1, 5, 700, 40000]))
def test_any_bytes_decode_or_are_corrupt(data: bytes, n: int) -> None:
    check(np.frombuffer(data, np.uint8), n)


@pytest.mark.parametrize("n", [1, 2, 699, 701, 40000])
def test_strings_of_another_length_are_corrupt(n: int) -> None:
    with pytest.raises(CorruptChunk):
        decoded(coded(CASES["text"][:700]), n)


def forged(monkeypatch: pytest.MonkeyPatch, bwt: bytes, change: Any) -> Octets:
    """Bytes as the reference writes them, of runs that were changed."""
    plain = reference.runs_of
    tables = reference.read_all(coded(np.frombuffer(bwt, np.uint8)).tobytes(), len(bwt))[1]
    full = reference.Tables(
        tables.table_of,
        [[[1] * n for _ in w] for n, w in zip((18, 48), tables.weights, strict=True)],
    )
    monkeypatch.setattr(reference, "runs_of", lambda lane: change(plain(lane)))
    return np.frombuffer(reference.encoded(bwt, full), np.uint8)


CHANGES = {
    "a rank beyond the list": lambda found: [found[0]._replace(rank=4), *found[1:]],
    "the highest rank": lambda found: [found[0]._replace(rank=255), *found[1:]],
    "a rank that the format has not": lambda found: [found[0]._replace(rank=256), *found[1:]],
    "a run beyond the lane": lambda found: [*found[:-1], found[-1]._replace(length=5)],
    "the longest run": lambda found: [found[0]._replace(length=1 << 23), *found[1:]],
    "runs that are missing": lambda found: found[:-1],
    "runs that are left": lambda found: [*found, found[-1]],
}


def test_unchanged_runs_are_no_forgery(monkeypatch: pytest.MonkeyPatch) -> None:
    bwt = b"aabaccab" * 3
    assert decoded(forged(monkeypatch, bwt, lambda found: found), len(bwt)) == bwt


@pytest.mark.parametrize("change", CHANGES)
def test_runs_that_are_wrong_are_corrupt(monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    bwt = b"aabaccab" * 3
    data = forged(monkeypatch, bwt, CHANGES[change])
    with pytest.raises(CorruptChunk):
        decoded(data, len(bwt))


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4095), st.integers(1, 1 << 20)), min_size=1), st.booleans()
)
def test_tables_come_back(found: list[tuple[int, int]], both: bool) -> None:
    counts = np.zeros((2, symbols.TOKENS), np.int64)
    for token, n in found:
        for kind in range(1 + both):
            if token % symbols.WIDTH < symbols.N_SYMBOLS[kind]:
                counts[kind, token] += n
    counts[counts.sum(axis=1) == 0, 0] = 1
    tables = tables_of(counts)
    data = encode_tables(tables)
    again, end = decode_tables(data)
    assert end == data.size
    assert (again.table_of == tables.table_of).all()
    assert (again.weights == tables.weights).all()
    for kind in range(2):  # every token that occurs has a weight
        rows = tables.weights[kind][tables.table_of[kind]]
        assert (rows.ravel()[counts[kind] > 0] > 0).all()


def test_many_different_contexts_share_the_most_tables() -> None:
    counts = np.zeros((symbols.CONTEXTS, 48), np.int64)
    counts[np.arange(48), np.arange(48)] = 1 << 20
    table_of = merge.merged(counts)
    assert table_of.max() == merge.MOST_TABLES - 1
    assert merge.merged(np.ones((symbols.CONTEXTS, 3), np.int64)).max() == 0


def test_symbols_are_those_of_the_reference() -> None:
    for v in [*range(300), 1 << 16, (1 << 22) - 1, 1 << 22, (1 << 23) - 1]:
        symbol, bits = reference.symbol_of(v)
        assert symbol_of(v) == symbol
        if symbol >= symbols.EXACT:
            assert (least_of(symbol), bits_below(symbol)) == (
                reference.LEAST[symbol][0],
                bits,
            )
