"""The paper's constructions: byte for byte those of the reference, and back, for any bits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.backends import encoded
from helpers.visibility_words import any_words, block_of, constructions, name, random_words
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import visibility as reference

from gangsaw.codecs.visibility import cpu
from gangsaw.codecs.visibility.params import Params
from gangsaw.codecs.visibility.words import construction

EVERY = pytest.mark.parametrize("params", constructions(), ids=name)
SHAPES = [(1, 1, 1, 1), (2, 3, 4, 5), (1, 4, 6, 1), (2, 1, 1, 9), (1, 7, 1, 1), (1, 2, 1, 300)]


def expected(words: Any, params: Params) -> bytes:
    """The reference's payload, also where raw would be shorter."""
    names = ("predictor", "residual", "packing", "window")
    plain = [int(word) for word in words.ravel()]
    choices = {key: getattr(params, key) for key in names}
    return reference.construct(plain, words.shape, 8 * words.itemsize, **choices)


def check(words: Any, params: Params) -> None:
    data = construction.encode_construction(words, params)
    assert data.tobytes() == expected(words, params)
    out = np.empty_like(words)
    construction.decode_construction(data, out)
    np.testing.assert_array_equal(out, words)


@EVERY
@pytest.mark.parametrize("bits", [16, 32, 64])
def test_each_construction_is_the_references(params: Params, bits: int) -> None:
    rng = np.random.default_rng(bits)
    for shape in SHAPES:
        check(random_words(rng, shape, bits), params)


@pytest.mark.parametrize("predictor", ["mean", "median"])
@pytest.mark.parametrize("window", [1, 2, 5, 255])
def test_each_window_is_the_references(predictor: str, window: int) -> None:
    chosen = {"residual": "difference", "packing": "bits"}
    params = Params(predictor=predictor, window=window, **chosen)  # type: ignore[arg-type]
    for bits in (16, 32, 64):
        check(random_words(np.random.default_rng(window), (1, 2, 1, 300), bits), params)


@given(any_words(), st.sampled_from(constructions()), st.integers(1, 9))
@settings(max_examples=300)
def test_any_bits_come_back(words: Any, params: Params, window: int) -> None:
    check(words, replace(params, window=window))


def test_the_largest_words_have_an_exact_mean() -> None:
    """Sums of 255 words of 64 bits exceed 64 bits."""
    words = np.full((1, 1, 1, 600), (1 << 64) - 1, np.uint64)
    words[..., 300:] -= np.arange(300, dtype=np.uint64)
    check(words, Params(predictor="mean", window=255, residual="difference", packing="bytes"))


@given(any_words(), st.sampled_from([Params(effort="fast"), Params(), *constructions()]))
@settings(max_examples=200)
def test_a_block_exceeds_its_bits_by_a_byte_at_most(words: Any, params: Params) -> None:
    block = block_of(words)
    coded = encoded(cpu, [block], params)
    assert coded.payloads[0].size <= 1 + block.nbytes
    out = np.empty_like(block)
    cpu.BACKEND.decode(coded, [out], params)
    assert out.tobytes() == block.tobytes()


def test_constant_words_cost_their_counts_alone() -> None:
    words = np.full((2, 3, 4, 50), 0x80000000, np.uint32)
    params = Params(predictor="time", residual="xor", packing="bytes")
    rows, left = 2 * 3 * 4, 4
    counts = 3 * words.size // 8
    assert (
        construction.encode_construction(words, params).size
        == construction.HEAD_BYTES + counts + rows * left
    )
