"""The transform and its inverse against sorted rotations, and what is not a transform."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gangsaw.codecs.bwt.transform.forward import transform, transform_bytes
from gangsaw.codecs.bwt.transform.inverse import invert
from gangsaw.codecs.bwt.transform.rows import (
    MAX_BLOCK,
    MOST_ROWS,
    UNIT,
    Transformed,
    row_count,
    spacing,
)
from gangsaw.codecs.bwt.transform.suffixes import suffix_array
from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.errors import CorruptChunk
from tests.reference import bwt_transform as reference

SHORTEST = spacing(1)  # bytes between rows, of blocks up to MOST_ROWS times as many

alphabets = st.sampled_from([b"\x00", b"\xff", b"ab", b"\x00\xff", b"ACGT", bytes(range(256))])
letters = alphabets.flatmap(
    lambda alphabet: st.lists(st.sampled_from(list(alphabet)), max_size=300).map(bytes)
)
repeated = st.tuples(letters, st.integers(1, 9)).map(lambda part: part[0] * part[1])


def as_block(data: bytes) -> Bytes:
    return np.frombuffer(data, np.uint8)


def inverse_of(found: Transformed) -> bytes:
    out = np.empty(found.bwt.size, np.uint8)
    invert(found.bwt, found.rows, out)
    return out.tobytes()


def fibonacci(n: int) -> bytes:
    first, second = b"a", b"ab"
    while len(second) < n:
        first, second = second, second + first
    return second[:n]


def de_bruijn(order: int) -> bytes:
    """Every word of so many letters of two once: the Lyndon words one after the other."""
    words, word = b"", [0]
    while word:
        words += bytes(word) if order % len(word) == 0 else b""
        word = (word * order)[:order]
        while word and word[-1] == 1:
            word.pop()
        word[-1:] = [1] if word else []
    return words


BLOCKS = {
    "one byte": b"\xff",
    "two bytes": b"\xff\x00",
    "all equal": b"\x00" * 500,
    "period 2": b"ba" * 250,
    "period 7": bytes(range(7)) * 70,
    "Fibonacci": fibonacci(610),
    "de Bruijn": de_bruijn(9),
    "rising": bytes(range(256)),
    "falling": bytes(reversed(range(256))),
    "marker": b"SIX.MIXED.PIXIES.SIFT.SIXTY.PIXIE.DUST.BOXES",
}


@given(letters | repeated | st.binary(max_size=300))
@example(b"")
def test_a_transform_is_sorted_rotations(data: bytes) -> None:
    found = transform(as_block(data))
    assert (found.bwt.tobytes(), found.rows.tolist()) == reference.transformed(data)
    assert inverse_of(found) == data == reference.inverted(found.bwt.tobytes(), [*found.rows])


@pytest.mark.parametrize("name", BLOCKS)
def test_corner_cases(name: str) -> None:
    found = transform(as_block(BLOCKS[name]))
    assert (found.bwt.tobytes(), found.rows.tolist()) == reference.transformed(BLOCKS[name])
    assert inverse_of(found) == BLOCKS[name]


@pytest.mark.parametrize("n", [0, 1, 2, 1000, SHORTEST * MOST_ROWS, (1 << 22) + 1, MAX_BLOCK])
def test_rows_are_few_and_evenly_spaced(n: int) -> None:
    assert spacing(n) == reference.spacing(n)
    assert spacing(n) % UNIT == 0
    assert spacing(n) // UNIT % 2 == 1
    assert row_count(n) == len(range(0, n, spacing(n))) <= MOST_ROWS


@pytest.mark.parametrize("beyond", [-1, 0, 1])
@pytest.mark.parametrize("rows", [1, 2, 5, MOST_ROWS])
def test_blocks_of_several_rows(rows: int, beyond: int) -> None:
    block = np.random.default_rng(rows).integers(97, 100, SHORTEST * rows + beyond, np.uint8)
    found = transform(block)
    assert found.rows.size == row_count(block.size)
    positions = [i * spacing(block.size) for i in range(found.rows.size)]
    order = np.append(block.size, suffix_array(block))
    assert order[found.rows].tolist() == positions
    assert inverse_of(found) == block.tobytes()


@pytest.mark.parametrize("name", ["zeros", "Fibonacci", "noise"])
def test_longest_blocks(name: str) -> None:
    noise = np.random.default_rng(1).integers(0, 256, MAX_BLOCK, np.uint8)
    blocks = {"zeros": 0 * noise, "Fibonacci": as_block(fibonacci(MAX_BLOCK)), "noise": noise}
    assert inverse_of(transform(blocks[name])) == blocks[name].tobytes()


@pytest.mark.parametrize("letters", [1, 2, 3, 256])
@pytest.mark.parametrize("times", [1, 2, 40])
def test_suffixes_of_longer_blocks(letters: int, times: int) -> None:
    """Of several levels: each suffix is less than the next, by its first byte, then by its rank."""
    part = np.random.default_rng(letters).integers(0, letters, 100_000 // times, np.uint8)
    block = np.tile(part, times)
    found = suffix_array(block)
    ranks = np.full(block.size + 1, -1)
    ranks[found] = np.arange(block.size)
    first, rest = block[found].astype(np.int64), ranks[found + 1]
    keys = first * (block.size + 1) + rest
    assert (np.sort(found) == np.arange(block.size)).all()
    assert (np.diff(keys) > 0).all()


def hostile(found: Transformed, changes: dict[int, int]) -> Transformed:
    rows = found.rows.copy()
    for at, row in changes.items():
        rows[at] = row
    return Transformed(found.bwt, rows)


@pytest.mark.parametrize("row", [0, -1, 1 << 24, (1 << 32) - 1])
@pytest.mark.parametrize("at", [0, 1, -1])
def test_rows_out_of_range(at: int, row: int) -> None:
    block = np.arange(3 * SHORTEST, dtype=np.uint64).astype(np.uint8)
    found = transform(block)
    with pytest.raises(CorruptChunk, match="outside"):
        inverse_of(hostile(found, {at: block.size + 1 if row < 0 else row}))


def test_rows_that_do_not_lead_to_one_another() -> None:
    block = np.random.default_rng(5).integers(97, 101, 4 * SHORTEST, np.uint8)
    found = transform(block)
    for at in range(1, 4):
        near = found.rows[at] % block.size + 1
        for other in (found.rows[at - 1], found.rows[(at + 1) % 4], near):
            with pytest.raises(CorruptChunk, match="chain"):
                inverse_of(hostile(found, {at: int(other)}))


@given(st.binary(min_size=1, max_size=8) | letters.filter(len), st.data())
@example(b"\x00\x00\x01\x01", None)
def test_bytes_are_refused_unless_they_are_a_transform(data: bytes, more: st.DataObject) -> None:
    """What is accepted has this transform: cycles that close early are seen."""
    rows = [1] if more is None else [more.draw(st.integers(1, len(data)))]
    found = Transformed(as_block(data), np.array(rows, np.uint32))
    try:
        block = inverse_of(found)
    except CorruptChunk:
        return
    assert reference.transformed(block) == (data, rows)


def test_all_short_transforms() -> None:
    """Of 3^5 texts and each row: just those that are transforms are accepted."""
    texts = [np.base_repr(i, 3).zfill(5).encode() for i in range(3**5)]
    pairs = [reference.transformed(text) for text in texts]
    there = {bwt + bytes(rows) for bwt, rows in pairs}
    accepted = set()
    for text in texts:
        for row in range(7):
            try:
                inverse_of(Transformed(as_block(text), np.array([row], np.uint32)))
                accepted.add(text + bytes([row]))
            except CorruptChunk:
                pass
    assert accepted == there


@pytest.mark.parametrize("short", [0, 1, 3])
def test_a_wrong_number_of_rows(short: int) -> None:
    found = transform(as_block(b"abc"))
    with pytest.raises(CorruptChunk, match="rows"):
        invert(found.bwt, np.resize(found.rows, short), np.empty(4 if short == 1 else 3, np.uint8))


def test_threads_give_equal_bytes() -> None:
    rng = np.random.default_rng(3)
    blocks = [rng.integers(0, 1 + 3**i, 200_000 + i, np.uint8) for i in range(5)] * 2
    with ThreadPoolExecutor(4) as pool:
        several = list(pool.map(transform, blocks))
        assert list(pool.map(inverse_of, several)) == [block.tobytes() for block in blocks]
    for one, block in zip(several, blocks, strict=True):
        alone = transform(block)
        assert np.array_equal(one.bwt, alone.bwt)
        assert np.array_equal(one.rows, alone.rows)


def test_room_holds_what_either_direction_takes() -> None:
    n = 1 << 20
    noise = np.random.default_rng(9).integers(0, 256, n, np.uint8)
    noise[::2] |= 128  # as many LMS positions as there can be, of few equal pieces
    noise[1::2] &= 127
    tracemalloc.start()
    for block in (noise, as_block(fibonacci(n)), 0 * noise):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        inverse_of(transform(block))
        assert tracemalloc.get_traced_memory()[1] - before < transform_bytes(n) + 2 * n
    tracemalloc.stop()
