"""The kind "fast": byte for byte the reference's, any bits back, and no crash on damage."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.fenced_memory import fenced, needs_fences
from helpers.pairwise import pairwise
from helpers.visibility_words import any_words
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import visibility as reference
from reference import visibility_fast

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility.codec import Visibility
from gangsaw.codecs.visibility.fast import cpu as fast
from gangsaw.codecs.visibility.samples import fringes, patterns, specials

SHAPES = [(9, 16, 6), (1, 40, 5), (70, 1, 3), (3, 3, 33), (33, 1, 40), (5, 4), (1, 1), (4, 9, 100)]
DTYPES = ["f2", "f4", "f8", "c8", "c16"]
GRID, PREDICTED = visibility_fast.GRIDS, (1, 2, 3)


def integers(shape: tuple[int, ...], dtype: str) -> Any:
    """Whole multiples of one power of two, zeros of both signs among them: grids."""
    rng = np.random.default_rng(len(shape))
    values = np.ldexp(rng.integers(-90, 91, shape).astype("f8"), -3) * rng.choice(
        [1, 0.0, -0.0], shape
    )
    return values.astype(dtype)


def ramp(shape: tuple[int, ...], dtype: str) -> Any:
    """Smooth in all axes: predicted."""
    place = sum(i * n for i, n in zip(np.indices(shape), (31, 5, 1, 1), strict=False))
    return (1 + place / 4096).astype(dtype)


def mixed(shape: tuple[int, ...], dtype: str) -> Any:
    """Lanes of all kinds side by side."""
    parts = [make(shape, dtype) for make in (fringes, patterns, specials, integers, ramp)]
    choice = np.arange(int(np.prod(shape))).reshape(shape) % len(parts)
    return np.choose(choice, parts).astype(dtype)


def constant(shape: tuple[int, ...], dtype: str) -> Any:
    return np.full(shape, -0.0, dtype)


MAKERS = [fringes, patterns, specials, integers, ramp, mixed, constant]
every_dtype = pytest.mark.parametrize("dtype", DTYPES)


def round_trip(block: Any) -> Any:
    """Return the payload, having compared it with the reference both ways."""
    data = fast.encode_fast(block)
    words, extents, width = reference.to_words(block)
    assert bytes(data) == visibility_fast.encode(words, extents, width)
    assert visibility_fast.decode(bytes(data), extents, width) == words
    out = np.ones_like(block)
    fast.decode_fast(data, out)
    assert out.tobytes() == block.tobytes()
    return data


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize(("make", "dtype", "shape"), pairwise(MAKERS, DTYPES, SHAPES))
def test_payloads_are_the_references(make: Any, dtype: str, shape: tuple[int, ...]) -> None:
    round_trip(make(shape, dtype))


@every_dtype
def test_each_kind_of_group_is_written(dtype: str) -> None:
    assert round_trip(integers((40, 8, 16), dtype))[1] == GRID
    assert round_trip(ramp((40, 8, 16), dtype))[1] % 4 in PREDICTED
    assert round_trip(patterns((40, 8, 16), dtype))[1] == 0


def test_each_predictor_is_written() -> None:
    t, f, _ = np.indices((200, 12, 16))
    steps = t * 7919 % 9973
    for predictor, cube in {1: steps + f * 104729 % 64, 2: f * steps, 3: t[:, :1] ** 2}.items():
        words = (cube + (1 << 29)).astype("u4")
        assert round_trip(words.view("f4"))[1] == predictor


@given(any_words(), st.booleans())
@settings(max_examples=150)
def test_any_bits(words: Any, swapped: bool) -> None:
    """Words of any bits as a block of floats, in both byte orders."""
    floats = words.transpose(3, 2, 1, 0).copy().view(f"f{words.itemsize}")
    data = fast.encode_fast(floats)
    assert bytes(data) == bytes(
        fast.encode_fast(floats.byteswap().view(floats.dtype.newbyteorder()))
    )
    out = np.zeros_like(floats, floats.dtype.newbyteorder() if swapped else floats.dtype)
    fast.decode_fast(data, out)
    assert (out.byteswap() if swapped else out).tobytes() == floats.tobytes()


@given(st.integers(1, 255), st.integers(0, 255), st.lists(st.integers(0, 23), min_size=1))
@settings(max_examples=200)
def test_grids_of_any_exponents(high: int, low: int, shifts: list[int]) -> None:
    """Where a grid just fits, does not, or meets infinities and denormals."""
    rng = np.random.default_rng(high)
    exponents = np.array([high, low])[rng.integers(0, 2, 32)]
    fractions = np.array([1 << n for n in shifts])[rng.integers(0, len(shifts), 32)] & 0x7FFFFF
    words = (exponents << 23 | fractions).astype("u4").reshape(32, 1)
    round_trip(words.view("f4"))


@every_dtype
@pytest.mark.parametrize("make", [integers, ramp, mixed], ids=lambda f: f.__name__)
def test_truncations_and_bytes_too_many_are_refused(make: Any, dtype: str) -> None:
    block = make((9, 5, 7), dtype)
    data = fast.encode_fast(block)
    for wrong in [np.append(data, np.uint8(0)), *(data[:n] for n in range(2, data.size, 3))]:
        with pytest.raises(CorruptChunk):
            fast.decode_fast(wrong, np.empty_like(block))


@needs_fences
@every_dtype
@pytest.mark.parametrize("make", [integers, ramp, mixed], ids=lambda f: f.__name__)
def test_flipped_bits_never_touch_other_memory(make: Any, dtype: str) -> None:
    block = make((9, 5, 7), dtype)
    data = fast.encode_fast(block)
    rng = np.random.default_rng(1)
    for at_end in (False, True):
        place, out = fenced(data, at_end), fenced(np.zeros_like(block), at_end)
        fast.decode_fast(place, out)
        assert out.tobytes() == block.tobytes()
        for bit in [*range(16, 800, 3), *rng.integers(0, 8 * data.size, 400)]:
            place[bit // 8] ^= 1 << bit % 8
            with suppress(CorruptChunk):
                fast.decode_fast(place, out)
            place[bit // 8] ^= 1 << bit % 8


@pytest.mark.parametrize(
    ("octet", "value", "reason"),
    [
        (1, 8, "no mode 8"),
        (2, 33, "width"),
        (2, 1 << 6, "kind"),
        (2, 2 << 6, "kind"),
        (2, 3 << 6, "kind"),
        (2, 30, "planes end"),
    ],
)
def test_headers_are_checked(octet: int, value: int, reason: str) -> None:
    block = patterns((8, 8, 16), "f4")
    data = fast.encode_fast(block)
    data[octet] = value
    with pytest.raises(CorruptChunk, match=reason):
        fast.decode_fast(data, np.empty_like(block))


def test_strided_blocks() -> None:
    whole = fringes((20, 18, 9), "c8")
    for block in (whole[::2, ::-1, 1::3], whole.transpose(2, 0, 1), np.asfortranarray(whole)):
        data, out = fast.encode_fast(block), np.zeros_like(block)
        assert bytes(data) == bytes(fast.encode_fast(np.ascontiguousarray(block)))
        fast.decode_fast(data, out)
        assert out.tobytes() == block.tobytes()


SHARED = os.environ.get("GANGSAW_SHARED")


@pytest.mark.skipif(not SHARED, reason="GANGSAW_SHARED, the folder of real data, is not set")
def test_the_real_set_shrinks_by_the_ratio_of_the_results() -> None:
    files = sorted(Path(SHARED or "", "data/visibilities").glob("*.npy"))
    assert len(files) == 10
    arrays = [np.load(file) for file in files]
    coded = [len(Visibility(effort="fast").encode_chunk(array)) for array in arrays]
    assert sum(array.nbytes for array in arrays) / sum(coded) > 1.33
