"""The plan of a block: one for all that codes, made once, and one rule for its arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from helpers.backends import encoded

from gangsaw.codecs.ccsds123 import Image, Params, cpu, decode_stream, encode_stream, gpu
from gangsaw.codecs.ccsds123.device import gpu_encode as device_encoder
from gangsaw.codecs.ccsds123.predict import plan as plans
from gangsaw.codecs.ccsds123.predict.plan import Plan
from gangsaw.codecs.ccsds123.samples import noise, scene

CODINGS = {
    "sample-bsq": Params(),
    "sample-bi": Params(order="bi"),
    "block-bsq": Params(coder="block"),
    "block-bi": Params(coder="block", order="bi"),
}
BLOCKS = [scene((9, 5, 6), "u2"), scene((9, 5, 6), "u2", 12), scene((4, 5, 7), "u2")]
PARTS = ("first_accumulators", "first_weights", "sums_type", "prediction_type")
PARTS += ("_predictor", "_coder")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Image]:
    """Images that plans were asked for, from now on."""
    images: list[Image] = []
    of = Plan.of

    def counted(image: Image, params: Params) -> Plan:
        images.append(image)
        return of(image, params)

    monkeypatch.setattr(Plan, "of", staticmethod(counted))
    return images


def calls_of(asked: list[Image], work: Callable[[], object]) -> int:
    """How many plans some work asks for."""
    asked.clear()
    work()
    return len(asked)


@pytest.mark.parametrize("params", CODINGS.values(), ids=CODINGS)
def test_a_block_asks_once(asked: list[Image], params: Params) -> None:
    coded = encoded(cpu, BLOCKS, params)
    assert len(asked) == len(BLOCKS)
    out = [np.empty_like(block) for block in BLOCKS]
    assert calls_of(asked, lambda: cpu.BACKEND.decode(coded, out, params)) == len(BLOCKS)
    for block, same in zip(BLOCKS, out, strict=True):
        np.testing.assert_array_equal(block, same)


@pytest.mark.parametrize("params", CODINGS.values(), ids=CODINGS)
def test_a_stream_asks_once(asked: list[Image], params: Params) -> None:
    """Also where lanes have to be found first."""
    stream = encode_stream(BLOCKS[0], params)
    assert len(asked) == 1
    assert calls_of(asked, lambda: decode_stream(stream)) == 1


def test_a_launch_asks_once(cupy: ModuleType, asked: list[Image]) -> None:
    """Blocks that go together share the plan of that with most bands."""
    params, sources = Params(), [cupy.asarray(block) for block in BLOCKS]
    assert calls_of(asked, lambda: device_encoder.encode_blocks(sources, params)) == 1
    coded = encoded(cpu, BLOCKS, params)
    targets = [cupy.empty(block.shape, block.dtype) for block in BLOCKS]
    assert calls_of(asked, lambda: gpu.BACKEND.decode(coded, targets, params)) == 1
    assert asked[0].n_bands == 9


def test_parts_are_made_once_for_blocks_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Encoder and decoder share them."""
    made: list[str] = []

    def counted(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: (made.append(name), make(*arguments))[1]

    for name in PARTS:
        monkeypatch.setattr(plans, name, counted(name, getattr(plans, name)))
    Plan.of.cache_clear()
    for blocks in (BLOCKS[:1], BLOCKS[:2]):
        out = [np.empty_like(block) for block in blocks]
        cpu.BACKEND.decode(encoded(cpu, blocks, Params()), out, Params())
    assert sorted(made) == sorted(PARTS)


@pytest.mark.parametrize("name", ["weights", "first_sums"])
def test_arrays_are_read_only(name: str) -> None:
    """Else the next block would go on with what this one learned."""
    image = Image(5, 4, 3, 16, False)
    plan = Plan.of(image, Params(mode="full").resolved(image))
    with pytest.raises(ValueError, match="read-only"):
        getattr(plan, name)[0] = 1


@pytest.mark.parametrize("components", ["one", "many"])
def test_a_second_block_begins_as_the_first(components: str) -> None:
    """In 64 bits, with one weight a band, memory could be shared where nothing is converted."""
    bands = 1 if components == "one" else 3
    params = Params(prediction_bands=bands, register_size=64, weight_resolution=19)
    array = noise((2, 20, 30), "u4")
    image = params.image(array.shape, array.dtype)
    assert Plan.of(image, params.resolved(image)).dtype == np.int64
    first = encode_stream(array, params)
    assert encode_stream(array, params) == first
    np.testing.assert_array_equal(decode_stream(first)[0], array)


@pytest.mark.parametrize(
    ("depth", "changed", "dtype"),
    [
        (26, {"rescale": 4, "weight_resolution": 4, "weight_max": -1}, np.int32),
        (26, {"rescale": 5, "weight_resolution": 4, "weight_max": -1}, np.int64),
        (26, {"coder": "block", "weight_resolution": 4, "weight_max": -1}, np.int32),
        (20, {"rescale": 10, "weight_resolution": 10}, np.int32),
        (20, {"rescale": 11, "weight_resolution": 10}, np.int64),
        (20, {"rescale": 10, "weight_resolution": 13}, np.int64),
        (26, {"weight_resolution": 4, "weight_max": 8}, np.int32),
        (26, {"weight_resolution": 4, "weight_max": 9}, np.int64),
        (16, {"register_size": 64}, np.int64),
    ],
)
def test_at_the_limit_of_32_bits(depth: int, changed: dict[str, Any], dtype: type) -> None:
    """Noise and steps over the whole range come back from either type."""
    params = Params(bit_depth=depth, accumulator_init=min(14, depth - 2), **changed)
    steps = np.where(np.arange(640).reshape(2, 16, 20) // 7 % 2, (1 << depth) - 1, 0)
    for array in (noise((2, 16, 20), "u4", depth), steps.astype("u4")):
        image = params.image(array.shape, array.dtype)
        assert Plan.of(image, params.resolved(image)).dtype == dtype
        np.testing.assert_array_equal(decode_stream(encode_stream(array, params))[0], array)
        out = np.empty_like(array)
        cpu.BACKEND.decode(encoded(cpu, [array], params), [out], params)
        np.testing.assert_array_equal(out, array)
