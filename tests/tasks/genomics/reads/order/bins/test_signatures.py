"""Signatures of reads are those of the definition."""

from __future__ import annotations

import numpy as np

from gangsaw.tasks.genomics.reads.order.bins.signatures import (
    AT_ONCE,
    HALVED,
    LENGTH,
    NO_BIN,
    sign_lines,
)


def reverse_complement(text: bytes) -> bytes:
    return text.translate(bytes.maketrans(b"ACGT", b"TGCA"))[::-1]


def slow_signature(text: bytes) -> int:
    """The definition, letter by letter."""
    found = []
    for strand in (text, reverse_complement(text)):
        for i in range(len(strand) - LENGTH + 1):
            part = strand[i : i + LENGTH]
            runs = any(letter * 3 in part for letter in (b"A", b"C", b"G", b"T"))
            if set(part) <= set(b"ACGT") and not runs:
                value = 0
                for letter in part:
                    value = value << 2 | b"ACGT".index(letter)
                found.append(value * 0x9E3779B1 % (1 << 32))
    if not found:
        return NO_BIN
    return min(found) * 0x9E3779B97F4A7C15 % (1 << 64) >> 44


def slow_bins(text: bytes) -> list[int]:
    middle = len(text) // 2
    halves = [text] * 2 if len(text) < HALVED else [text[:middle], text[middle:]]
    bins = [slow_signature(half) for half in halves]
    return [own if own != NO_BIN else bins[1 - i] for i, own in enumerate(bins)]


def test_signatures_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(2)
    lengths = [0, 5, 14, 15, 40, 59, 60, 90, 2 * AT_ONCE + 700, *rng.integers(0, 200, 120)]
    lines = [bytes(rng.choice(np.frombuffer(b"ACGT" * 9 + b"N\n", "u1"), n)) for n in lengths]
    lines += [b"N" * 80 + b"ACGTACAGCTACGATC", b"A" * 70, b"acgtacagctacgatc" * 5]
    text = np.frombuffer(b"@".join(lines), np.uint8)
    sizes = np.array([len(line) for line in lines])
    ends = np.cumsum(sizes + 1) - 1
    np.testing.assert_array_equal(
        sign_lines(text, ends - sizes, ends), [slow_bins(line) for line in lines]
    )


def test_u_is_t() -> None:
    rng = np.random.default_rng(5)
    dna = rng.choice(np.frombuffer(b"ACGT", "u1"), 3000)
    rna = np.where((dna == ord("T")) & (rng.random(dna.size) < 0.7), ord("U"), dna).astype(np.uint8)
    ends = np.arange(100, 3001, 100)
    np.testing.assert_array_equal(
        sign_lines(rna, ends - 100, ends), sign_lines(dna, ends - 100, ends)
    )
