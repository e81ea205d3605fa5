"""The layout keeps its interface's promises whatever the bytes, and finds what overlaps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.codecs.reads.lines import find_lines
from gangsaw.codecs.reads.sequence.layout.layout import layout
from gangsaw.codecs.reads.sequence.layout.placed import Layout

CODES = np.full(256, 4, np.uint8)
CODES[list(b"ACGT")] = range(4)
Text = npt.NDArray[np.uint8]


def text_of(lines: Sequence[bytes]) -> Text:
    return np.frombuffer(b"".join(line + b"\n" for line in lines), np.uint8)


def turned(read: bytes) -> bytes:
    return read[::-1].translate(bytes.maketrans(b"ACGT", b"TGCA"))


def dna(rng: np.random.Generator, n: int) -> bytes:
    return rng.choice(np.frombuffer(b"ACGT", np.uint8), n).tobytes()


def reads_of(
    rng: np.random.Generator, genome: bytes, n: int, length: int, errors: float = 0.01
) -> list[bytes]:
    reads = []
    for at in rng.integers(0, max(1, len(genome) - length), n):
        read = np.frombuffer(genome[at : at + length], np.uint8).copy()
        wrong = rng.random(read.size) < errors
        read[wrong] = rng.choice(np.frombuffer(b"ACGTN", np.uint8), wrong.sum())
        reads.append(turned(read.tobytes()) if rng.random() < 0.5 else read.tobytes())
    return reads


def checked(text: Text) -> Layout:
    """The layout of a text, which keeps the promises."""
    lines = find_lines(text, 1 << 16)
    found = layout(lines, CODES[lines.text])
    lengths = lines.ends - lines.starts
    assert found.consensus.dtype == np.uint8
    assert (found.consensus < 4).all()
    assert found.line.dtype == found.begin.dtype == found.end.dtype == np.int64
    assert found.position.dtype == np.int64
    assert found.strand.dtype == np.uint8
    assert found.is_mapped.dtype == np.bool_
    assert_covers_lines(found, lengths)
    mapped = found.is_mapped
    assert (found.position >= 0).all()
    assert (found.position + found.end - found.begin <= found.consensus.size)[mapped].all()
    assert not found.position[~mapped].any()
    assert not found.strand[~mapped].any()
    assert (found.strand < 2).all()
    return found


def assert_covers_lines(found: Layout, lengths: npt.NDArray[np.int64]) -> None:
    assert (found.begin < found.end).all()
    same = np.diff(found.line) == 0
    assert (np.diff(found.line) >= 0).all()
    assert (found.begin[1:] == np.where(same, found.end[:-1], 0)).all()
    assert (found.begin[:1] == 0).all()
    is_last = np.append(~same, True)[: found.line.size]
    assert (found.end[is_last] == lengths[found.line[is_last]]).all()
    assert (np.unique(found.line) == np.flatnonzero(lengths)).all()
    assert not (same & ~found.is_mapped[1:] & ~found.is_mapped[:-1]).any()


def mismatches(text: Text, found: Layout) -> int:
    """Letters of mapped pieces that are not those of the consensus."""
    codes = CODES[text]
    lines = find_lines(text, 1 << 16)
    n = 0
    for i in np.flatnonzero(found.is_mapped):
        start = lines.starts[found.line[i]]
        piece = codes[start + found.begin[i] : start + found.end[i]]
        at = found.position[i]
        columns = found.consensus[at : at + piece.size]
        if found.strand[i]:
            columns = 3 - columns[::-1]
        n += int(((piece != columns) & (piece < 4)).sum())
    return n


@settings(deadline=None, max_examples=30)
@given(
    st.integers(0, 1 << 32),
    st.sampled_from([20, 100, 1000]),
    st.sampled_from([5, 12, 16, 36, 100, 250]),
    st.sampled_from([0, 0.01, 0.1]),
)
def test_reads_of_a_genome(seed: int, size: int, length: int, errors: float) -> None:
    rng = np.random.default_rng(seed)
    checked(text_of(reads_of(rng, dna(rng, size), 60, length, errors)))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.binary(max_size=40) | st.text("ACGT", max_size=80).map(str.encode)))
def test_any_bytes(lines: list[bytes]) -> None:
    checked(np.frombuffer(b"\n".join(lines), np.uint8))


RNG = np.random.default_rng(5)
PALINDROME = dna(RNG, 60)
UNITS = {f"period-{n}": (dna(RNG, n) * 2000)[:3000] for n in (1, 2, 3, 7, 16)}
CASES = {
    "nothing": [],
    "empty": [b""] * 50,
    "one-letter": [b"A"] * 50,
    "only-n": [b"N" * 100] * 50,
    "some-n": [dna(RNG, 40) + b"N" + dna(RNG, 40)] * 9,
    "palindromes": [PALINDROME + turned(PALINDROME)] * 40,
    "equal": [dna(RNG, 100)] * 5000,
    "homopolymers": [b"A" * 100] * 5000,
    "short-and-long": [b"ACG", b"", dna(RNG, 15), dna(RNG, 16), b"", dna(RNG, 1000)] * 20,
    "lower-case": [dna(RNG, 80).lower()] * 40,
    **{name: [unit[:100]] * 30 + [unit] for name, unit in UNITS.items()},
    "long": [dna(RNG, 30000)] * 2 + [b"ACGT"],
}


@pytest.mark.parametrize("lines", CASES.values(), ids=CASES)
def test_cases(lines: list[bytes]) -> None:
    checked(text_of(lines))


def test_equal_lines_are_one_contig() -> None:
    found = checked(text_of(CASES["equal"]))
    assert found.consensus.size == 100
    assert found.is_mapped.all()


def test_overlaps_are_found_on_both_strands() -> None:
    rng = np.random.default_rng(3)
    text = text_of(reads_of(rng, dna(rng, 20000), 4000, 100, 0.005))
    found = checked(text)
    assert found.consensus.size < 21000
    assert found.is_mapped.mean() > 0.99
    assert mismatches(text, found) < 0.006 * text.size


def test_a_line_longer_than_a_contig() -> None:
    rng = np.random.default_rng(4)
    checked(text_of([dna(rng, 5 << 20)]))


def seconds(text: Text) -> float:
    lines = find_lines(text, 1 << 16)
    begin = time.process_time()
    layout(lines, CODES[lines.text])
    return time.process_time() - begin


def in_lines(letters: Text, length: int) -> Text:
    letters = letters.copy()
    letters[length :: length + 1] = 10
    return letters


SIZE = 1 << 20
HARD = [
    *("one-homopolymer", "homopolymers"),
    *(f"period-{n}-{length}" for n in (2, 3, 7, 16) for length in (100, 20000, SIZE)),
    *("two-letters", "equal", "one-letter", "newlines", "noise", "shared"),
]


@lru_cache
def hard_texts() -> dict[str, Text]:
    return {
        "one-homopolymer": np.full(SIZE, 65, np.uint8),
        "homopolymers": in_lines(np.full(SIZE, 65, np.uint8), 100),
        **{
            f"period-{n}-{length}": in_lines(
                np.resize(np.frombuffer(dna(RNG, n), np.uint8), SIZE), length
            )
            for n in (2, 3, 7, 16)
            for length in (100, 20000, SIZE)
        },
        "two-letters": in_lines(RNG.choice(np.frombuffer(b"AT", np.uint8), SIZE), 100),
        "equal": np.resize(np.frombuffer(dna(RNG, 100) + b"\n", np.uint8), SIZE),
        "one-letter": in_lines(RNG.choice(np.frombuffer(b"ACGT", np.uint8), SIZE), 1),
        "newlines": np.full(SIZE, 10, np.uint8),
        "noise": RNG.integers(0, 256, SIZE).astype(np.uint8),
        "shared": text_of(
            [dna(RNG, 35) + PALINDROME[:30] + dna(RNG, 35) for _ in range(SIZE // 101)]
        ),
    }


@pytest.mark.parametrize("name", HARD)
def test_hard_text_takes_time_in_proportion_to_its_length(name: str) -> None:
    assert [*hard_texts()] == HARD
    text = hard_texts()[name]
    seconds(text[:5000])  # compiles
    dna_of_that_size = in_lines(RNG.choice(np.frombuffer(b"ACGT", np.uint8), SIZE), 100)
    assert seconds(text) < 2 + 100 * seconds(dna_of_that_size)
    checked(text)


def test_a_layout_is_the_same_every_time() -> None:
    rng = np.random.default_rng(6)
    text = text_of(reads_of(rng, dna(rng, 3000), 600, 100))
    for one, other in zip(checked(text), checked(text.copy()), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_variant_and_its_complement_share_a_consensus() -> None:
    rng = np.random.default_rng(7)
    read = dna(rng, 150)
    found = checked(text_of([read, turned(read), read[:70], turned(read)[20:]]))
    assert found.consensus.size == 150
    assert found.strand.tolist() == [0, 1, 0, 1]
    assert found.position.tolist() == [0, 0, 0, 0]


def test_ends_that_do_not_overlap_are_cut() -> None:
    rng = np.random.default_rng(8)
    genome = dna(rng, 400)
    chimera, end = genome[100:200] + genome[300:380], genome[40:140] + dna(rng, 15)
    found = checked(text_of([genome, chimera, end, dna(rng, 20)]))
    of = [found.is_mapped[found.line == line].tolist() for line in range(4)]
    assert of == [[True], [True, True], [True, False], [False]]
