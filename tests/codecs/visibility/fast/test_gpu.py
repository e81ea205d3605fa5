"""The GPU backend of visibilities against the CPU's: on a device, or on emulated kernels."""

from __future__ import annotations

import random
from types import ModuleType

import numpy as np
import pytest
from emulator.host_module import KernelFault, schedule
from helpers.backends import encoded
from helpers.gpu_arrays import unaligned
from helpers.visibility_on_gpu import Block, check, check_views, check_wrong

from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.cuda import launch as core_gpu
from gangsaw.codecs.core.cuda import sources as kernels
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility import cpu, gpu
from gangsaw.codecs.visibility.fast import cpu as fast
from gangsaw.codecs.visibility.fast import gpu_encode
from gangsaw.codecs.visibility.lanes import gpu_table
from gangsaw.codecs.visibility.lanes.table import Lanes
from gangsaw.codecs.visibility.params import Params
from gangsaw.codecs.visibility.samples import fringes, patterns, specials

FAST = Params(effort="fast")
CONSTRUCTION = Params(predictor="lorenzo", residual="xor", packing="bits")
DTYPES = ["f2", "f4", "f8", "c8", "c16"]
# folded lanes, tiles in several strips, lanes and rows that are not there, strips of one row
SHAPES = [(9, 5, 3), (70, 1, 3), (3, 3, 33), (1, 1, 40), (1, 1), (34, 4, 2, 9)]
FLIPS = 40


def integers(shape: tuple[int, ...], dtype: str) -> Block:
    """Whole multiples of one power of two, zeros of both signs among them: grids."""
    rng = np.random.default_rng(len(shape))
    values = np.ldexp(rng.integers(-90, 91, shape).astype("f8"), -3)
    return (values * rng.choice([1, 0.0, -0.0], shape)).astype(dtype)


def smooth(shape: tuple[int, ...], dtype: str, predictor: int) -> Block:
    """Words that the predictor finds."""
    t, f = np.indices(shape[:2])
    lorenzo, frequency, time = t * 7919 % 977 + f * 4729 % 64, t * t * 31 + f * (t % 7), t * t
    surface = {1: lorenzo, 2: frequency, 3: time}[predictor]
    kind = np.dtype(dtype)
    components = 2 if kind.kind == "c" else 1
    words = np.zeros((*shape, components), f"u{kind.itemsize // components}")
    words[...] = surface.reshape(*shape[:2], *(1,) * (len(shape) - 1))
    return (words + (words.dtype.type(1) << (8 * words.itemsize - 3))).view(dtype)[..., 0]


def mixed(shape: tuple[int, ...], dtype: str) -> Block:
    """Groups of several kinds side by side."""
    parts = [fringes(shape, dtype), integers(shape, dtype), smooth(shape, dtype, 1)]
    choice = np.arange(shape[-1]) % len(parts)
    return np.choose(np.broadcast_to(choice, shape), parts).astype(dtype)


