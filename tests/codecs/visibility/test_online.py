"""Time steps one by one: the chunks of the encoder are those of Zarr, in bounded memory."""

from __future__ import annotations

import importlib.util
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import zarr
from helpers import compiled
from zarr.storage import MemoryStore

from gangsaw import BadParams
from gangsaw.codecs import Visibility
from gangsaw.codecs.visibility import Params, StepEncoder
from gangsaw.codecs.visibility.samples import fringes, patterns

BLOCK = (4, 0, 0)
BY_TIME = {"predictor": "time", "residual": "xor", "packing": "bits"}
PARAMS = {
    "dense": Params(block=BLOCK),
    "fast": Params(effort="fast", block=BLOCK),
    "time": Params(block=BLOCK, **BY_TIME),
    "axes": Params(axes="tbf", block=(4, 3, 2)),
}


def frames(encoder: StepEncoder, cube: np.ndarray) -> Iterator[bytes]:
    """Push all steps; yield every frame, the last one's too."""
    for step in cube:
        if (frame := encoder.push(step)) is not None:
            yield bytes(frame)
    if (frame := encoder.finish()) is not None:
        yield bytes(frame)


def chunks_of_zarr(cube: np.ndarray, params: Params, fill_value: Any) -> list[bytes]:
    """Return the objects that Zarr stores for the same array."""
    objects: dict[str, Any] = {}
    n = params.block[0]
    array = zarr.create_array(
        MemoryStore(objects),
        shape=cube.shape,
        dtype=cube.dtype.newbyteorder("="),
        chunks=(n, *cube.shape[1:]),
        serializer=Visibility(**vars(params)),
        compressors=None,
        fill_value=fill_value,
        config={"write_empty_chunks": True},
    )
    array[...] = cube
    rest = "/0" * (cube.ndim - 1)
    return [objects[f"c/{i}{rest}"].to_bytes() for i in range(-(-len(cube) // n))]


@pytest.mark.parametrize("params", PARAMS.values(), ids=PARAMS)
@pytest.mark.parametrize("kind", ["<c8", ">c8", "<f4"])
@pytest.mark.parametrize("make", [fringes, patterns])
def test_frames_are_the_chunks_of_zarr(params: Params, kind: str, make: Any) -> None:
    """Two whole chunks and one step more: the last chunk is padded with the fill value."""
    cube = make((9, 6, 5), kind)
    encoder = StepEncoder(cube.shape[1:], cube.dtype, params, fill_value=1.5)
    found = list(frames(encoder, cube))
    assert len(found) == 3
    assert found == chunks_of_zarr(cube, params, 1.5)


@pytest.mark.parametrize("params", PARAMS.values(), ids=PARAMS)
def test_every_chunk_is_decoded_alone_to_the_bit(params: Params) -> None:
    cube = patterns((8, 6, 5), "c8")
    encoder = StepEncoder(cube.shape[1:], "c8", params)
    for i, frame in reversed(list(enumerate(frames(encoder, cube)))):
        out = np.empty(encoder.chunk_shape, "c8")
        Visibility(**vars(params)).decode_chunk(frame, out)
        assert out.tobytes() == cube[4 * i : 4 * i + 4].tobytes()


def test_a_frame_comes_after_every_n_steps_and_says_how_many_wait() -> None:
    cube = fringes((7, 3, 2), "c8")
    encoder = StepEncoder((3, 2), "c8", Params(block=(3, 0, 0)))
    assert encoder.finish() is None
    came = [(encoder.push(step) is not None, encoder.waiting) for step in cube]
    assert came == [(False, 1), (False, 2), (True, 0)] * 2 + [(False, 1)]
    assert encoder.finish() is not None
    assert (encoder.waiting, encoder.finish()) == (0, None)
    afresh = StepEncoder((3, 2), "c8", Params(block=(3, 0, 0)))
    assert list(frames(encoder, cube)) == list(frames(afresh, cube))


def test_steps_may_lie_anyhow_and_change_afterwards() -> None:
    cube = fringes((4, 5, 6), "c8")
    encoder = StepEncoder((5, 6), "c8", PARAMS["fast"])
    strided = np.asfortranarray(np.repeat(cube, 2, axis=1))[:, ::2]
    found = [encoder.push(step) for step in strided[:3]]
    step = cube[3].copy()
    step.flags.writeable = False
    found.append(encoder.push(step))
    assert found[:3] == [None] * 3
    assert bytes(found[3]) == chunks_of_zarr(cube, PARAMS["fast"], 0)[0]


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (np.zeros((6, 5), "c8"), r"of shape \(5, 6\), got <c8 of shape \(6, 5\)"),
        (np.zeros((1, 5, 6), "c8"), r"got <c8 of shape \(1, 5, 6\)"),
        (np.zeros((5, 6), "c16"), "must be <c8 .* got <c16"),
        (np.zeros((5, 6), ">c8"), "must be <c8 .* got >c8"),
        ([[0j] * 6] * 5, "list is no array"),
    ],
)
def test_a_wrong_step_is_refused_and_changes_nothing(step: Any, says: str) -> None:
    cube = fringes((4, 5, 6), "c8")
    encoder = StepEncoder((5, 6), "<c8", PARAMS["fast"])
    encoder.push(cube[0])
    with pytest.raises(BadParams, match=says):
        encoder.push(step)
    assert encoder.waiting == 1
    assert list(frames(encoder, cube[1:])) == chunks_of_zarr(cube, PARAMS["fast"], 0)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (((5, 6), "c8", Params()), r"give it, such as Params\(block=\(16, 0, 0\)\)"),
        (((5, 6), "c8", Params(axes="ftb", block=BLOCK)), "must begin with 't'"),
        (((5, 6), "c8", Params(axes="tf", block=BLOCK)), "names 2 axes, the array has 3"),
        (((5, 6), "i4", Params(block=BLOCK)), "got int32"),
        (((5, 0), "c8", Params(block=BLOCK)), "extents of at least 1"),
        (((5.0, 6), "c8", Params(block=BLOCK)), "tuple of integers, got"),
        ((5, "c8", Params(block=BLOCK)), "tuple of integers, got 5"),
        (((5, 6), "f4", Params(block=BLOCK), 1j), "fill_value 1j is no float32"),
    ],
)
def test_an_encoder_that_cannot_be_is_refused(arguments: Any, says: str) -> None:
    with pytest.raises(BadParams, match=says):
        StepEncoder(*arguments)


