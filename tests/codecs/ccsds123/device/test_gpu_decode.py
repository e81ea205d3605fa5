"""The CUDA decoder against the CPU's, emulated or on a device; also where bytes are wrong."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from emulator.host_module import KernelFault, schedule
from helpers.backends import encoded
from helpers.ccsds123_setups import as_image
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangsaw.codecs.ccsds123 import Params, cpu, gpu
from gangsaw.codecs.ccsds123.device import gpu_decode
from gangsaw.codecs.ccsds123.params import LOCAL_SUMS
from gangsaw.codecs.ccsds123.samples import noise, samples, scene
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.cuda import launch as core_gpu
from gangsaw.codecs.core.cuda import sources as kernels
from gangsaw.codecs.core.errors import CorruptChunk

Cube = npt.NDArray[Any]
FLIPS = 150
FULL: dict[str, Any] = {"mode": "full", "local_sum": "wide_neighbor"}
NARROW: dict[str, Any] = {"mode": "full", "local_sum": "narrow_neighbor"}


def native(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return the dtype in the machine's byte order: CuPy has no other."""
    return np.dtype(dtype).newbyteorder("=")


def decoded(cupy: ModuleType, coded: Runs, images: Sequence[Cube], params: Params) -> list[Cube]:
    """Decode blocks on the device to arrays like `images`."""
    targets = [cupy.zeros(image.shape, native(image.dtype)) for image in images]
    gpu.BACKEND.decode(coded, targets, params)
    return [target.get() for target in targets]


def check(cupy: ModuleType, images: Sequence[Cube], params: Params) -> None:
    """Encode on the CPU, decode on the device in one launch."""
    for image, out in zip(
        images, decoded(cupy, encoded(cpu, images, params), images, params), strict=True
    ):
        np.testing.assert_array_equal(out, image)


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.name)
def test_samples(cupy: ModuleType, sample: Any) -> None:
    """Those of BI order and of the block-adaptive coder are decoded on the host."""
    check(cupy, [as_image(sample.array, sample.params)], sample.params)


def spread(shape: tuple[int, ...], dtype: str, depth: int, signed: bool) -> Cube:
    """Return a noisy image with both extremes of its depth."""
    image = noise(shape, ("i" if signed else "u") + dtype, depth)
    low = -(1 << depth - 1) if signed else 0
    image.reshape(-1)[[0, -1]] = low, low + (1 << depth) - 1
    return image


# A kernel is compiled for each of these; all else is free.
KINDS = [
    (FULL, 15, "2", st.integers(2, 16), st.just(32)),
    (FULL, 3, "4", st.integers(27, 32), st.sampled_from([32, 33, 47, 64])),
    (NARROW, 3, "2", st.integers(2, 16), st.just(32)),
]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Cube, Params]:
    mode, bands, dtype, depths, registers = draw(st.sampled_from(KINDS))
    depth, first = draw(depths), draw(st.integers(1, 8))
    least = draw(st.integers(-6, 9))
    shape = (draw(st.integers(bands + 1, 40)), draw(st.integers(1, 6)), draw(st.integers(2, 9)))
    image = spread(shape, dtype, depth, dtype == "4")
    if draw(st.booleans()):
        image = scene(shape, image.dtype, depth)
    table = st.lists(st.integers(0, min(depth - 2, 14)), min_size=shape[0], max_size=shape[0])
    return image, Params(
        bit_depth=depth,
        prediction_bands=bands,
        register_size=draw(registers),
        weight_resolution=draw(st.integers(4, 19)),
        weight_interval=draw(st.sampled_from([16, 64, 2048])),
        weight_min=least,
        weight_max=draw(st.integers(least, 9)),
        word_bytes=draw(st.integers(1, 8)),
        unary_limit=draw(st.integers(8, 32)),
        rescale=draw(st.integers(max(4, first + 1), 11)),
        initial_count=first,
        accumulator_init=draw(table.map(tuple)),
        **mode,
    )


@pytest.mark.full
@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(cases())
def test_any_parameters(cupy: ModuleType, case: tuple[Cube, Params]) -> None:
    image, params = case
    check(cupy, [image], params)


