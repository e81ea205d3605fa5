"""Whole streams: those of other implementations, those of the slow reference, hostile ones."""

from __future__ import annotations

import random
import time
import tracemalloc
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.ccsds123_setups import as_image, body_params, setup_of
from helpers.ccsds123_vectors import Vector, vector_parameters, vectors
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import ccsds123

from gangsaw.codecs.ccsds123 import Image, Params, decode_stream, encode_stream, write_header
from gangsaw.codecs.ccsds123.samples import samples
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, NewerFormat
from gangsaw.codecs.core.plugins.samples import Sample

FLIPS = 2000


@pytest.mark.parametrize("vector", vector_parameters(slow_above=1 << 32))
def test_third_party_stream(vector: Vector) -> None:
    data = vector.data()
    image, params = (None, None) if vector.has_header else body_params(vector)
    decoded, said = decode_stream(data, image, params)
    source = vector.image()
    np.testing.assert_array_equal(decoded, source)
    assert encode_stream(source, said, with_header=vector.has_header) == data


def test_all_vectors_are_there(shared: object) -> None:
    assert len(vectors()) == 65


@pytest.mark.parametrize("sample", [pytest.param(s, id=s.name) for s in samples()])
def test_same_bytes_as_the_reference(sample: Sample) -> None:
    array, params = as_image(sample.array, sample.params), sample.params
    data = encode_stream(array, params)
    setup = setup_of(params.image(array.shape, array.dtype), params)
    assert data == ccsds123.encode(array.reshape(len(array), -1).tolist(), setup)
    decoded, said = decode_stream(data, params=params)
    np.testing.assert_array_equal(decoded, array)
    assert encode_stream(decoded, said) == data


# P and NZ are fixed here because each pair compiles its own kernel
CHOICES = st.fixed_dictionaries(
    {
        "prediction_bands": st.sampled_from([0, 3]),
        "mode": st.sampled_from(["full", "reduced"]),
        "local_sum": st.sampled_from(
            ["wide_neighbor", "narrow_neighbor", "wide_column", "narrow_column"]
        ),
        "register_size": st.just(0) | st.integers(32, 64),
        "weight_resolution": st.integers(4, 19),
        "weight_interval": st.sampled_from([16, 64, 2048]),
        "weight_min": st.integers(-6, 0),
        "weight_max": st.integers(0, 9),
        "order": st.sampled_from(["bsq", "bi"]),
        "interleave_depth": st.integers(0, 7),
        "coder": st.sampled_from(["sample", "block"]),
        "word_bytes": st.integers(1, 8),
        "unary_limit": st.integers(8, 32),
        "rescale": st.integers(9, 11),
        "initial_count": st.integers(1, 8),
        "accumulator_init": st.integers(0, 14),
        "samples_per_block": st.sampled_from([8, 16, 32, 64]),
        "reference_interval": st.sampled_from([1, 2, 63, 64, 65, 256, 4096]),
    }
)


