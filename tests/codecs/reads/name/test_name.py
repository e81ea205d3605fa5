"""Names: any bytes come back, and what is regular costs little."""

from __future__ import annotations

import uuid
from typing import Any

import numpy as np
import pytest
from helpers.backends import encoded_block, fill_block
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.codecs.reads.lines import find_lines
from gangsaw.codecs.reads.name import encode
from gangsaw.codecs.reads.name.coding import NAME
from gangsaw.codecs.reads.name.contexts import TABLES_OF
from gangsaw.codecs.reads.name.model import read_modes
from gangsaw.codecs.reads.name.streams import MOST_TABLES
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.payload import CODED

PARAMS = Params(kind="name", lane=64)


def coded(text: bytes, params: Params = PARAMS) -> bytes:
    """Encode, decode and compare; return the payload."""
    block = np.frombuffer(text, np.uint8)
    data, lane_bits = encoded_block(NAME, block, params)
    out = np.full(block.size, 99, np.uint8)
    fill_block(NAME, data, lane_bits, out, params)
    assert out.tobytes() == text
    return data.tobytes()


def regular(n: int) -> bytes:
    """Lines that are coded, not stored, so that what follows them is as well."""
    return b"".join(b"@RUN:1:FC7:%d:%d\n" % (1101 + i // 30, 1000 + 7 * i) for i in range(n))


def numbers() -> st.SearchStrategy[bytes]:
    plain = st.integers(0, 10**20).map(lambda value: b"%d" % value)
    small = st.integers(0, 300).map(lambda value: b"%d" % value)
    padded = st.tuples(st.integers(0, 70000), st.integers(1, 9)).map(lambda x: b"%0*d" % x[::-1])
    return st.one_of(plain, small, padded)


def words() -> st.SearchStrategy[bytes]:
    hexadecimal = st.binary(min_size=3, max_size=9).map(lambda value: value.hex().encode())
    ids = st.uuids().map(lambda value: str(value).encode())
    return st.one_of(
        hexadecimal, hexadecimal.map(bytes.upper), ids, ids.map(bytes.upper), st.binary(max_size=5)
    )


def lines() -> st.SearchStrategy[bytes]:
    parts = st.one_of(numbers(), words(), st.sampled_from([b":", b"_", b"/1", b"-", b"abc"]))
    return st.lists(parts, max_size=12).map(b"".join)


@given(st.binary(max_size=600), st.booleans())
@settings(max_examples=200, deadline=None)
def test_any_bytes_come_back(text: bytes, after_names: bool) -> None:
    coded(regular(200) + text if after_names else text)


@given(
    st.lists(lines(), max_size=30), st.booleans(), st.integers(0, 70), st.sampled_from([64, 1024])
)
@settings(max_examples=200, deadline=None)
def test_any_lines_come_back(parts: list[bytes], is_open: bool, zeros: int, lane: int) -> None:
    text = b"\n".join([*parts, *parts[::-1]]) + b"\n" * (not is_open) + bytes(zeros)
    coded(regular(200) + text, Params(kind="name", lane=lane))
    coded(text, Params(kind="name", lane=lane))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n",
        bytes(100),
        b"\n" * 1000,
        b"a" * 5000,
        b"7" * 5000 + b"\n",
        b"1:" * 3000 + b"\n" + b"1:" * 3000,
        b"0123456789abcdef" * 100 + b"\n",
        b"x\0\n" * 50 + b"x\0",
        bytes(range(256)) * 8,
    ],
    ids=lambda text: text[:8].hex(),
)
def test_odd_texts_come_back(text: bytes) -> None:
    coded(text)
    coded(regular(300) + text)


def bytes_each(names: list[bytes]) -> float:
    data = coded(b"".join(name + b"\n" for name in names), Params(kind="name"))
    assert data[0] & 3 == CODED
    return len(data) / len(names)


def test_a_counter_costs_next_to_nothing() -> None:
    assert bytes_each([b"run.%d %d/1" % (i, i) for i in range(20000)]) < 0.05


def test_a_mate_costs_next_to_nothing() -> None:
    rng = np.random.default_rng(1)
    places = rng.integers(1000, 30000, 10000)
    singles = bytes_each([b"M:1:%d/1" % x for x in places])
    assert bytes_each([b"M:1:%d/%d" % (x, mate) for x in places for mate in (1, 2)]) < singles / 1.9


def test_what_stands_twice_in_a_line_costs_once() -> None:
    numbers = np.random.default_rng(2).permutation(1 << 16)[:20000]
    once = bytes_each([b"run.%d" % i for i in numbers])
    assert bytes_each([b"run.%d %d length" % (i, i) for i in numbers]) < once + 0.05


@pytest.mark.parametrize("change", [bytes.lower, bytes.upper])
def test_a_uuid_costs_its_random_bits(change: Any) -> None:
    rng = np.random.default_rng(3)
    ids = [str(uuid.UUID(bytes=rng.bytes(16), version=4)).encode() for _ in range(4000)]
    assert bytes_each([change(name) + b" ch=1" for name in ids]) < 122 / 8 + 0.15


def test_numbers_that_grow_are_differences() -> None:
    rng = np.random.default_rng(4)
    steps = np.cumsum(rng.integers(0, 1000, 20000))
    assert bytes_each([b"x%09d" % value for value in steps]) < 1.4


def test_tables_are_bounded() -> None:
    """However many columns there are whose low byte hangs on the high one."""
    high = np.random.default_rng(5).integers(1, 256, (5000, 12))
    rows = high << 8 | high * 37 & 255
    names = [b":".join(b"%d" % value for value in row) for row in rows]
    block = np.frombuffer(b"\n".join(names), np.uint8)
    result = encode.encode_names(find_lines(block, 1 << 12), pairs=False)
    assert result is not None
    modes, _ = read_modes(result.head)
    n_tables = TABLES_OF[modes].sum()
    assert MOST_TABLES - 256 < n_tables <= MOST_TABLES
    coded(block.tobytes())


def test_pilots_do_not_change_what_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    for pilots in (1, 3):
        monkeypatch.setattr(encode, "PILOTS", pilots)
        coded(regular(500) + b"z9:%d\n" % 7 + regular(500)[::-1])
