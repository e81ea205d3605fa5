"""Blocks of qualities: any bytes come back, wrong bytes are refused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from helpers.backends import encoded_block, fill_block
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.entropy.sparse_tables import read_stored_tables, stored_tables
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.vectors.gather import HAS_GATHER
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.quality import coding as quality
from gangsaw.codecs.reads.quality import syntax
from gangsaw.codecs.reads.quality.contexts import components_of
from gangsaw.codecs.reads.quality.tree import read_tree, stored_tree

Text = npt.NDArray[np.uint8]
SMALL = Params("quality", lane=64)


def encode(data: bytes, params: Params = SMALL) -> tuple[Text, npt.NDArray[np.int64]]:
    return encoded_block(quality.QUALITY, np.frombuffer(data, np.uint8), params)


def decode(payload: Text, bits: npt.NDArray[np.int64], n: int, params: Params = SMALL) -> bytes:
    out = np.full(n, 7, np.uint8)
    fill_block(quality.QUALITY, payload, bits, out, params)
    return out.tobytes()


def mode_of(data: bytes, params: Params = SMALL) -> int:
    """The mode of a block that comes back."""
    payload, bits = encode(data, params)
    assert decode(payload, bits, len(data), params) == data
    return int(payload[0] & 3)


def walk(n: int, letters: int, seed: int = 1) -> bytes:
    """A line that a context tells much of."""
    steps = np.random.default_rng(seed).choice([0, 0, 0, 1], n)
    return (255 - np.cumsum(steps) % letters).astype(np.uint8).tobytes()


lines = st.lists(st.binary(max_size=90) | st.text("FFF:,#", max_size=90).map(str.encode))


@given(lines, st.booleans(), st.integers(0, 99))
@settings(max_examples=150, deadline=None)
def test_any_lines_come_back(lines: list[bytes], is_open: bool, zeros: int) -> None:
    data = b"\n".join(lines) + (b"" if is_open else b"\n") + bytes(zeros)
    payload, bits = encode(data)
    assert payload.size <= len(data) + 64
    assert decode(payload, bits, len(data)) == data


@pytest.mark.parametrize(
    "data",
    [
        b"\n" * 3000,
        b"I" * 3000,
        (b"I" * 150 + b"\n") * 60,
        b"I\n" * 2000,
        b"I\n\n" * 1000,
        walk(20_000, 40),
        b"\n".join(walk(n, 40, n) for n in range(400)),
        b"\n".join(walk(n, 3, n) for n in (998, 999, 1000, 1001, 65_900)),
        b"\n".join(walk(97, 65, n) for n in range(90)),
        b"\n".join(walk(97, 129, n) for n in range(90)),
        b"\n".join(walk(300, 245, n) for n in range(90)),
    ],
)
def test_what_is_worth_coding_is_coded(data: bytes) -> None:
    assert mode_of(data) == 1
    assert mode_of(data, Params("quality")) == 1


def test_noise_of_all_bytes_is_stored() -> None:
    assert mode_of(np.random.default_rng(2).integers(0, 256, 9000, np.uint8).tobytes()) == 0


def test_windows_are_decoded_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups of any size write the same bytes, and read them."""
    data = b"\n".join(walk(n % 151, 40, n) for n in range(200))
    payload, bits = encode(data)
    monkeypatch.setattr(quality, "GROUP_BYTES", 64)
    for group in (1, 7):
        monkeypatch.setattr(quality, "LEAST_GROUP", group)
        again, again_bits = encode(data)
        assert again.tobytes() == payload.tobytes()
        assert (again_bits == bits).all()
        assert decode(payload, bits, len(data)) == data


@pytest.mark.skipif(not HAS_GATHER, reason="this processor has one decoder")
@pytest.mark.parametrize("lengths", [[36] * 900, range(400), [5, 2000, 900]])
def test_both_decoders_read_the_same(
    monkeypatch: pytest.MonkeyPatch, lengths: Sequence[int]
) -> None:
    data = b"\n".join(walk(n, 40, n) for n in lengths) + b"\n"
    payload, bits = encode(data)
    for windows in (1, 1 << 62):
        monkeypatch.setattr(quality, "LEAST_WIDE", windows)
        assert decode(payload, bits, len(data)) == data


