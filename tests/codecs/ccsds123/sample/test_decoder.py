"""The decoder against the slow reference encoder, and against bytes that are wrong."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.ccsds123_setups import setup_of
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import ccsds123

from gangsaw.codecs.ccsds123 import cpu
from gangsaw.codecs.ccsds123.header.header import write_header
from gangsaw.codecs.ccsds123.params import LOCAL_SUMS, Image, Params
from gangsaw.codecs.ccsds123.predict.plan import Plan
from gangsaw.codecs.ccsds123.sample.serial_decoder import decode_serial
from gangsaw.codecs.ccsds123.samples import noise, scene
from gangsaw.codecs.ccsds123.wave.output import target
from gangsaw.codecs.ccsds123.wave.reconstruct import reconstruct
from gangsaw.codecs.ccsds123.wave.state import LANES, RUN
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import CorruptChunk

Cube = npt.NDArray[Any]
FLIPS = 3000


def image_of(array: Cube, params: Params) -> Image:
    """Return the image that an array is."""
    return params.image(array.shape, array.dtype)


def stream_of(array: Cube, params: Params) -> npt.NDArray[np.uint8]:
    """Encode by the slow reference."""
    flat = array.reshape(len(array), -1).tolist()
    return np.frombuffer(ccsds123.encode(flat, setup_of(image_of(array, params), params)), np.uint8)


def blocks_of(array: Cube, params: Params) -> Runs:
    """Encode by the slow reference to one block, indexed where the order has lanes."""
    image, data = image_of(array, params), stream_of(array, params)
    start = 8 * len(write_header(image, params))
    plan = Plan.of(image, params.resolved(image))
    lane_bits = decode_serial(data, start, plan, np.empty_like(array))
    index = None if lane_bits is None else lane_bits[np.newaxis]
    return Runs.back_to_back(data, np.array([data.size]), index)


def decoded(blocks: Runs, array: Cube, params: Params) -> Cube:
    """Decode one block to a new array like `array`."""
    out = np.empty_like(array)
    cpu.BACKEND.decode(blocks, [out], params)
    return out


@st.composite
def images(draw: st.DrawFn) -> tuple[Cube, int]:
    """Arrays of all depths and the depth: flat, smooth or noisy, with both extremes."""
    shape = draw(st.tuples(st.integers(1, 20), st.integers(1, 9), st.integers(1, 9)))
    depth, signed = draw(st.integers(2, 32)), draw(st.booleans())
    width = 8 if depth <= 8 else 16 if depth <= 16 else 32
    kind = np.dtype(f"{'i' if signed else 'u'}{width // 8}")
    make = draw(st.sampled_from([scene, noise]))
    array = make(shape, kind, depth)
    low = -(1 << depth - 1) if signed else 0
    for extreme in (low, low + (1 << depth) - 1):
        array.reshape(-1)[draw(st.integers(0, array.size - 1))] = extreme
    return array, depth


@st.composite
def choices(draw: st.DrawFn, depth: int, bands: int) -> Params:
    """Sample-adaptive parameters that fit the depth and the number of bands."""
    omega = draw(st.integers(4, 19))
    first, low = draw(st.integers(1, 8)), draw(st.integers(-6, 9))
    constant = st.integers(0, min(depth - 2, 14))
    bits = draw(st.just(0) | st.integers(3, omega + 3))
    mode, p = draw(st.sampled_from(["full", "reduced"])), draw(st.integers(0, 15))
    weights = None
    if bits:
        one = st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)
        sizes = [min(z, p) + (3 if mode == "full" else 0) for z in range(bands)]
        weights = tuple(tuple(draw(st.lists(one, min_size=n, max_size=n))) for n in sizes)
    return Params(
        bit_depth=depth,
        prediction_bands=p,
        mode=mode,
        local_sum=draw(st.sampled_from(LOCAL_SUMS)),
        register_size=draw(st.just(0) | st.sampled_from([32, 33, 47, 63, 64])),
        weight_resolution=omega,
        weight_interval=draw(st.sampled_from([16, 64, 2048])),
        weight_min=low,
        weight_max=draw(st.integers(low, 9)),
        init_weights=weights,
        init_weight_bits=bits,
        order=draw(st.sampled_from(["bsq", "bi"])),
        interleave_depth=draw(st.integers(0, bands)),
        word_bytes=draw(st.integers(1, 8)),
        unary_limit=draw(st.integers(8, 32)),
        rescale=draw(st.integers(max(4, first + 1), 11)),
        initial_count=first,
        accumulator_init=draw(
            constant | st.lists(constant, min_size=bands, max_size=bands).map(tuple)
        ),
    )


@settings(max_examples=200)
@given(st.data())
def test_inverse_of_the_reference(data: st.DataObject) -> None:
    array, depth = data.draw(images())
    params = data.draw(choices(depth, len(array)))
    np.testing.assert_array_equal(decoded(blocks_of(array, params), array, params), array)


WIDE = {"mode": "full", "local_sum": "wide_neighbor"}
# around whole vectors of bands, whole runs of steps, and rows shorter than either
SHAPES = [
    (LANES, 3, 7),
    (LANES + 1, 2, 5),
    (2 * LANES - 1, 1, RUN),
    (3, 1, 3 * RUN),
    (1, 2, RUN + 1),
    (40, 1, 1),
    (1, 1, 1),
    (2, 30, 2),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("local_sum", LOCAL_SUMS)
def test_shapes(shape: tuple[int, int, int], local_sum: str) -> None:
    array, params = scene(shape, "u2"), Params(mode="full", local_sum=local_sum)
    np.testing.assert_array_equal(decoded(blocks_of(array, params), array, params), array)


@pytest.mark.parametrize("depth", [16, 20, 24, 28, 32])
def test_longest_codewords(depth: int) -> None:
    """U_max + D is 64 at most: more than one load at a byte address holds for sure."""
    array = noise((3, 4, 5), "u4", depth)
    params = Params(bit_depth=depth, unary_limit=32, accumulator_init=0)
    np.testing.assert_array_equal(decoded(blocks_of(array, params), array, params), array)


@pytest.mark.parametrize("kind", ["<u2", ">u2", "<i2", ">i4", "u4", "i1"])
def test_targets(kind: str) -> None:
    """Strided and reversed views of any byte order are filled, and nothing outside them."""
    array = scene((5, 6, 7), kind)
    chunk = np.full((14, 12, 15), 77, kind)
    target = chunk.transpose(1, 2, 0)[1:11:2, 13:1:-2, 2:9]
    cpu.BACKEND.decode(blocks_of(array, Params()), [target], Params())
    np.testing.assert_array_equal(target, array)
    target[...] = 77
    assert (chunk == 77).all()


def test_the_block_is_named() -> None:
    array, params = scene((4, 5, 6), "u2"), Params()
    one = blocks_of(array, params)
    data = one.joined_payload().copy()
    data[3] ^= 8  # of the header
    assert one.lane_bits is not None
    both = Runs.back_to_back(
        np.concatenate([one.joined_payload(), data]),
        np.repeat(one.lengths, 2),
        np.repeat(one.lane_bits, 2, axis=0),
    )
    with pytest.raises(CorruptChunk) as caught:
        cpu.BACKEND.decode(both, [np.empty_like(array), np.empty_like(array)], params)
    assert caught.value.block == 1


def outcome(blocks: Runs, array: Cube, params: Params) -> str:
    """Decode bytes that may be wrong."""
    try:
        out = decoded(blocks, array, params)
    except CorruptChunk:
        return "corrupt"
    return "right" if np.array_equal(out, array) else "other"


@pytest.mark.parametrize("order", ["bsq", "bi"])
@pytest.mark.parametrize(
    "choice", [{}, {"unary_limit": 32, "bit_depth": 32, **WIDE}], ids=["32", "64"]
)
def test_flipped_bits(order: Any, choice: dict[str, Any]) -> None:
    """No crash and no reading outside. Without the frame's checksum wrong data can come out."""
    array, params = scene((6, 7, 8), "u4", 16), Params(**{"bit_depth": 16, "order": order} | choice)
    blocks, rng, seen = blocks_of(array, params), random.Random(7), []
    for _ in range(FLIPS):
        data = blocks.joined_payload().copy()
        for _ in range(rng.choice([1, 1, 2, 30])):
            data[rng.randrange(data.size)] ^= 1 << rng.randrange(8)
        seen.append(
            outcome(Runs.back_to_back(data, blocks.lengths, blocks.lane_bits), array, params)
        )
    assert seen.count("corrupt") > FLIPS // 4