def blocks_of(shape: tuple[int, ...], dtype: str) -> list[Block]:
    """One of each sort, of one shape."""
    sorts = [fringes, patterns, specials, integers, mixed]
    return [make(shape, dtype) for make in sorts] + [smooth(shape, dtype, p) for p in (1, 2, 3)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_both_sides_write_the_same(cupy: ModuleType, dtype: str) -> None:
    """All blocks of a batch go in one launch, except raw ones."""
    coded = check(cupy, [block for shape in SHAPES for block in blocks_of(shape, dtype)], FAST)
    modes = {int(part[1]) for part in coded.payloads if part[0] == 2}
    assert {int(part[0]) for part in coded.payloads} == {0, 2}
    assert len(modes) > 2


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_every_predictor_and_grids(cupy: ModuleType, dtype: str) -> None:
    """Long strips of each mode; with 40 times rows below are read ahead, with 7 they are not."""
    shapes = {1: (40, 3, 20), 2: (7, 12, 20), 3: (80, 1, 40)}
    blocks = [smooth(shape, dtype, predictor) for predictor, shape in shapes.items()]
    blocks += [smooth((40, 4, 33), dtype, 2), integers((9, 8, 16), dtype)]
    parts = check(cupy, blocks, FAST).payloads
    assert [part[1] & 3 for part in parts[:3]] == [1, 2, 3]
    assert parts[4][1] == 4


def test_the_mode_of_long_blocks_and_of_hardly_any_gain(cupy: ModuleType) -> None:
    """More tiles than one pass places, few of them sampled; gains on both sides of the least."""
    shape = (40, 30, 32)
    noise, even = patterns(shape, "f4"), smooth(shape, "f4", 1)
    blocks = [np.where(np.arange(shape[2]) < n, even, noise) for n in range(6, 10)]
    modes = [int(part[1]) for part in check(cupy, blocks, FAST).payloads]
    assert modes == [0, 0, 2, 2]


@pytest.mark.parametrize("dtype", ["<c8", ">c8", ">f2", ">f8"])
def test_views(cupy: ModuleType, dtype: str) -> None:
    kind = np.dtype(dtype)
    host = mixed((14, 9, 13, 6), kind.newbyteorder("=").str).astype(kind)
    check_views(cupy, host, FAST, fast.KIND)


def test_constructions_go_over_the_cpu(cupy: ModuleType) -> None:
    check(cupy, [fringes((6, 5, 4), "c8"), patterns((5, 5), "c8")], CONSTRUCTION)


@pytest.mark.parametrize("params", [FAST, Params()], ids=["fast", "dense"])
def test_unaligned_blocks_go_over_the_cpu(cupy: ModuleType, params: Params) -> None:
    block = fringes((9, 8, 6), "f4")
    source, target = unaligned(cupy, block), unaligned(cupy, np.zeros_like(block))
    assert not gpu_table.has_kernel(source)
    coded = encoded(gpu, [source], params)
    np.testing.assert_array_equal(coded.payloads[0], encoded(cpu, [block], params).payloads[0])
    gpu.BACKEND.decode(coded, [target], params)
    assert target.get().tobytes() == block.tobytes()


def test_kinds_mix_in_a_batch(cupy: ModuleType) -> None:
    """Each block says how it was encoded; one that is wrong is named, and the others are filled."""
    blocks = [fringes((8, 6, 5), "c8")] * 3 + [patterns((8, 6, 5), "c8")]
    ways = [FAST, Params(), CONSTRUCTION, FAST]
    pairs = zip(blocks, ways, strict=True)
    parts = [encoded(cpu, [block], way).payloads[0] for block, way in pairs]
    assert sorted(int(part[0]) for part in parts) == [0, 1, 2, 3]
    order = [3, 0, 1, 2, 0]
    targets = [cupy.zeros(blocks[i].shape, "c8") for i in order]
    gpu.BACKEND.decode(Runs(tuple(parts[i] for i in order)), targets, FAST)
    for i, target in zip(order, targets, strict=True):
        assert target.get().tobytes() == blocks[i].tobytes()
    for wrong in (1, 3):
        cut = [parts[i][: -4 if n >= wrong else None] for n, i in enumerate(order)]
        targets = [cupy.zeros(blocks[i].shape, "c8") for i in order]
        with pytest.raises(CorruptChunk) as caught:
            gpu.BACKEND.decode(Runs(tuple(cut)), targets, FAST)
        assert caught.value.block == wrong
        assert targets[0].get().tobytes() == blocks[3].tobytes()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("mode", [1, 2, 3, 4], ids=["lorenzo", "frequency", "time", "grid"])
def test_flipped_bits(cupy: ModuleType, dtype: str, mode: int) -> None:
    """Without the frame's checksum: both sides say the same, nothing outside is touched."""
    shape = {1: (40, 3, 16), 2: (7, 12, 16), 3: (80, 1, 32), 4: (16, 4, 16)}[mode]
    block = integers(shape, dtype) if mode == 4 else smooth(shape, dtype, mode)
    data, rng, seen = encoded(cpu, [block], FAST).payloads[0], random.Random(mode), set()
    assert tuple(data[:2]) == (2, mode)
    head = gpu_encode.head_bytes(
        -(-Lanes.of_block(block).shape[0] // 32), gpu_table.word_bytes(block)
    )
    for i in range(FLIPS):
        wrong = data.copy()
        for _ in range(rng.choice([1, 1, 2, 30])):
            place = rng.randrange(1, head) if i % 2 else rng.randrange(1, data.size)
            wrong[place] ^= 1 << rng.randrange(8)
        seen.add(check_wrong(cupy, wrong, block))
    assert len(seen) > 2


def test_truncations_and_bytes_too_many(cupy: ModuleType) -> None:
    block = fringes((5, 4, 3), "c8")
    data = encoded(cpu, [block], FAST).payloads[0]
    for size in range(data.size):
        assert check_wrong(cupy, data[:size], block) != "decoded"
    assert check_wrong(cupy, np.append(data, np.uint8(0)), block) != "decoded"


@pytest.mark.parametrize("seed", [1, 2])
def test_schedules(cupy: ModuleType, seed: int) -> None:
    """Threads of a warp apart from each other, as far as barriers let them."""
    with schedule(seed=seed):
        blocks = [mixed((9, 5, 9), "f4"), smooth((35, 3, 9), "f4", 1), integers((9, 9), "f4")]
        check(cupy, blocks, FAST)


# On a device a race may come out right.
@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("encode.cu", "__syncwarp();", ";"),
        ("decode.cu", "__syncwarp();", ";"),
        ("decode.cu", "block.part_times >= ROWS", "block.part_times >= 4"),
    ],
    ids=["encoder", "decoder", "ahead"],
)
def test_planted_faults_are_found(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, file: str, right: str, wrong: str
) -> None:
    """Else the tests above would prove little."""
    taken = kernels.source
    assert right in taken("gangsaw.codecs.visibility.fast", file)
    monkeypatch.setattr(kernels, "source", lambda *of: taken(*of).replace(right, wrong))
    monkeypatch.setattr(core_gpu, "_modules", {})
    with pytest.raises((KernelFault, AssertionError)), schedule(seed=3):
        check(cupy, [smooth((9, 7, 32), "f4", 1), mixed((9, 7, 9), "f4")], FAST)


def test_a_batch_in_several_runs(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory is short blocks go in halves, and errors name the block of the batch."""
    blocks = [fringes((6, 5, 4), "c8") for _ in range(4)]
    one = gpu.encoder_bytes(blocks[0], FAST)
    monkeypatch.setattr(core_gpu, "free_device_bytes", lambda: 2 * one)
    coded = check(cupy, blocks, FAST)
    wrong = Runs((*coded.payloads[:3], coded.payloads[3][:-4]))
    with pytest.raises(CorruptChunk) as caught:
        gpu.BACKEND.decode(wrong, [cupy.zeros(block.shape, "c8") for block in blocks], FAST)
    assert caught.value.block == 3