DAMAGED = b"\n".join(walk(n, 5, n) for n in (36, 36, 0, 150, 36, 300, 1, 36, 36, 36))


@pytest.mark.parametrize("data", [DAMAGED, DAMAGED + b"\n", b"\n" * 400])
@pytest.mark.parametrize("windows", [1, 1 << 62] if HAS_GATHER else [1 << 62])
def test_damaged_bytes_are_refused_or_decoded(
    monkeypatch: pytest.MonkeyPatch, data: bytes, windows: int
) -> None:
    """Of any byte, with the checksum right: no crash, nothing outside of the block."""
    monkeypatch.setattr(quality, "LEAST_WIDE", windows)
    payload, bits = encode(data)
    rng, refused = np.random.default_rng(3), 0
    for i in range(payload.size):
        for value in (0, 255, *rng.integers(0, 256, 3)):
            wrong = payload.copy()
            wrong[i] = value
            try:
                assert len(decode(wrong, bits, len(data))) == len(data)
            except CorruptChunk:
                refused += 1
    assert refused > 3 * payload.size


def test_letters_without_a_table_are_refused() -> None:
    """A block of empty lines, of which one says that it has a letter."""
    assert encode(b"\n" * 400)[0][17] == 0
    lengths = encode(b"\n" * 50 + b"A" + b"\n" * 50)
    wrong = lengths[0][:17].tobytes() + b"\0" + lengths[0][19:].tobytes()
    lengths[1][0] -= 8
    with pytest.raises(CorruptChunk):
        decode(np.frombuffer(wrong, np.uint8), lengths[1], 101)


@pytest.mark.parametrize("missing", [syntax.NUMBER, syntax.SAME, syntax.LENGTH, syntax.MORE])
def test_a_missing_table_is_refused_where_it_is_used(missing: int) -> None:
    """At its first use, not after so many that the place in the lane overflows."""
    data = b"\n".join(walk(300 * (n % 3 == 0) + n % 2, 3) for n in range(300))
    payload, bits = encode(data)
    start = 17 + 1 + int(payload[17])
    tree, rest = read_tree(payload[start : int(bits[0]) // 8], components_of(int(payload[17])))
    frequencies, rest = read_stored_tables(rest, syntax.SYNTAX_TABLES + tree.n_tables)
    assert rest.size == 0
    frequencies[missing] = 0
    head = np.concatenate((payload[:start], stored_tree(tree), stored_tables(frequencies)))
    wrong = np.concatenate((head, payload[int(bits[0]) // 8 :]))
    bits[0] = 8 * head.size
    with pytest.raises(CorruptChunk):
        decode(wrong, bits, len(data))


def test_lanes_of_other_sizes_are_refused() -> None:
    payload, bits = encode(DAMAGED)
    moved = 0
    for i in range(bits.size - 1):
        wrong = bits.copy()
        wrong[i] += 8
        wrong[i + 1] -= 8
        if wrong.min() >= 0:
            with pytest.raises(CorruptChunk):
                decode(payload, wrong, len(DAMAGED))
            moved += 1
    assert moved > 3


@given(st.binary(max_size=400), st.integers(0, 600), st.integers(0, 40))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_refused_or_decoded(rest: bytes, used: int, n_lines: int) -> None:
    head = bytes([1]) + used.to_bytes(8, "little") + n_lines.to_bytes(8, "little")
    payload = np.frombuffer(head + rest, np.uint8)
    bits = np.zeros(2 + 10, np.int64)
    bits[0], bits[2] = 8 * (17 + len(rest) // 2), 8 * (len(rest) - len(rest) // 2)
    with pytest.raises(CorruptChunk):
        decode(payload, bits, 640)