def test_random_bodies() -> None:
    array, params = scene((17, 7, 8), "u2"), Params(local_sum="narrow_neighbor", mode="full")
    blocks, rng = blocks_of(array, params), np.random.default_rng(3)
    body = len(write_header(image_of(array, params), params))
    for density in (0, 1, 128, 255):
        for _ in range(200):
            data = blocks.joined_payload().copy()
            data[body:] = np.where(rng.integers(0, 256, data.size - body) < density, 255, 0)
            data[body:] &= rng.integers(0, 256, data.size - body, np.uint8)
            assert (
                outcome(Runs.back_to_back(data, blocks.lengths, blocks.lane_bits), array, params)
                != "right"
            )


@pytest.mark.parametrize("order", ["bsq", "bi"])
def test_truncation(order: Any) -> None:
    array, params = scene((4, 5, 6), "u2"), Params(order=order)
    blocks = blocks_of(array, params)
    for size in range(blocks.joined_payload().size):
        cut = Runs.back_to_back(blocks.joined_payload()[:size], np.array([size]), blocks.lane_bits)
        assert outcome(cut, array, params) == "corrupt"
    data = np.append(blocks.joined_payload(), np.uint8(1))
    longer = Runs.back_to_back(data, np.array([data.size]), blocks.lane_bits)
    assert outcome(longer, array, params) == "corrupt"