@pytest.mark.parametrize("local_sum", LOCAL_SUMS)
def test_extents(cupy: ModuleType, local_sum: str) -> None:
    """Blocks of any extents go in one launch; those of one column in another."""
    shapes = [(5, 40, 2), (40, 2, 3), (33, 5, 4), (1, 1, 1), (64, 1, 9), (7, 9, 1), (31, 3, 17)]
    images = [scene(shape, "u2") for shape in shapes]
    check(cupy, images, Params(mode="full", local_sum=local_sum))


# With a handful of pixels the last step is far from a barrier.
@pytest.mark.parametrize("shape", [(1025, 2, 3), (1100, 1, 2), (1100, 1, 5), (1100, 2, 1)], ids=str)
@pytest.mark.parametrize("seed", [0, 3])
def test_more_bands_than_threads(cupy: ModuleType, shape: tuple[int, int, int], seed: int) -> None:
    with schedule(seed=seed):
        check(cupy, [scene(shape, "u2")] * 2, Params())


@pytest.mark.parametrize("bands", [0, 15])
def test_groups_of_bands(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, bands: int) -> None:
    monkeypatch.setattr(gpu_decode, "MOST_THREADS", {4: 32, 8: 32})
    images = [scene((z, 3, 5), "u2") for z in (31, 32, 33, 49, 100)]
    check(cupy, images, Params(prediction_bands=bands, **NARROW))


@dataclass
class Foreign:
    """A CuPy array taken for one of another dtype, which CuPy would refuse."""

    array: Any
    dtype: np.dtype[Any]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)


@pytest.mark.parametrize("kind", ["<u2", ">u2", ">i2", ">i4", "i1"])
def test_targets(cupy: ModuleType, kind: str) -> None:
    """Strided and reversed views of any byte order are filled, and nothing outside them."""
    image, params = scene((5, 6, 7), kind), Params()
    chunk = cupy.zeros((14, 12, 15), native(kind))
    target = chunk.transpose(1, 2, 0)[1:11:2, 13:1:-2, 2:9]
    gpu.BACKEND.decode(encoded(cpu, [image], params), [Foreign(target, image.dtype)], params)
    expected = np.zeros(chunk.shape, kind)
    expected.transpose(1, 2, 0)[1:11:2, 13:1:-2, 2:9] = image
    np.testing.assert_array_equal(chunk.get().view(kind), expected)


