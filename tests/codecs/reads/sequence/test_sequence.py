"""Blocks of sequences come back as they were, whatever stands in them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from helpers.backends import encoded_block, fill_block
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.payload import CODED, MODE_BITS, OPEN, parse_payload
from gangsaw.codecs.reads.sequence.coding import SEQUENCE, windows_of
from gangsaw.codecs.reads.sequence.decode import decode_windows
from gangsaw.codecs.reads.sequence.dictionary import read_dictionary
from gangsaw.codecs.reads.sequence.syntax import SORTED, STEADY

rng = np.random.default_rng(2)


def dna(n: int) -> bytes:
    return rng.choice(np.frombuffer(b"ACGT", np.uint8), n).tobytes()


def turned(read: bytes) -> bytes:
    return read[::-1].translate(bytes.maketrans(b"ACGT", b"TGCA"))


def text_of(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def spoilt(read: bytes, share: float, letters: bytes = b"ACGT") -> bytes:
    out = np.frombuffer(read, np.uint8).copy()
    places = np.flatnonzero(rng.random(out.size) < share)
    out[places] = rng.choice(np.frombuffer(letters, np.uint8), places.size)
    return out.tobytes()


def mates_at(place: int) -> tuple[bytes, bytes]:
    return GENOME[place : place + 90], turned(GENOME[place + 200 : place + 290])


GENOME = dna(100_000)
HALF = dna(300)
PLACES = rng.integers(0, 8000, 3000)
READS = [spoilt(GENOME[p : p + 150], 0.01) for p in PLACES]
CASES = {
    "empty reads": b"\n" * 5000,
    "one read": GENOME[:150] + b"\n",
    "one letter": b"A\n",
    "open letter": b"T",
    "only N": text_of([b"N" * 100] * 50),
    "lower case": text_of([read.lower() for read in READS[:500]]),
    "other letters": text_of([spoilt(read, 0.3, b"RYKMSWBDHVN.*-acgt") for read in READS[:300]]),
    "a million bases": text_of([spoilt(GENOME * 5, 0.05), turned(GENOME * 5), GENOME[:777]]),
    "palindromes": text_of([(HALF + turned(HALF))[i % 97 : 500 + i % 31] for i in range(400)]),
    "equal reads": text_of([GENOME[:100]] * 5000),
    "homopolymers": text_of([bytes([b"ACGT"[i % 4]]) * (50 + i % 7) for i in range(3000)]),
    "random bytes": rng.integers(0, 256, 50_000, np.uint8).tobytes(),
    "reads": text_of(READS),
    "both strands": text_of([turned(r) if i % 2 else r for i, r in enumerate(READS)]),
    "ascending": text_of([GENOME[p : p + 100] for p in np.sort(PLACES)]),
    "mates": text_of([m for p in PLACES for m in mates_at(p)]),
    "chimeras": text_of([a + b + dna(20) for a, b in pairwise(READS)]),
    "short reads": text_of([read[:36] for read in READS]),
    "empty and long": text_of([b"", GENOME, b"", b"", GENOME[::2], b"A", turned(GENOME), b""]),
    "returns": text_of([read + b"\r" for read in READS[:500]]),
}  # fmt: skip


def round_trip(text: bytes, params: Params, zeros: int = 0) -> Text:
    """The payload of a block that comes back."""
    block = np.frombuffer(text + bytes(zeros), np.uint8)
    data, bits = encoded_block(SEQUENCE, block, params)
    assert data.size == bits.sum() // 8 <= block.size + 64
    out = np.full_like(block, 7)
    fill_block(SEQUENCE, data, bits, out, params)
    np.testing.assert_array_equal(out, block)
    return data


@pytest.mark.parametrize("lane", [256, 1 << 16])
@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_round_trip(name: str, pairs: bool, lane: int) -> None:
    params = Params(kind="sequence", pairs=pairs, lane=lane)
    round_trip(CASES[name], params)
    round_trip(CASES[name][:-1], params, zeros=1000)


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("equal reads", 0.01),
        ("ascending", 0.6),
        ("reads", 0.65),
        ("both strands", 0.65),
        ("a million bases", 1.9),
        ("chimeras", 0.8),
        ("only N", 0.3),
    ],
)
def test_what_overlaps_is_short(name: str, bits: float) -> None:
    data = round_trip(CASES[name], Params(kind="sequence"))
    assert data[0] & 3 == CODED
    assert 8 * data.size < bits * len(CASES[name])


@pytest.mark.parametrize(("name", "is_sorted"), [("ascending", True), ("reads", False)])
def test_order_is_seen(name: str, is_sorted: bool) -> None:
    data = round_trip(CASES[name], Params(kind="sequence"))
    assert data[0] == CODED | (SORTED | STEADY) * is_sorted << MODE_BITS


@given(
    st.lists(st.binary(max_size=80) | st.text("ACGT", max_size=80).map(str.encode), max_size=30),
    st.integers(1, 5),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=60)
def test_any_bytes_come_back(lines: list[bytes], times: int, pairs: bool, is_open: bool) -> None:
    text = text_of(lines * times)
    params = Params(kind="sequence", pairs=pairs, lane=64)
    data = round_trip(text[: len(text) - is_open], params, zeros=is_open)
    assert bool(data[0] & OPEN) == (text[: len(text) - is_open].rstrip(b"\0")[-1:] not in b"\n")


def test_threads_change_nothing() -> None:
    text = CASES["both strands"] * 20
    try:
        payloads = []
        for n in (1, 3):
            set_thread_limit(n)
            payloads.append(round_trip(text, Params(kind="sequence", lane=1 << 12)))
    finally:
        set_thread_limit(None)
    np.testing.assert_array_equal(*payloads)


@pytest.mark.parametrize("name", ["both strands", "ascending", "empty and long"])
def test_some_windows_are_decoded_without_the_others(name: str) -> None:
    lane, text = 1 << 12, CASES[name]
    block, params = np.frombuffer(text, np.uint8), Params(kind="sequence", lane=1 << 12)
    data, bits = encoded_block(SEQUENCE, block, params)
    payload = parse_payload(data, bits, block.size, lane)
    dictionary = read_dictionary(payload.rest, payload.shared, payload.head.used)
    for first, last in [(0, 1), (3, 5), (payload.n_windows - 1, payload.n_windows)]:
        out = np.full(block.size - first * lane, 7, np.uint8)
        windows = windows_of(payload, False, first, last)
        spans = decode_windows(windows, dictionary, out)
        for begin, end, n in spans[spans[:, 0] >= 0]:
            expected = block[first * lane :][begin:end]
            np.testing.assert_array_equal(out[begin:end], expected)
            assert n == expected.tobytes().count(b"\n")
        assert (out[spans.max() + 32 :] == 7).all() or last == payload.n_windows