def test_wrong_lanes() -> None:
    """Lanes that overlap, leave gaps, are negative or huge: never the right data, never a crash."""
    array, params = scene((9, 5, 6), "u2"), Params()
    blocks, rng = blocks_of(array, params), np.random.default_rng(5)
    assert blocks.lane_bits is not None
    for _ in range(300):
        lanes = blocks.lane_bits.copy()
        lanes[0, rng.integers(9)] += rng.choice([-1, 1, -7, 64, 1 << 40, -(1 << 40), 1 << 62])
        assert (
            outcome(
                Runs.back_to_back(blocks.joined_payload(), blocks.lengths, lanes), array, params
            )
            == "corrupt"
        )


def test_impossible_residuals() -> None:
    image = Image(20, 4, 5, 8, False)
    plan = Plan.of(image, Params(bit_depth=8).resolved(image))
    with target(np.zeros(image.shape, np.uint16)) as place:
        reconstruct(place, plan)
    for value in (1 << 8, 0xFFFF):
        for t, z in ((0, 0), (0, 19), (19, 0), (19, 19), (7, 3)):
            wrong = np.zeros(image.shape, np.uint16)
            wrong[z, t // 5, t % 5] = value
            with target(wrong) as place, pytest.raises(CorruptChunk):
                reconstruct(place, plan)


def test_claims_are_refused_before_they_are_paid_for() -> None:
    image = Image(1 << 16, 1 << 16, 1 << 16, 16, False)
    plan = Plan.of(image, Params(order="bi").resolved(image))
    with pytest.raises(CorruptChunk, match="shorter than its image"):
        decode_serial(np.zeros(100, np.uint8), 0, plan, np.empty(0, np.uint16))
