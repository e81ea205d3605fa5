"""The GPU encoder against the CPU's, byte for byte: on a device, or on emulated kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from emulator.host_module import KernelFault, schedule
from helpers.backends import encoded
from helpers.ccsds123_setups import as_image
from helpers.gpu_arrays import unaligned
from helpers.pairwise import pairwise
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangsaw.codecs.ccsds123 import Image, Params, cpu, gpu
from gangsaw.codecs.ccsds123.device import gpu_encode
from gangsaw.codecs.ccsds123.params import LOCAL_SUMS
from gangsaw.codecs.ccsds123.samples import FULL, samples, scene
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.cuda import launch as core_gpu
from gangsaw.codecs.core.cuda import sources as kernels
from gangsaw.codecs.core.errors import BadParams

Cube = npt.NDArray[Any]

# Each is a separate kernel, with all else free.
KERNELS: tuple[dict[str, Any], ...] = (
    {"prediction_bands": 3, "local_sum": LOCAL_SUMS[0], "dtype": "u2", "n_bands": (33, 70)},
    {
        "prediction_bands": 3,
        "local_sum": LOCAL_SUMS[1],
        "dtype": "i2",
        "n_bands": (40,),
        "mode": "full",
    },
    {"prediction_bands": 15, "local_sum": LOCAL_SUMS[3], "dtype": "i4", "n_bands": (16, 34)},
)


def on_device(cupy: ModuleType, x: Cube) -> Any:
    """Return x in device memory, with its axes in the same order of memory."""
    order = sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis]))
    swapped = x.dtype.newbyteorder("=")
    device = cupy.asarray(np.ascontiguousarray(x.transpose(order)).view(swapped)).view(x.dtype)
    return device.transpose(np.argsort(order).tolist())


def assert_same(cupy: ModuleType, sources: Sequence[Any], params: Params) -> Runs:
    expected = encoded(cpu, [source.get() for source in sources], params)
    coded = encoded(gpu, sources, params)
    for part, right in zip(coded.payloads, expected.payloads, strict=True):
        np.testing.assert_array_equal(part, right)
    np.testing.assert_array_equal(coded.lane_bits, expected.lane_bits)
    return coded


@pytest.mark.parametrize("sample", [pytest.param(s, id=s.name) for s in samples()])
def test_equals_cpu(cupy: ModuleType, sample: Any) -> None:
    x = as_image(sample.array, sample.params)
    assert_same(cupy, [on_device(cupy, x)], sample.params)


@st.composite
def cubes(draw: st.DrawFn, kernel: dict[str, Any]) -> tuple[Cube, int]:
    """Draw a (z, y, x) array and D."""
    dtype = np.dtype(kernel["dtype"])
    columns = st.integers(2, 6) | st.integers(30, 35) | st.just(65)
    shape = draw(st.tuples(st.sampled_from(kernel["n_bands"]), st.integers(1, 4), columns))
    depth = draw(st.sampled_from((30, 32) if dtype.itemsize == 4 else (2, 3, 8, 14, 16)))
    image = Image(*shape, depth, dtype.kind == "i")
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from((1, 20, 1 << depth)))
    center = draw(st.sampled_from((image.lowest, image.middle, image.highest)))
    walk = np.cumsum(rng.integers(-spread, spread + 1, shape), axis=draw(st.sampled_from((0, 2))))
    return np.clip(walk + center, image.lowest, image.highest).astype(dtype), depth


@st.composite
def cases(draw: st.DrawFn) -> tuple[Cube, Params]:
    """Draw an image and parameters of the sample-adaptive coder."""
    kernel = draw(st.sampled_from(KERNELS))
    x, depth = draw(cubes(kernel))
    first_count, weight_min = draw(st.integers(1, 8)), draw(st.integers(-6, 9))
    constant = st.integers(0, min(depth - 2, 14))
    register = st.just(0) | st.integers(33, 64) if depth > 16 else st.sampled_from((0, 32))
    params = Params(
        bit_depth=depth,
        prediction_bands=kernel["prediction_bands"],
        mode=kernel.get("mode", "reduced"),
        local_sum=kernel["local_sum"],
        register_size=draw(register),
        weight_resolution=draw(st.integers(4, 13)),
        weight_interval=draw(st.sampled_from((16, 64, 2048))),
        weight_min=weight_min,
        weight_max=draw(st.integers(weight_min, 9)),
        word_bytes=draw(st.integers(1, 8)),
        unary_limit=draw(st.integers(8, 32)),
        initial_count=first_count,
        rescale=draw(st.integers(max(4, first_count + 1), 11)),
        accumulator_init=draw(constant | st.tuples(*[constant] * x.shape[0])),
    )
    if draw(st.booleans()):
        params = replace(params, **draw(weights(params, x.shape[0])))
    return x, params


@st.composite
def weights(draw: st.DrawFn, params: Params, n_bands: int) -> dict[str, Any]:
    """Draw custom weights."""
    bits = draw(st.integers(3, params.weight_resolution + 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    bound = 1 << (bits - 1)
    rows = (rng.integers(-bound, bound, params.components(z)).tolist() for z in range(n_bands))
    return {"init_weights": tuple(map(tuple, rows)), "init_weight_bits": bits}


@given(case=cases(), seed=st.sampled_from((0, 1, 7)))
@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # the fixture has no state
)
def test_any_cube_and_parameters(cupy: ModuleType, case: tuple[Cube, Params], seed: int) -> None:
    x, params = case
    with schedule(seed=seed):
        assert_same(cupy, [on_device(cupy, x)], params)


def ground(shape: tuple[int, int, int], dtype: Any = np.uint16) -> Cube:
    rng = np.random.default_rng(7)
    return np.cumsum(rng.integers(-40, 41, shape), axis=1).astype(dtype) + dtype(900)


def places(cupy: ModuleType, x: Cube) -> dict[str, Any]:
    """Return the same samples in other places of device memory."""
    padded = np.zeros((x.shape[0] + 2, x.shape[1] * 2, x.shape[2] + 3), x.dtype)
    padded[1:-1, ::2, 2:-1] = x
    return {
        "planes": cupy.asarray(x),
        "bands fastest": cupy.asarray(x.transpose(1, 2, 0).copy()).transpose(2, 0, 1),
        "rows fastest": cupy.asarray(x.transpose(0, 2, 1).copy()).transpose(0, 2, 1),
        "bands fastest, backwards": cupy.asarray(x[::-1].transpose(1, 2, 0).copy()).transpose(
            2, 0, 1
        )[::-1],
        "part of an array": cupy.asarray(padded)[1:-1, ::2, 2:-1],
        "backwards": cupy.asarray(x[:, ::-1, ::-1].copy())[:, ::-1, ::-1],
        "unaligned": unaligned(cupy, x),
    }


@pytest.mark.parametrize("shape", [(40, 5, 33), (6, 3, 5), (33, 2, 2)])
def test_place_in_memory_changes_nothing(cupy: ModuleType, shape: tuple[int, int, int]) -> None:
    x = ground(shape)
    for device in places(cupy, x).values():
        np.testing.assert_array_equal(device.get(), x)
        assert_same(cupy, [device], Params())


def test_blocks_of_many_shapes_go_in_one_launch(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched = []
    monkeypatch.setattr(gpu_encode, "launch", lambda *a: (launched.append(a), LAUNCH(*a)))
    x = cupy.asarray(ground((70, 20, 50)))
    sources = [x[:33, :8, :40], x[33:, 8:, :40], x[:2, :8, 40:], x[:70, 19:, 20:22], x[:1, :1, :2]]
    assert_same(cupy, sources, Params(word_bytes=3))
    assert len(launched) == 2  # one codes, one joins
    assert_same(cupy, [*sources, x[:33, :8, 7:8]], Params(**FULL))
    assert len(launched) == 2 + 4  # a single column is predicted in another way


LAUNCH = gpu_encode.launch


@pytest.mark.parametrize("n_bands", [1, 31, 32, 33, 1025])
def test_any_number_of_bands(cupy: ModuleType, n_bands: int) -> None:
    x = ground((n_bands, 2, 3))
    assert_same(cupy, [cupy.asarray(x)], Params())


def test_lanes_without_room_are_coded_again(cupy: ModuleType) -> None:
    """Two-bit noise takes more than two bits a sample, between blocks that have room."""
    rough = np.random.default_rng(3).integers(0, 2, (2, 60, 40)).astype(np.uint8) * 3
    calm = np.zeros((3, 9, 40), np.uint8)
    params = Params(bit_depth=2, prediction_bands=0, unary_limit=32)
    blocks = [calm, rough, calm, rough[:1]]
    room = gpu_encode.encode_group([cupy.asarray(x) for x in blocks], params, np.full(4, 40))
    coded = assert_same(cupy, [cupy.asarray(x) for x in blocks], params)
    assert coded.lane_bits is not None
    assert coded.lane_bits[1].max() > 32 * 40 > coded.lane_bits[0].max()
    for (part, _), right in zip(room, coded.payloads, strict=True):
        np.testing.assert_array_equal(part, right)


def test_the_longest_codewords(cupy: ModuleType) -> None:
    """Calm long enough for k = 0, then residuals of all D bits behind U_max zeros."""
    x = np.zeros((2, 8, 40), np.uint32)
    x[:, -1, ::3] = 0xFFFFFFFF
    for limit in (8, 31, 32):
        assert_same(cupy, [cupy.asarray(x)], Params(unary_limit=limit))


@pytest.mark.parametrize(
    ("dtype", "depth", "value"),
    [(np.uint16, 12, 4096), (np.int16, 12, -2049), (np.int32, 20, 1 << 19), (np.uint8, 2, 4)],
)
def test_samples_that_do_not_fit_are_named(
    cupy: ModuleType, dtype: Any, depth: int, value: int
) -> None:
    x = np.zeros((35, 6, 20), dtype)
    x[34, 5, 19] = value
    params = Params(bit_depth=depth)
    blocks = [cupy.asarray(block) for block in (x[:4], x, x[:3])]
    with pytest.raises(BadParams) as found:
        encoded(gpu, blocks, params)
    with pytest.raises(BadParams) as right:
        encoded(cpu, [x], params)
    assert str(found.value) == str(right.value)
    x[34, 5, 19] -= np.sign(value).astype(dtype) if value > 0 else dtype(-1)
    assert_same(cupy, [cupy.asarray(x)], params)


@pytest.mark.parametrize("place", [(0, 0, 0), (34, 5, 19), (31, 2, 5), (33, 0, 0)], ids=str)
@pytest.mark.parametrize("dtype", ["i4", "u4", "u2"])
def test_samples_of_a_far_too_wide_type(
    cupy: ModuleType, dtype: str, place: tuple[int, int, int]
) -> None:
    """What a kernel makes of them overflows, were it to go on; the emulation would notice."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    finest: dict[str, Any] = {"weight_resolution": 19, "weight_min": -6, "weight_max": -6}
    for value in {low, high, high // 2 + 1, low // 2} - {0}:
        x = np.zeros((35, 6, 20), dtype)
        x[place] = value
        by_pixel = np.asfortranarray(x)
        for params in (Params(bit_depth=2, **FULL, **finest), Params(bit_depth=14)):
            for placed in (x, by_pixel):
                with pytest.raises(BadParams, match=f"sample {value} does not fit"):
                    encoded(gpu, [on_device(cupy, placed)], params)


@pytest.mark.parametrize("params", [Params(order="bi"), Params(coder="block")])
def test_serial_coders_run_on_the_host(cupy: ModuleType, params: Params) -> None:
    assert_same(cupy, [cupy.asarray(ground((5, 6, 7)))], params)


def test_no_blocks(cupy: ModuleType) -> None:
    assert encoded(gpu, [], Params()).payloads == ()


@pytest.mark.parametrize("seed", range(4))
def test_order_of_threads_changes_nothing(cupy: ModuleType, seed: int) -> None:
    """The emulation also finds races and reads of unwritten memory."""
    x = on_device(cupy, scene((40, 5, 21), "u2"))
    by_pixel = on_device(cupy, scene((5, 21, 40), "u2").transpose(2, 0, 1))
    with schedule(seed=seed, poison=0x5A):
        assert_same(cupy, [x, by_pixel], Params(**FULL))


VOTE, TILE = "if (__any_sync(~0u, above >> p.depth != 0)) break;\n", "first, columns, p, c);\n"


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
@pytest.mark.parametrize("by_pixel", [False, True])
@pytest.mark.parametrize("before", [VOTE, TILE], ids=["filled", "coded"])
def test_planted_races_are_found(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, before: str, by_pixel: bool
) -> None:
    """Else the test above would prove little."""
    source = kernels.source("gangsaw.codecs.ccsds123", "device/gpu_encode.cu")
    right = f"{before}        __syncwarp();\n"
    assert source.count(right) == 1
    monkeypatch.setattr(kernels, "source", lambda *_: source.replace(right, before))
    monkeypatch.setattr(core_gpu, "_modules", {})
    x = scene((40, 5, 21), "u2")
    with pytest.raises(KernelFault, match=r"race|uninitialised"):
        encoded(gpu, [on_device(cupy, np.asfortranarray(x) if by_pixel else x)], Params(**FULL))


@pytest.mark.full
@pytest.mark.parametrize(
    ("bands", "mode", "local_sum"), pairwise(range(16), ["full", "reduced"], LOCAL_SUMS)
)
def test_every_number_of_prediction_bands(
    cupy: ModuleType, bands: int, mode: Any, local_sum: Any
) -> None:
    """A kernel is compiled for each."""
    params = Params(prediction_bands=bands, mode=mode, local_sum=local_sum)
    assert_same(cupy, [cupy.asarray(scene((20, 4, 9), "u2"))], params)
