"""Damaged names: CorruptChunk or other names, never a crash nor a byte outside the buffers."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from helpers.backends import encoded_block, fill_block
from helpers.fenced_memory import fenced, needs_fences
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.reads.name import samples as name_samples
from gangsaw.codecs.reads.name.coding import NAME
from gangsaw.codecs.reads.name.model import read_modes, read_template
from gangsaw.codecs.reads.name.streams import N_STREAMS
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.payload import CODED, HEAD

PARAMS = Params(kind="name", lane=256)
TEXT = np.concatenate(
    [sample.array for sample in name_samples.samples() if sample.params == PARAMS][:4]
)


@lru_cache
def coded() -> tuple[Any, Any]:
    """Return payload and lanes of the text; encoding loads kernels, which takes a second."""
    return encoded_block(NAME, TEXT, PARAMS)


def coded_data() -> Any:
    return coded()[0]


def coded_lanes() -> Any:
    return coded()[1]


def decode(data: Any, lanes: Any, at_end: bool = True) -> Any:
    out = fenced(np.zeros_like(TEXT), at_end)
    fill_block(NAME, fenced(data, at_end), lanes, out, PARAMS)
    return out


@needs_fences
def test_it_is_coded() -> None:
    assert coded_data()[0] & 3 == CODED
    np.testing.assert_array_equal(decode(coded_data(), coded_lanes()), TEXT)


@needs_fences
@pytest.mark.parametrize("at_end", [False, True])
def test_flipped_bits_never_crash(at_end: bool) -> None:
    rng = np.random.default_rng(1)
    first = int(coded_lanes()[:2].sum())
    for reach in (8 * HEAD.size, first, 8 * coded_data().size):
        for n in (1, 1, 2, 9) * 60:
            damaged = coded_data().copy()
            for bit in rng.integers(0, reach, n):
                damaged[bit // 8] ^= np.uint8(1 << bit % 8)
            with suppress(CorruptChunk):
                decode(damaged, coded_lanes(), at_end)


@needs_fences
def test_any_lanes_never_crash() -> None:
    """Lanes of noise under tables that hold: every operation and operand comes."""
    rng = np.random.default_rng(2)
    first = int(coded_lanes()[:2].sum()) // 8
    for _ in range(200):
        damaged = coded_data().copy()
        damaged[first:] = rng.integers(0, 256, damaged.size - first)
        with suppress(CorruptChunk):
            decode(damaged, coded_lanes())


@needs_fences
def test_lanes_of_other_lengths_are_refused() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        lanes = coded_lanes().copy()
        a, b = rng.choice(np.flatnonzero(lanes), 2, replace=False)
        moved = 8 * int(rng.integers(1, lanes[a] // 8 + 1))
        lanes[a] -= moved
        lanes[b] += moved
        with pytest.raises(CorruptChunk):
            decode(coded_data(), lanes)


@given(st.binary(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_refused(tail: bytes) -> None:
    data = np.concatenate((coded_data()[: HEAD.size], np.frombuffer(tail, np.uint8)))
    lanes = np.zeros_like(coded_lanes())
    lanes[0] = 8 * data.size
    with pytest.raises(CorruptChunk):
        decode(data, lanes)


def test_modes_are_checked() -> None:
    with pytest.raises(CorruptChunk, match="modes"):
        read_modes(np.zeros(N_STREAMS, np.uint8))
    with pytest.raises(CorruptChunk, match="modes"):
        read_modes(np.full(100, 255, np.uint8))
    modes, rest = read_modes(np.full(N_STREAMS // 8 + 2, 255, np.uint8))
    assert not modes.any()
    assert rest.size == 1


def test_tables_are_limited() -> None:
    """Modes may name no more of them than the format allows."""
    five = [0, 0, 1, 1, 0]  # the gamma code of mode 4 + 1
    head = np.packbits(np.array(five * N_STREAMS, np.uint8), bitorder="little")
    data = np.concatenate((coded_data()[: HEAD.size], head))
    lanes = np.zeros_like(coded_lanes())
    lanes[0] = 8 * data.size
    with pytest.raises(CorruptChunk, match=f"has {256 * N_STREAMS} tables"):
        decode(data, lanes)


@pytest.mark.parametrize(
    "template",
    [b"", b"\x40" + bytes(200), b"\2\1\0", b"\1\5\0abcd", b"\1\5\0abcdef", b"\0a"],
)
def test_the_template_is_checked(template: bytes) -> None:
    with pytest.raises(CorruptChunk, match="line before"):
        read_template(np.frombuffer(template, np.uint8))
