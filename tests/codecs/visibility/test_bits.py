"""What the codec promises of whole arrays: every bit comes back, noise hardly grows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from helpers.every_codec import assert_same_bits
from helpers.visibility_words import DTYPES
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.codecs import VisibilityV2
from gangsaw.codecs.core.container.frame import HEADER_BYTES
from gangsaw.codecs.visibility.codec import Visibility
from gangsaw.codecs.visibility.samples import patterns, specials

CODECS = [
    Visibility(effort="fast"),
    Visibility(effort="dense"),
    Visibility(predictor="lorenzo", residual="xor", packing="bytes"),
]
every = pytest.mark.parametrize("codec", CODECS, ids=["fast", "dense", "construction"])


def decoded(codec: Visibility, array: Any) -> Any:
    out = np.empty_like(array)
    codec.decode_chunk(codec.encode_chunk(array), out)
    return out


@every
@pytest.mark.parametrize("dtype", [*DTYPES, ">f2", ">c16"])
def test_special_values_keep_their_bits(codec: Visibility, dtype: str) -> None:
    array = specials((30, 11, 7), dtype)
    assert_same_bits(decoded(codec, array), array)


@given(st.data(), st.sampled_from(CODECS), st.sampled_from(DTYPES))
@settings(max_examples=200)
def test_any_bits_come_back(data: st.DataObject, codec: Visibility, dtype: str) -> None:
    shape = data.draw(st.lists(st.integers(0, 5), max_size=4))
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    octets = data.draw(st.binary(min_size=size, max_size=size))
    array = np.frombuffer(octets, dtype).reshape(shape)
    assert_same_bits(decoded(codec, array), array)


@every
@pytest.mark.parametrize("dtype", [*DTYPES, ">c16"])
def test_a_number_without_axes_comes_back(codec: Visibility, dtype: str) -> None:
    array = specials((7,), dtype)[3, ...]
    assert_same_bits(decoded(codec, array), array)
    plain = array.astype(array.dtype.newbyteorder("="))
    stored = zarr.create_array({}, data=plain, serializer=codec, compressors=None)
    assert_same_bits(np.asarray(stored[...]), plain)
    numcodec = VisibilityV2(shape=(), dtype=plain.dtype, **vars(codec.params))
    assert_same_bits(numcodec.decode(numcodec.encode(plain)), plain)


@every
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((64, 64, 40), "c8"), ((64, 64, 40), "c16"), ((90000,), "f4"), ((300, 300), "f2")],
)
def test_noise_grows_by_a_thousandth_at_most(codec: Visibility, shape: Any, dtype: str) -> None:
    array = patterns(shape, dtype)
    assert len(codec.encode_chunk(array)) <= 1.001 * array.nbytes + HEADER_BYTES


@every
def test_empty_arrays_are_a_header(codec: Visibility) -> None:
    array = np.empty((0, 5, 4), np.complex64)
    assert len(codec.encode_chunk(array)) == HEADER_BYTES
    assert_same_bits(decoded(codec, array), array)


@every
def test_real_visibilities_come_back(codec: Visibility, shared: Path) -> None:
    files = sorted((shared / "data" / "visibilities").glob("*.npy"))
    assert files
    for file in files:
        array = np.load(file)
        data = codec.encode_chunk(array)
        assert len(data) <= 1.001 * array.nbytes + HEADER_BYTES, file.name
        out = np.empty_like(array)
        codec.decode_chunk(data, out)
        assert_same_bits(out, array)