@pytest.mark.parametrize("name", ["dense", "fast", "time"])
def test_memory_is_that_of_one_chunk_however_many_come(name: str) -> None:
    shape = (32, 16, 24)
    cube = patterns((4, *shape), "c8")
    encoder = StepEncoder(shape, "c8", PARAMS[name])
    encoder.warm_up()
    tracemalloc.start()
    try:
        for _ in range(6):
            list(frames(encoder, cube))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert cube.nbytes < peak <= encoder.peak_bytes
    assert encoder.peak_bytes < 12 * cube.nbytes + (1 << 20)


def test_warming_up_leaves_no_trace() -> None:
    cube = fringes((4, 5, 6), "c8")
    encoder = StepEncoder((5, 6), "c8", PARAMS["dense"])
    encoder.push(cube[0])
    encoder.warm_up()
    assert encoder.waiting == 1
    assert list(frames(encoder, cube[1:])) == chunks_of_zarr(cube, PARAMS["dense"], 0)


WARM = """
import numpy as np
from helpers.compiled import kernels

from gangsaw.codecs.visibility import Params, StepEncoder

for dtype in {dtypes}:
    shape = (8, 64, 50, 4)
    encoder = StepEncoder(shape[1:], dtype, Params(effort="{effort}", block=(8, 0, 0)))
    encoder.warm_up()
    warm = kernels()
    rng = np.random.default_rng(1)
    numbers, noise = rng.integers(-500, 500, shape), rng.standard_normal(shape)
    scaled, turned = numbers * np.float32(0.37), numbers * np.exp(1j * noise)
    octets = rng.integers(0, 256, (*shape, np.dtype(dtype).itemsize), np.uint8).view(dtype)[..., 0]
    for cube in (numbers, noise, scaled, turned.real, noise.cumsum(0).cumsum(0), octets):
        for step in cube.astype(dtype):
            encoder.push(step)
    print(len(warm) > 0, kernels() - warm)
"""


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("effort", ["dense", "fast"])
def test_no_step_waits_for_a_kernel_after_warming_up(effort: str) -> None:
    dtypes = ["c16", "c8", "f2"]
    assert compiled.run(WARM.format(dtypes=dtypes, effort=effort)) == "True set()\n" * len(dtypes)


def test_steps_keep_to_one_memory(cupy: Any) -> None:
    step = fringes((5, 6), "c8")
    encoder = StepEncoder((5, 6), "c8", PARAMS["fast"])
    encoder.push(cupy.asarray(step))
    with pytest.raises(BadParams, match="on the cpu, those before on the gpu"):
        encoder.push(step)
    assert encoder.waiting == 1


def test_steps_on_a_gpu_give_the_same_bytes(cupy: Any) -> None:
    if importlib.util.find_spec("gangsaw.codecs.visibility.gpu") is None:
        pytest.skip("gangsaw.visibility has no GPU backend yet")
    cube = fringes((9, 6, 5), "c8")
    encoder = StepEncoder((6, 5), "c8", PARAMS["fast"])
    assert list(frames(encoder, cupy.asarray(cube))) == chunks_of_zarr(cube, PARAMS["fast"], 0)
