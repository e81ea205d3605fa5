"""Parts of the sequence codec: consensus, columns, anchors, exceptions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.read_layouts import Recipe, made
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.entropy.rans_lanes import count_tokens
from gangsaw.codecs.core.entropy.sparse_tables import decoder_tables, normalised
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.sequence import syntax
from gangsaw.codecs.reads.sequence.bases import next_exception, to_base_codes
from gangsaw.codecs.reads.sequence.columns import CLASS, SECOND, classified
from gangsaw.codecs.reads.sequence.consensus import (
    SLICE,
    consensus_tokens,
    read_consensus,
    stored_consensus,
)
from gangsaw.codecs.reads.sequence.encode.anchors import hot_anchors, hot_numbers
from gangsaw.codecs.reads.sequence.layout.placed import find_anchors

LETTERS = np.frombuffer(b"ACGT", np.uint8)


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 11, SLICE - 1, SLICE, SLICE + 2, 5 * SLICE + 9])
def test_a_consensus_comes_back_on_both_strands(size: int) -> None:
    codes = np.random.default_rng(size).integers(0, 4, size, np.uint8)
    tokens, ends = consensus_tokens(codes)
    counts = np.zeros((syntax.N_TABLES, 256), np.int64)
    count_tokens(tokens.tables, tokens.symbols, counts)
    frequencies = normalised(counts)
    stored = stored_consensus(tokens, ends, frequencies)
    found = read_consensus(stored, size, decoder_tables(frequencies))
    np.testing.assert_array_equal(found.forward[:size], LETTERS[codes])
    np.testing.assert_array_equal(found.backward[:size], LETTERS[3 - codes[::-1]])
    for wrong in (stored[:-1], np.append(stored, np.uint8(0)), stored[:1]):
        if size:
            with pytest.raises(CorruptChunk):
                read_consensus(wrong, size, decoder_tables(frequencies))


@pytest.mark.parametrize("size", [7, 300])
def test_columns_are_classified_as_the_specification_says(size: int) -> None:
    case = made(Recipe(4, size, 300, 50, 3, 0.05, 0.02, 0.3, False, False, False, 256))
    codes = to_base_codes(case.lines.text)
    begins = case.lines.starts[case.pieces.line] + case.pieces.begin
    found = classified(codes, begins, case.pieces)
    counts, covered = np.zeros((size, 4), int), np.zeros(size, int)
    for k in np.flatnonzero(case.pieces.is_mapped):
        n, place = case.pieces.end[k] - case.pieces.begin[k], case.pieces.position[k]
        own = codes[begins[k] : begins[k] + n]
        own = np.where(own < 4, 3 - own, 4)[::-1] if case.pieces.strand[k] else own
        covered[place : place + n] += 1
        for i in np.flatnonzero((own < 4) & (own != case.pieces.consensus[place : place + n])):
            counts[place + i, own[i]] += 1
    least = 1.5 * counts.sum() / covered.sum()
    for p in range(size):
        share = counts[p].sum() / max(1, covered[p])
        number = sum(share >= least for least in (0.012, 0.04, 0.1, 0.25))
        number *= counts[p].max() >= 4 and share >= least
        second = int(counts[p].argmax()) if number else 0
        column = case.pieces.consensus[p] | number << CLASS | second << SECOND
        assert found.forward[p] == column
        other = 3 - case.pieces.consensus[p] | number << CLASS
        assert found.backward[size - 1 - p] == other | (3 - second if number else 0) << SECOND
    assert (found.forward >> CLASS & 7).max() == 4


def test_hot_anchors_are_those_that_pay() -> None:
    size = 1000
    bits = syntax.place_bits(size)
    anchors = np.repeat(np.arange(600), np.arange(600) % 300)
    hot = hot_anchors(anchors, size)
    assert hot.size == 255
    assert (np.diff(hot) > 0).all()
    assert (hot % 300).min() > 300 - 130
    few = hot_anchors(np.repeat([5, 9], [bits, bits + 1]), size)
    np.testing.assert_array_equal(few, [9])
    np.testing.assert_array_equal(hot_numbers(np.array([8, 9, 10]), few), [0, 1, 0])
    assert not hot_numbers(np.array([8]), few[:0]).any()


def test_an_anchor_is_where_a_piece_begins_as_it_is_read() -> None:
    pieces = made(Recipe(4, 300, 30, 50, 3, 0, 0, 0, False, False, False, 256)).pieces
    for k, anchor in enumerate(find_anchors(pieces)):
        n = pieces.end[k] - pieces.begin[k]
        expected = pieces.position[k] + n if pieces.strand[k] else pieces.position[k]
        assert divmod(anchor, 2) == (expected, pieces.strand[k])


@jit(norefs=True)
def first_exception(codes: Any, at: int, end: int) -> int:
    """What is inlined in kernels has no wrapper for Python."""
    return next_exception(codes, at, end)


def test_codes_are_those_of_the_letters() -> None:
    text = np.arange(256, dtype=np.uint8)
    codes = to_base_codes(text)
    np.testing.assert_array_equal(codes[:256], [b"ACGT".find(byte) % 5 for byte in range(256)])
    assert (codes[256:] == 4).all()


@given(st.binary(max_size=40), st.integers(0, 40))
def test_the_next_exception_is_found(text: bytes, at: int) -> None:
    codes = to_base_codes(np.frombuffer(text, np.uint8))
    end = len(text)
    expected = next((i for i in range(at, end) if text[i] not in b"ACGT"), max(at, end))
    assert first_exception(codes, min(at, end), end) == min(expected, end)