@pytest.mark.parametrize("seed", range(1, 5))
def test_schedules(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Warps that run ahead of others as far as barriers let them, and groups of bands."""
    monkeypatch.setattr(gpu_decode, "MOST_THREADS", {4: 96, 8: 96})
    images = [scene((z, 7, 12), "u2") for z in (30, 70, 110)]
    with schedule(seed=seed):
        check(cupy, images, Params(prediction_bands=15, **NARROW))


MANY, FEW = scene((64, 7, 12), "u2"), scene((1100, 1, 5), "u2")
REPORT = "report(band, block, shared, status);\n"


# On a device a race may come out right, and its checker would count it.
@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
@pytest.mark.parametrize(
    ("wrong", "right", "image", "params"),
    [
        ("__syncwarp();", "__syncthreads();", MANY, Params(prediction_bands=15, **FULL)),
        ("RING = 16;", "RING = 32;", MANY, Params(prediction_bands=15, **FULL)),
        ("BATCH = 0;", "BATCH = 8;", MANY, Params(prediction_bands=15, **FULL)),
        (REPORT, f"{REPORT}    __syncthreads();\n", FEW, Params()),  # between groups of bands
    ],
    ids=["barriers", "ring", "batch", "groups"],
)
def test_planted_faults_are_found(
    cupy: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    wrong: str,
    right: str,
    image: Cube,
    params: Params,
) -> None:
    """Else the tests above would prove little."""
    source = kernels.source("gangsaw.codecs.ccsds123", "device/gpu_decode.cu")
    assert right in source
    monkeypatch.setattr(kernels, "source", lambda *_: source.replace(right, wrong))
    monkeypatch.setattr(core_gpu, "_modules", {})
    with pytest.raises((KernelFault, AssertionError)), schedule(seed=3):
        check(cupy, [image], params)


def outcome(decode: Any, coded: Runs, target: Any, params: Params) -> str:
    """Decode bytes that may be wrong."""
    try:
        decode(coded, [target], params)
    except CorruptChunk as error:
        return str(error)
    return "decoded"


def check_wrong(cupy: ModuleType, coded: Runs, image: Cube, params: Params) -> str:
    """Decode on both sides, with the same outcome, be it wrong samples."""
    here, there = np.zeros_like(image), cupy.zeros(image.shape, image.dtype)
    what = outcome(cpu.BACKEND.decode, coded, here, params)
    assert outcome(gpu.BACKEND.decode, coded, there, params) == what
    if what == "decoded":
        np.testing.assert_array_equal(there.get(), here)
    return what


@pytest.mark.parametrize(
    ("image", "params"),
    [
        (scene((40, 5, 6), "u2"), Params(prediction_bands=15, **FULL)),
        (noise((6, 7, 8), "u4", 26), Params(bit_depth=26)),
        (scene((6, 7, 8), "u4", 16), Params(bit_depth=32, unary_limit=32, **FULL)),
    ],
    ids=["16", "26", "32"],
)
def test_flipped_bits(cupy: ModuleType, image: Cube, params: Params) -> None:
    """Without the frame's checksum: nothing outside is touched, both sides say the same."""
    coded, rng, seen = encoded(cpu, [image], params), random.Random(7), set()
    for _ in range(FLIPS):
        data = coded.joined_payload().copy()
        for _ in range(rng.choice([1, 1, 2, 30])):
            data[rng.randrange(data.size)] ^= 1 << rng.randrange(8)
        wrong = Runs.back_to_back(data, coded.lengths, coded.lane_bits)
        seen.add(check_wrong(cupy, wrong, image, params))
    assert len(seen) > 2


def test_bodies_of_zeros_and_ones(cupy: ModuleType) -> None:
    image, params = scene((17, 7, 8), "u2"), Params(**NARROW)
    coded, rng = encoded(cpu, [image], params), np.random.default_rng(3)
    for density in (0, 1, 128, 256):
        data = coded.joined_payload().copy()
        data[20:] = np.where(rng.integers(0, 256, data.size - 20) < density, 255, 0)
        wrong = Runs.back_to_back(data, coded.lengths, coded.lane_bits)
        assert check_wrong(cupy, wrong, image, params) != "decoded"


def test_truncations_and_wrong_lanes(cupy: ModuleType) -> None:
    image, params = scene((9, 5, 6), "u2"), Params()
    coded, rng = encoded(cpu, [image], params), np.random.default_rng(5)
    assert coded.lane_bits is not None
    for size in range(coded.joined_payload().size):
        cut = Runs.back_to_back(coded.joined_payload()[:size], np.array([size]), coded.lane_bits)
        assert check_wrong(cupy, cut, image, params) != "decoded"
    for _ in range(100):
        lanes = coded.lane_bits.copy()
        places = rng.integers(9, size=rng.integers(1, 5))
        lanes[0, places] += rng.choice([-1, 1, -7, 64, 1 << 40, -(1 << 40), 1 << 62])
        wrong = Runs.back_to_back(coded.joined_payload(), coded.lengths, lanes)
        assert check_wrong(cupy, wrong, image, params) != "decoded"


def test_the_block_is_named_and_the_others_are_decoded(cupy: ModuleType) -> None:
    image, params = scene((40, 5, 6), "u2"), Params()
    coded = encoded(cpu, [image, image, image], params)
    parts = [part.copy() for part in coded.payloads]
    parts[1][100:200] = 0
    targets = [cupy.zeros(image.shape, image.dtype) for _ in parts]
    with pytest.raises(CorruptChunk, match="do not end where the lane does") as caught:
        gpu.BACKEND.decode(Runs(tuple(parts), coded.lane_bits), targets, params)
    assert caught.value.block == 1
    for target in (targets[0], targets[2]):
        np.testing.assert_array_equal(target.get(), image)