@settings(max_examples=150)
@given(CHOICES, st.integers(2, 32), st.booleans(), st.integers(1, 6), st.integers(1, 6), st.data())
def test_any_parameters_give_the_reference_bytes(
    choices: dict[str, Any], depth: int, signed: bool, rows: int, columns: int, data: st.DataObject
) -> None:
    params = Params(bit_depth=depth, **choices)
    image = Image(5, rows, columns, depth, signed)
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    spread = 1 << data.draw(st.integers(0, depth))  # from constant to noise
    middle = rng.integers(image.lowest, image.highest + 1)
    values = middle + rng.integers(-(spread // 2), spread - spread // 2, image.shape)
    array = np.clip(values, image.lowest, image.highest).astype(image.dtype)
    stream = encode_stream(array, params)
    assert stream == ccsds123.encode(array.reshape(5, -1).tolist(), setup_of(image, params))
    np.testing.assert_array_equal(decode_stream(stream)[0], array)


SMALL = [
    pytest.param(Params(), id="sample-bsq"),
    pytest.param(Params(order="bi", interleave_depth=2, word_bytes=8), id="sample-bi"),
    pytest.param(Params(coder="block", word_bytes=4), id="block-bsq"),
    pytest.param(Params(coder="block", order="bi", samples_per_block=64), id="block-bip"),
]


@cache
def small_stream(params: Params) -> tuple[npt.NDArray[Any], bytes]:
    rng = random.Random(7)
    values = [100 + x * 3 + rng.randrange(9) for x in range(4 * 9 * 10)]
    array = np.array(values, np.uint16).reshape(4, 9, 10)
    array[1:3, 2:] = 90  # zero blocks
    return array, encode_stream(array, params)


@pytest.mark.parametrize("params", SMALL)
def test_every_truncation_is_corrupt(params: Params) -> None:
    _, data = small_stream(params)
    for length in range(len(data)):
        with pytest.raises(CorruptChunk):
            decode_stream(data[:length])


@pytest.mark.parametrize("params", SMALL)
def test_trailing_bytes_are_corrupt(params: Params) -> None:
    _, data = small_stream(params)
    for tail in (b"\x01", bytes(8), bytes(7) + b"\x80"):
        with pytest.raises(CorruptChunk):
            decode_stream(data + tail)


@pytest.mark.parametrize("params", SMALL)
def test_flipped_bits_never_crash(params: Params) -> None:
    """A stream alone has no checksum: other samples may come out, but of the claimed shape only."""
    _, data = small_stream(params)
    rng = random.Random(len(data))
    begin = time.process_time()
    refused = 0
    for i in range(FLIPS):
        damaged = bytearray(data)
        for _ in range(1 + i % 3):
            damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        refused += not _decodes_in_range(bytes(damaged))
    assert refused > 0
    assert time.process_time() - begin < 60


def _decodes_in_range(data: bytes) -> bool:
    try:
        decoded, params = decode_stream(data)
    except (CorruptChunk, NewerFormat):
        return False
    image = params.image(decoded.shape, decoded.dtype)
    assert decoded.min() >= image.lowest
    assert decoded.max() <= image.highest
    return True


@given(st.binary(max_size=200))
def test_random_bytes_never_crash(data: bytes) -> None:
    _decodes_in_range(data)


@pytest.mark.parametrize("params", SMALL)
@given(body=st.binary(max_size=300))
@settings(max_examples=200)
def test_random_bodies_never_crash(params: Params, body: bytes) -> None:
    header = write_header(Image(4, 9, 10, 12, False), params)
    _decodes_in_range(header + body + bytes(-(len(header) + len(body)) % params.word_bytes))


@pytest.mark.parametrize("params", SMALL)
@pytest.mark.parametrize("shape", [(1 << 16,) * 3, (1, 1 << 16, 1 << 16), (1 << 16, 1, 100)])
def test_claims_are_refused_before_allocation(params: Params, shape: tuple[int, int, int]) -> None:
    data = write_header(Image(*shape, 16, False), params) + bytes(1021)
    decode_stream(small_stream(params)[1])  # what kernels need once is there
    tracemalloc.start()
    with pytest.raises(CorruptChunk, match="cannot hold"):
        decode_stream(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_few_bytes_claim_no_large_image_unasked() -> None:
    """The block-adaptive coder writes hundreds of zeros a bit."""
    params = Params(coder="block", samples_per_block=64, reference_interval=4096)
    zeros = np.zeros((64, 64, 64), np.uint16)
    stream = encode_stream(zeros, params)
    np.testing.assert_array_equal(decode_stream(stream, max_bytes=zeros.nbytes)[0], zeros)
    with pytest.raises(CorruptChunk, match="set max_bytes=524288"):
        decode_stream(stream, max_bytes=zeros.nbytes - 1)
    claim = write_header(Image(1 << 9, 1 << 10, (1 << 10) + 1, 16, False), params)
    tracemalloc.start()
    with pytest.raises(CorruptChunk, match="claims 537395200 samples"):
        decode_stream(claim + bytes(1 << 18))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_body_without_header() -> None:
    array, whole = small_stream(Params())
    body = encode_stream(array, Params(), with_header=False)
    assert whole.endswith(body)
    image = Image(4, 9, 10, 16, False)
    np.testing.assert_array_equal(decode_stream(body, image, Params())[0], array)
    with pytest.raises(BadParams, match="needs params"):
        decode_stream(body, image)


def test_dtype_is_the_smallest() -> None:
    for depth, name in ((2, "uint8"), (8, "uint8"), (9, "uint16"), (17, "uint32"), (32, "uint32")):
        array = np.ones((1, 3, 4), np.uint32)
        assert decode_stream(encode_stream(array, Params(bit_depth=depth)))[0].dtype == name
    signed = encode_stream(-np.ones((1, 3, 4), np.int32), Params(bit_depth=9))
    assert decode_stream(signed)[0].dtype == "int16"


def test_source_is_not_written_to() -> None:
    array = np.arange(60, dtype=">u2").reshape(3, 4, 5)
    array.flags.writeable = False
    np.testing.assert_array_equal(decode_stream(encode_stream(array, Params()))[0], array)


@pytest.mark.parametrize(
    ("array", "params", "message"),
    [
        (np.zeros((2, 3, 4), np.float32), Params(), "must be integers"),
        (np.zeros((2, 3, 4), np.int64), Params(), "must be integers"),
        (np.zeros((3, 4), np.uint8), Params(), "three axes"),
        (np.zeros((0, 3, 4), np.uint8), Params(), "n_bands must be in 1..65536, got 0"),
        (np.zeros((2, 3, 4), np.uint8), Params(bit_depth=9), "exceeds the 8 bits"),
        (np.full((2, 3, 4), 16, np.uint8), Params(bit_depth=4), "16"),
        (np.full((2, 3, 4), -9, np.int8), Params(bit_depth=4, coder="block"), "-9"),
        (np.full((2, 3, 4), 8, np.int8), Params(bit_depth=4, order="bi"), "8"),
    ],
)
def test_array_that_does_not_fit(array: npt.NDArray[Any], params: Params, message: str) -> None:
    with pytest.raises(BadParams, match=message):
        encode_stream(array, params)
