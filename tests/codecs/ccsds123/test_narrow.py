"""Integers of 64 bits: coded as those of 32 bits, and refused where a sample does not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as of_numpy

from gangsaw.codecs.ccsds123.codec import Ccsds123
from gangsaw.codecs.ccsds123.narrow import coded_dtype, narrow_block
from gangsaw.codecs.ccsds123.samples import FULL
from gangsaw.codecs.ccsds123.selection import CAPABILITIES, bit_depth
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.selection import ArrayFacts, Extremes, Grade

WIDE = {"i8": "i4", "u8": "u4"}
CODEC = Ccsds123(block=(0, 2, 2), **FULL)
over_wide = pytest.mark.parametrize(("wide", "narrow"), WIDE.items())


def facts(shape: tuple[int, ...], dtype: str = "i8", **known: Any) -> ArrayFacts:
    return ArrayFacts("counts", shape, np.dtype(dtype), ("band", "y", "x")[-len(shape) :], **known)


def bounds(dtype: str) -> tuple[int, int]:
    found = np.iinfo(dtype)
    return int(found.min), int(found.max)


@over_wide
@given(data=st.data())
def test_the_bytes_are_those_of_32_bits(wide: str, narrow: str, data: st.DataObject) -> None:
    low, high = bounds(narrow)
    values = st.integers(low, high) | st.sampled_from([low, low + 1, high - 1, high])
    order = data.draw(st.sampled_from("<>"))
    samples = data.draw(of_numpy.arrays(np.dtype(order + wide), (2, 3, 4), elements=values))
    frame = bytes(CODEC.encode_chunk(samples))
    assert frame == bytes(CODEC.encode_chunk(samples.astype(narrow)))
    out = np.full_like(samples, 77)
    CODEC.decode_chunk(frame, out)
    np.testing.assert_array_equal(out, samples)


@over_wide
@given(data=st.data())
def test_one_sample_outside_is_refused_and_named(
    wide: str, narrow: str, data: st.DataObject
) -> None:
    low, high = bounds(narrow)
    least, most = bounds(wide)
    beyond = st.integers(high + 1, most) | st.sampled_from([high + 1, most])
    below = st.integers(least, low - 1) | st.sampled_from([low - 1, least])
    value = data.draw(beyond if wide == "u8" else beyond | below)
    samples = np.zeros((2, 3, 4), wide)
    samples[tuple(data.draw(st.integers(0, n - 1)) for n in samples.shape)] = value
    with pytest.raises(BadParams, match=rf"sample {value} does not fit in 32 bits .* --codec auto"):
        CODEC.encode_chunk(samples)


def test_narrower_integers_are_handed_on_as_they_are() -> None:
    for dtype in ("u1", "i2", ">u4", ">i4"):
        block = np.zeros((1, 2, 2), dtype)
        assert narrow_block(block) is block
        assert coded_dtype(block.dtype) == block.dtype


def test_fewer_bits_hold_for_64_bits_too() -> None:
    samples = np.full((1, 2, 2), 1 << 12)
    with pytest.raises(BadParams, match="sample 4096 does not fit bit_depth 12"):
        Ccsds123(bit_depth=12, **FULL).encode_chunk(samples)


def test_plain_zarr_reads_and_writes_chunks_windows_and_absent_chunks() -> None:
    samples = np.arange(3 * 10 * 12).reshape(3, 10, 12) - (1 << 31)
    fill = -(1 << 60)
    store = zarr.storage.MemoryStore()
    array = zarr.create_array(
        store,
        shape=(3, 20, 12),
        chunks=(3, 5, 6),
        dtype="i8",
        serializer=Ccsds123(block=(0, 2, 3), **FULL),
        compressors=None,
        fill_value=fill,
    )
    array[:, :10] = samples
    again = zarr.open_array(store, mode="r")
    np.testing.assert_array_equal(again[:, :10], samples)
    np.testing.assert_array_equal(again[1, 3:8, 5:7], samples[1, 3:8, 5:7])
    assert (again[:, 10:] == fill).all()
    with pytest.raises(BadParams, match=f"sample {1 << 31} does not fit"):
        array[0, 0, 0] = 1 << 31
    np.testing.assert_array_equal(again[:, :10], samples)


def test_auto_leaves_64_bits_to_others() -> None:
    assert CAPABILITIES.grade(facts((3, 4, 5))) == Grade.ON_REQUEST
    assert CAPABILITIES.grade(facts((3, 4, 5), "i4")) == Grade.GENERAL
    assert CAPABILITIES.refusal(facts((3, 4, 5))) is None
    assert CAPABILITIES.parameters(facts((3, 4, 5)), (3, 4, 5))["bit_depth"] == 32


@pytest.mark.parametrize(("dtype", "fill"), [("i8", -(1 << 63)), ("i8", 1 << 31), ("u8", 1 << 32)])
def test_a_fill_value_that_does_not_fit_must_not_pad_a_chunk(dtype: str, fill: int) -> None:
    array = facts((3, 10, 12), dtype, fill_value=np.dtype(dtype).type(fill))
    with pytest.raises(BadParams, match=rf"counts .* fill value {fill}, .* divide its shape"):
        CAPABILITIES.parameters(array, (3, 4, 6))
    assert CAPABILITIES.parameters(array, (3, 5, 6))["bit_depth"] == 32
    for fits in (-1 if dtype == "i8" else 0, (1 << 31) - 1, None, float("nan"), "none"):
        assert CAPABILITIES.parameters(facts((3, 10, 12), dtype, fill_value=fits), (3, 4, 6))


def test_a_sample_that_does_not_fit_leaves_the_axes_to_their_positions() -> None:
    cube = np.full((4, 5, 6), 1 << 40)
    array = facts(cube.shape, cube=lambda: cube)
    nameless = ArrayFacts("a", cube.shape, cube.dtype, ("p", "q", "r"), cube=lambda: cube)
    assert CAPABILITIES.parameters(array, cube.shape)["axes"] == "zyx"
    assert CAPABILITIES.parameters(nameless, cube.shape)["axes"] == "zyx"


@pytest.mark.parametrize("wanted", ["auto", 20])
def test_bits_of_64_bit_samples(wanted: int | str) -> None:
    fits = facts((3, 4), extremes=lambda: Extremes(-5, (0, 0), 1000, (0, 1)))
    assert bit_depth(fits, wanted) == (11 if wanted == "auto" else 20)
    wide = facts((3, 4), extremes=lambda: Extremes(-5, (0, 0), 1 << 40, (0, 1)))
    told = rf"sample {1 << 40} at y 0, x 1 of counts needs 42 bits, gangsaw\.ccsds123 codes 32"
    with pytest.raises(BadParams, match=told):
        bit_depth(wide, wanted)
    with pytest.raises(BadParams, match=r"in 2\.\.32, got 40"):
        bit_depth(fits, 40)
