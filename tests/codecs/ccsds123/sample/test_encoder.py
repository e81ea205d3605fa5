"""The CPU encoder against the slow reference and against streams of other implementations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.backends import encoded
from helpers.ccsds123_setups import body_params, setup_of
from helpers.ccsds123_vectors import Vector, vector_parameters
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import ccsds123 as reference

from gangsaw.codecs.ccsds123 import Image, Params, cpu
from gangsaw.codecs.ccsds123.header.header import read_header
from gangsaw.codecs.ccsds123.params import LOCAL_SUMS
from gangsaw.codecs.ccsds123.predict import rows
from gangsaw.codecs.ccsds123.stream import encode_stream
from gangsaw.codecs.core.errors import BadParams

# A kernel is compiled for each (P, mode, lanes, width of a lane): these few, with all else free.
KERNELS: tuple[dict[str, Any], ...] = (
    {"prediction_bands": 0, "mode": "reduced", "n_bands": (1, 2, 8), "wide": False},
    {"prediction_bands": 15, "mode": "reduced", "n_bands": (1, 2), "wide": True},
    {"prediction_bands": 0, "mode": "full", "n_bands": (1, 7), "wide": False},
    {"prediction_bands": 3, "mode": "reduced", "n_bands": (17, 32, 40), "wide": False},
    {"prediction_bands": 3, "mode": "full", "n_bands": (33, 38), "wide": False},
    {"prediction_bands": 3, "mode": "full", "n_bands": (9, 12), "wide": True},
    {"prediction_bands": 15, "mode": "full", "n_bands": (18, 20), "wide": False},
)
SMALL_BATCH = 1 << 10  # forces one row at a time and one vector of bands at a time

Draw = st.DrawFn
Cube = npt.NDArray[Any]


def reference_stream(x: Cube, params: Params) -> bytes:
    image = params.image(x.shape, x.dtype)
    samples = [[int(value) for value in band.ravel()] for band in x]
    return reference.encode(samples, setup_of(image, params))


@st.composite
def images(draw: Draw, kernel: dict[str, Any]) -> tuple[Cube, int]:
    """Draw a (z, y, x) array and D."""
    few = st.integers(1, 5)
    shape = (draw(st.sampled_from(kernel["n_bands"])), draw(few), draw(few | st.integers(1, 30)))
    depth = draw(st.sampled_from((30, 32) if kernel["wide"] else (2, 3, 8, 12, 14, 16)))
    dtype = np.dtype(f"{draw(st.sampled_from('iu'))}{4 if depth > 16 else 2}")
    image = Image(*shape, depth, dtype.kind == "i")
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from((1, 3, 20, 1 << depth)))
    steps = rng.integers(-spread, spread + 1, shape)
    center = draw(st.sampled_from((image.lowest, image.middle, image.highest)))
    walk = np.cumsum(steps, axis=draw(st.sampled_from((0, 2)))) + center
    return np.clip(walk, image.lowest, image.highest).astype(dtype), depth


@st.composite
def weights(draw: Draw, params: Params, image: Image) -> dict[str, Any]:
    """Draw custom weights of every legal resolution."""
    bits = draw(st.integers(3, params.weight_resolution + 3))
    one = st.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    each = [st.tuples(*[one] * params.components(z)) for z in range(image.n_bands)]
    return {"init_weights": tuple(draw(band) for band in each), "init_weight_bits": bits}


@st.composite
def cases(draw: Draw) -> tuple[Cube, Params]:
    """Draw an image and parameters of the sample-adaptive coder."""
    kernel = draw(st.sampled_from(KERNELS))
    x, depth = draw(images(kernel))
    first_count = draw(st.integers(1, 8))
    weight_min = draw(st.integers(-6, 9))
    constant = st.integers(0, min(depth - 2, 14))
    register = st.just(0) | st.integers(33, 64) if kernel["wide"] else st.sampled_from((0, 32))
    params = Params(
        bit_depth=depth,
        prediction_bands=kernel["prediction_bands"],
        mode=kernel["mode"],
        local_sum=draw(st.sampled_from(LOCAL_SUMS)),
        register_size=draw(register),
        weight_resolution=draw(st.integers(4, 19 if kernel["wide"] else 14)),
        weight_interval=draw(st.sampled_from((16, 64, 2048))),
        weight_min=weight_min,
        weight_max=draw(st.integers(weight_min, 9)),
        order=draw(st.sampled_from(("bsq", "bsq", "bi"))),
        interleave_depth=draw(st.integers(0, x.shape[0])),
        word_bytes=draw(st.integers(1, 8)),
        unary_limit=draw(st.integers(8, 32)),
        initial_count=first_count,
        rescale=draw(st.integers(max(4, first_count + 1), 11)),
        accumulator_init=draw(constant | st.tuples(*[constant] * x.shape[0])),
    )
    if draw(st.booleans()):
        image = params.image(x.shape, x.dtype)
        params = replace(params, **draw(weights(params, image)))
    return x, params


@given(cases(), st.booleans())
@settings(max_examples=60)
def test_equals_reference(case: tuple[Cube, Params], small_batch: bool) -> None:
    x, params = case
    with pytest.MonkeyPatch.context() as patch:
        if small_batch:
            patch.setattr(rows, "BATCH_BYTES", SMALL_BATCH)
        assert encode_stream(x, params) == reference_stream(x, params)


@pytest.mark.full
@pytest.mark.parametrize("mode", ["full", "reduced"])
@pytest.mark.parametrize("bands", range(16))
def test_every_number_of_prediction_bands(bands: int, mode: Any) -> None:
    rng = np.random.default_rng(bands)
    x = np.cumsum(rng.integers(-9, 10, (20, 4, 9)), axis=0).astype(np.int16)
    params = Params(prediction_bands=bands, mode=mode, local_sum="narrow_neighbor")
    assert encode_stream(x, params) == reference_stream(x, params)


@pytest.mark.parametrize("vector", vector_parameters(slow_above=5_000_000))
def test_third_party_stream(vector: Vector) -> None:
    data = vector.data()
    if vector.has_header:
        _, params, _ = read_header(data, None)
    else:
        _, params = body_params(vector)
    assert encode_stream(vector.image(), params, with_header=vector.has_header) == data


def ground(shape: tuple[int, int, int], dtype: Any = np.uint16) -> Cube:
    rng = np.random.default_rng(7)
    return np.cumsum(rng.integers(-40, 41, shape), axis=1).astype(dtype) + dtype(900)


def layouts(x: Cube) -> dict[str, Cube]:
    """Return the same samples in other places of memory."""
    by_pixel = np.ascontiguousarray(x.transpose(1, 2, 0)).transpose(2, 0, 1)
    padded = np.zeros((x.shape[0] + 2, x.shape[1] * 2, x.shape[2] + 3), x.dtype)
    inside = padded[1:-1, ::2, 2:-1]
    inside[...] = x
    return {
        "big endian": x.astype(x.dtype.newbyteorder(">")),
        "bands fastest": by_pixel,
        "rows fastest": np.ascontiguousarray(x.transpose(0, 2, 1)).transpose(0, 2, 1),
        "part of an array": inside,
        "backwards": np.ascontiguousarray(x[:, :, ::-1])[:, :, ::-1],
        "wider": x.astype(np.uint32),
    }


@pytest.mark.parametrize("shape", [(40, 5, 33), (6, 3, 5), (2, 2, 2), (17, 1, 1)])
def test_memory_layout_changes_nothing(shape: tuple[int, int, int]) -> None:
    x, params = ground(shape), Params(bit_depth=16)
    expected = encode_stream(x, params)
    for name, view in layouts(x).items():
        np.testing.assert_array_equal(view, x)
        assert encode_stream(view, params) == expected, name


def test_lanes_are_the_bits_of_each_band() -> None:
    """Bands do not depend on later ones, so a shorter image's lanes are the first of a longer's."""
    x = ground((40, 20, 30))
    coded = encoded(cpu, [x, x[:7]], Params())
    assert coded.lane_bits is not None
    np.testing.assert_array_equal(coded.lane_bits[1, :7], coded.lane_bits[0, :7])
    assert not coded.lane_bits[1, 7:].any()
    header_bits = 8 * 19
    filled = -(-(header_bits + coded.lane_bits.sum(axis=1)) // 8)
    np.testing.assert_array_equal(filled, coded.lengths)


def test_blocks_come_back() -> None:
    x = ground((40, 50, 60))
    sources = [x[:33, :40, :50], x[33:, :40, :50], x[:33, 40:, 50:]]
    targets = [np.zeros_like(source) for source in sources]
    cpu.BACKEND.decode(encoded(cpu, sources, Params()), targets, Params())
    for source, target in zip(sources, targets, strict=True):
        np.testing.assert_array_equal(target, source)


def test_lanes_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two-bit noise takes more than two bits a sample: more than scratch memory first has."""
    monkeypatch.setattr(rows, "BATCH_BYTES", SMALL_BATCH)
    noise = np.random.default_rng(3).integers(0, 2, (2, 300, 40)) * 3
    params = Params(bit_depth=2, prediction_bands=0, unary_limit=8)
    data = encode_stream(noise.astype(np.uint8), params)
    assert 8 * len(data) > 2.1 * noise.size
    assert data == reference_stream(noise.astype(np.uint8), params)


def test_no_blocks() -> None:
    coded = encoded(cpu, [], Params())
    assert coded.joined_payload().size == 0
    assert coded.lengths.size == 0


@pytest.mark.parametrize("order", ["bsq", "bi"])
@pytest.mark.parametrize(
    ("dtype", "depth", "value"),
    [
        (np.uint16, 12, 4096),
        (np.int16, 12, -2049),
        (np.int32, 20, 1 << 19),
        (np.uint32, 31, 1 << 31),
    ],
)
def test_samples_that_do_not_fit_are_named(order: Any, dtype: Any, depth: int, value: int) -> None:
    x = np.zeros((5, 6, 20), dtype)
    x[4, 5, 19] = value
    params = Params(bit_depth=depth, prediction_bands=3, order=order)
    with pytest.raises(BadParams, match=rf"sample {value} does not fit bit_depth {depth}"):
        encoded(cpu, [x], params)
    x[4, 5, 19] -= np.sign(value).astype(dtype) if value > 0 else dtype(-1)
    encoded(cpu, [x], params)
