"""Kernels of the kind "dense" against the CPU's: on a device, or on emulated kernels."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from emulator.host_module import KernelFault, schedule
from helpers.dense_blocks import (
    PLAIN,
    constant,
    denormals,
    integers,
    mixed,
    near_grid,
    noise,
    ramp,
    wild,
)
from helpers.pairwise import pairwise
from helpers.visibility_on_gpu import (
    Block,
    check,
    check_memory,
    check_views,
    check_wrong,
    leave_integers,
)

from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.cuda import launch as core_gpu
from gangsaw.codecs.core.cuda import sources as kernels
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility import gpu
from gangsaw.codecs.visibility.dense import cpu as dense
from gangsaw.codecs.visibility.dense import gpu_narrow as gpu_dense_narrow
from gangsaw.codecs.visibility.dense import narrow as dense_narrow
from gangsaw.codecs.visibility.dense.choice import gpu_choose as gpu_dense_choose
from gangsaw.codecs.visibility.dense.model.grid import ABSOLUTE, NO_GRID, RELATIVE, Grid
from gangsaw.codecs.visibility.dense.model.head import HEAD
from gangsaw.codecs.visibility.dense.model.predict import PREDICTORS
from gangsaw.codecs.visibility.dense.model.symbols import NEAR_GRID
from gangsaw.codecs.visibility.lanes.table import Lanes
from gangsaw.codecs.visibility.params import Params
from gangsaw.codecs.visibility.samples import fringes, patterns, specials

DENSE = Params()
DTYPES = ["f2", "f4", "f8", "c8", "c16"]
WIDTHS = ["f2", "f4", "f8"]
every_width = pytest.mark.parametrize("dtype", WIDTHS)
# folded lanes, strips not full, lanes and rows that are not there, strips of one row
SHAPES = [(9, 5, 3), (70, 1, 3), (3, 3, 33), (1, 1, 40), (1, 1), (34, 4, 2, 9)]
MEANS, GRID = 1, 2  # places in a head


@pytest.fixture(autouse=True)
def doubles_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that hold float32s, too: test_narrow.py has blocks of these."""
    monkeypatch.setattr(dense_narrow, "narrow_words", lambda *_: False)
    monkeypatch.setattr(gpu_dense_narrow, "_fitting", lambda _: [])
    leave_integers(monkeypatch)  # tests/codecs/visibility/integers has blocks of these


def choose(monkeypatch: pytest.MonkeyPatch, **choices: Any) -> None:
    """Let both encoders choose this for every block: of grid, predictors, means, starts, commonest.

    Predictors are a function of lanes.
    """
    names = {"means": "_choose_means", "starts": "_starts"}
    batched = {
        "starts": "choose_all_starts",
        "means": "choose_means",
        "commonest": "choose_commonest_of_each",
    }
    for what, choice in choices.items():
        own = (lambda _, lanes, *__: choices["predictors"](lanes)) if what == "predictors" else None
        here = own or (lambda *_, choice=choice: choice)
        there = (
            (lambda batch, *_: [choices["predictors"](lanes) for lanes in batch.lanes])
            if own
            else (lambda batch, *_, choice=choice: [choice] * len(batch.lanes))
        )
        plural = "predictors" if own else f"{what}s"
        monkeypatch.setattr(dense, names.get(what, f"choose_{what}"), here)
        monkeypatch.setattr(gpu_dense_choose, batched.get(what, f"choose_{plural}"), there)


def in_turn(*codes: int) -> Callable[[Lanes], Any]:
    """Series by series the next of these predictors."""

    def predictors(lanes: Lanes) -> Any:
        chosen = np.zeros(lanes.n_strips * 32, np.uint8)
        chosen[: lanes.n_series] = np.resize(np.array(codes, np.uint8), lanes.n_series)
        return chosen

    return predictors


def heads(coded: Runs) -> list[tuple[int, ...]]:
    """Kind, means, grid, value, starts, predictors, bytes of those that are dense."""
    return [HEAD.unpack(part[: HEAD.size]) for part in coded.payloads if part[0] == dense.KIND]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_both_sides_write_the_same(cupy: ModuleType, dtype: str, shape: tuple[int, ...]) -> None:
    """All blocks of a batch go in one launch, except raw ones."""
    coded = check(cupy, [make(shape, dtype) for make in [*PLAIN, mixed]], DENSE)
    assert {int(part[0]) for part in coded.payloads} <= {0, dense.KIND}


@pytest.mark.parametrize("dtype", DTYPES)
def test_shapes_mix_in_a_batch(cupy: ModuleType, dtype: str) -> None:
    makers = [fringes, integers, patterns, ramp]
    blocks = [make(shape, dtype) for make, shape in zip(makers, SHAPES, strict=False)]
    coded = check(cupy, [*blocks, constant((30, 9), dtype), wild((9, 9, 9), dtype)], DENSE)
    assert {int(part[0]) for part in coded.payloads} == {0, dense.KIND}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("make", [mixed, ramp], ids=["mixed", "ramp"])
def test_every_predictor(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, dtype: str, make: Any
) -> None:
    """In several strips; also where there are fewer times and frequencies than terms look back."""
    choose(monkeypatch, predictors=in_turn(*range(len(PREDICTORS))))
    check(cupy, [make(shape, dtype) for shape in [(7, 6, 40), (3, 2, 20), (1, 6, 17)]], DENSE)


@every_width
@pytest.mark.parametrize("means", range(5), ids=["near", "wide", "slow", "slower", "level"])
def test_every_kind_of_means(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, dtype: str, means: int
) -> None:
    """With types that change from strip to strip, so that running means begin again."""
    choose(monkeypatch, means=means)
    if dtype != "f2":
        choose(monkeypatch, predictors=in_turn(*[0] * 40, *[3] * 29))
    shapes = [(6, 5, 100), (1, 7, 33), (9, 1, 40), (2, 4, 9), (3, 2)]
    coded = check(cupy, [mixed(shape, dtype) for shape in shapes], DENSE)
    assert {head[MEANS] for head in heads(coded)} <= {means}


GRIDS = [
    *(Grid(NO_GRID, 0), Grid(ABSOLUTE, 14), Grid(ABSOLUTE, 120), Grid(ABSOLUTE, -30)),
    *(Grid(ABSOLUTE, 2047), Grid(RELATIVE, 7), Grid(RELATIVE, 0), Grid(RELATIVE, 10)),
    *(Grid(ABSOLUTE, 10, True), Grid(ABSOLUTE, 120, True), Grid(ABSOLUTE, 1012, True)),
    *(Grid(ABSOLUTE, -30, True), Grid(RELATIVE, 7, True), Grid(RELATIVE, 9, True)),
]


@pytest.mark.parametrize(
    ("dtype", "grid", "commonest"), pairwise(WIDTHS, GRIDS, [None, 0x7C01, 0x3C00])
)
def test_grids_and_commonest(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, dtype: str, grid: Grid, commonest: int | None
) -> None:
    choose(monkeypatch, grid=grid, commonest=commonest, starts=(3, 9))
    blocks = [make((5, 4, 12), dtype) for make in (mixed, integers, near_grid)]
    if commonest is not None:
        blocks[1].view(f"u{blocks[1].itemsize}")[1:3] = commonest
    check(cupy, blocks, DENSE)


def test_what_an_encoder_finds_by_itself(cupy: ModuleType) -> None:
    """Predictors at a glance and by more rows, for some series or for all; grids; means."""
    shape = (40, 30, 16)
    half, level = ramp(shape, "f8"), noise(shape, "f8")
    half[..., ::2] = level[..., ::2]
    walk = np.cumsum(noise((600, 1, 20), "f8"), axis=0)
    blocks = [ramp(shape, "f8"), level, half, walk, integers(shape, "f8"), fringes(shape, "f8")]
    found = heads(check(cupy, blocks, DENSE))
    assert len({head[GRID] & 3 for head in found}) > 1
    assert len({head[MEANS] for head in found}) > 1
    assert {head[6] for head in found} >= {1, 2}
    assert any(head[5] for head in found)


@every_width
def test_commonest_and_words_that_are_not_finite(cupy: ModuleType, dtype: str) -> None:
    """No such word, one, several with one most often, as often as another."""
    shape, blocks = (6, 5, 11), []
    payloads = [np.array([v], dtype).view(f"u{dtype[1]}")[0] for v in (np.nan, np.inf, -np.inf)]
    for counts in [(0, 0, 0), (0, 9, 0), (4, 60, 8), (8, 8, 0), (0, 5, 5)]:
        block = fringes(shape, dtype)
        words = block.reshape(-1).view(f"u{dtype[1]}")
        places = np.random.default_rng(sum(counts)).permutation(words.size)
        ends = np.cumsum([0, *counts])
        for payload, begin, end in zip(payloads, ends[:-1], ends[1:], strict=True):
            words[places[begin:end]] = payload
        blocks.append(block)
    check(cupy, [*blocks, specials(shape, dtype), np.full(shape, np.nan, dtype)], DENSE)


@pytest.mark.parametrize("dtype", ["<c8", ">c8", ">f2", ">f8"])
def test_views(cupy: ModuleType, dtype: str) -> None:
    kind = np.dtype(dtype)
    host = ramp((14, 9, 13, 6), kind.newbyteorder("=").str).astype(kind)
    check_views(cupy, host, DENSE, dense.KIND)


def flipped(data: Any, rng: random.Random, first: int, end: int) -> Any:
    wrong = data.copy()
    for _ in range(rng.choice([1, 1, 2, 30])):
        wrong[rng.randrange(first, end)] ^= 1 << rng.randrange(8)
    return wrong


@pytest.mark.parametrize(
    ("make", "dtype", "means"), pairwise([ramp, mixed, wild, near_grid], WIDTHS, [1, 2, 4])
)
def test_flipped_bits(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, make: Any, dtype: str, means: int
) -> None:
    """Without the frame's checksum: both sides say the same, nothing outside is touched."""
    choose(monkeypatch, means=means)
    if dtype != "f2":
        choose(monkeypatch, predictors=in_turn(0, 1, 3, 13))
    block = make((5, 3, 35), dtype)
    data, rng, seen = dense.encode_dense(block), random.Random(dtype), set[str]()
    for i in range(60):
        first, end = [(1, 20), (20, 200), (200, data.size)][i % 3]
        seen.add(check_wrong(cupy, flipped(data, rng, first, end), block))
    assert len(seen) > 2
    assert "decoded" in seen


def forged(rng: np.random.Generator, lanes: Lanes, itemsize: int) -> tuple[Any, Any]:
    """Return choices, and what follows the head of a payload: one symbol for each context."""
    codes = in_turn(*rng.permutation(4)[:2]) if itemsize > 2 else in_turn(0)
    starts = int(rng.integers(-9, 9)), int(rng.integers(0, 20))
    kind, has_near_grid = int(rng.integers(0, 3)), bool(rng.integers(0, 2))
    grid = Grid(kind, int(rng.integers(0, 10)), kind > 0 and has_near_grid)
    choice = dense.BlockChoice(int(rng.integers(0, 5)), grid, starts, 5, codes(lanes))
    n_symbols = grid.n_symbols
    counts = np.zeros((dense.N_TABLES, n_symbols), np.uint32)
    usual = [*range(20), 24, 26, 30, 56, 70, 104, 105, 106, 107]
    symbols = rng.choice([*usual, *range(NEAR_GRID, n_symbols)[:40:3]], dense.N_TABLES)
    counts[np.arange(dense.N_TABLES), symbols] = 4096
    bits = rng.integers(0, 256, 50_000, np.uint8) * (rng.random(50_000) < rng.choice([0.02, 1]))
    states = np.full(32, 1 << 16, "<u4").view(np.uint8)
    return choice, (dense.pack_tables(counts, n_symbols), states, bits.astype(np.uint8))


@every_width
def test_words_that_no_writer_gives(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    """Symbols that a type has not, bits told beyond a fraction: the same words on both sides."""
    block = np.zeros((4, 3, 35), dtype)
    lanes, rng, taken = Lanes.of_block(block), np.random.default_rng(1), list[int]()
    read = dense._read_strips

    def reading(*arguments: Any) -> tuple[int, int]:
        taken.append(read(*arguments)[1])
        return 0, taken[-1]

    decoded = 0
    for _ in range(150):
        choice, (tables, states, bits) = forged(rng, lanes, block.itemsize)
        monkeypatch.setattr(dense, "_read_strips", reading)
        for size in (bits.size, 0):
            size = size or taken[-1]
            head = dense.write_head(choice, lanes, block.itemsize, size)
            data = np.concatenate([head, tables, states, bits[:size]])
            if size == bits.size:
                with suppress(CorruptChunk):
                    dense.decode_dense(data, np.empty_like(block))
                monkeypatch.setattr(dense, "_read_strips", read)
        decoded += check_wrong(cupy, data, block) == "decoded"
    assert decoded > 20


@pytest.mark.parametrize("dtype", ["c8", "f8"])
def test_truncations_and_bytes_too_many(cupy: ModuleType, dtype: str) -> None:
    block = fringes((5, 4, 3), dtype)
    data = dense.encode_dense(block)
    for size in [*range(1, data.size, 3), data.size - 2, data.size - 1]:
        assert check_wrong(cupy, data[:size], block) != "decoded"
    for more in (1, 2, 4):
        assert check_wrong(cupy, np.append(data, np.zeros(more, np.uint8)), block) != "decoded"


@pytest.mark.parametrize("seed", [1, 2])
def test_schedules(cupy: ModuleType, seed: int) -> None:
    """Threads of a warp apart from each other, as far as barriers let them."""
    with schedule(seed=seed):
        blocks = [mixed((9, 5, 9), "f4"), ramp((35, 3, 9), "f4"), wild((9, 9, 20), "f4")]
        check(cupy, blocks, DENSE)


PLANTED: Sequence[tuple[str, str, str]] = [
    ("coding/decode.cu", "__syncwarp();  // all have read", ";"),
    ("coding/decode.cu", "__dmul_rn(terms[i].weight, finite_doubles(words[i]))", "terms[i].weight"),
    ("coding/decode.cu", "if (t + 1 < times) after", "if (t + 2 < times) after"),
    ("coding/encode.cu", "__syncwarp();\n#pragma unroll 1", ";"),
    ("coding/encode.cu", "__popc(all & ((1u << threadIdx.x) - 1))", "0"),
]


def plant(monkeypatch: pytest.MonkeyPatch, file: str, right: str, wrong: str) -> None:
    """Let kernels of a file have a fault from now on."""
    taken = kernels.source
    assert right in taken("gangsaw.codecs.visibility.dense", file)

    def source(package: str, name: str) -> str:
        text = taken(package, name)
        return text.replace(right, wrong) if name == file else text

    monkeypatch.setattr(kernels, "source", source)
    monkeypatch.setattr(core_gpu, "_modules", {})


# On a device a race may come out right.
@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
@pytest.mark.parametrize(("file", "right", "wrong"), PLANTED)
def test_planted_faults_are_found(
    cupy: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    *,
    file: str,
    right: str,
    wrong: str,
) -> None:
    """Else the tests above would prove little."""
    choose(monkeypatch, predictors=in_turn(0, 3, 1), means=1)
    blocks = [noise((9, 7, 32), "f4"), mixed((9, 7, 9), "f4")]
    check(cupy, blocks, DENSE)
    plant(monkeypatch, file, right, wrong)
    with pytest.raises((KernelFault, AssertionError, CorruptChunk)), schedule(seed=3):
        check(cupy, blocks, DENSE)


def test_a_batch_in_several_runs(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory is short blocks go in halves, and errors name the block of the batch."""
    blocks: list[Block] = [fringes((6, 5, 4), "c8") for _ in range(4)]
    one = gpu.encoder_bytes(blocks[0], DENSE)
    monkeypatch.setattr(core_gpu, "free_device_bytes", lambda: 2 * one)
    coded = check(cupy, blocks, DENSE)
    wrong = Runs((*coded.payloads[:3], coded.payloads[3][:-2]))
    with pytest.raises(CorruptChunk) as caught:
        gpu.BACKEND.decode(wrong, [cupy.zeros(block.shape, "c8") for block in blocks], DENSE)
    assert caught.value.block == 3


@pytest.mark.full
@pytest.mark.parametrize("shape", [(1, 1, 4000), (2000, 1, 2), (700, 3, 5), (60, 9, 16)], ids=str)
def test_the_memory_of_a_block_is_enough(cupy: ModuleType, shape: tuple[int, ...]) -> None:
    """Many lanes, many times, words of all kinds: what is promised is all that is allocated."""
    for block in (mixed(shape, "c8"), patterns(shape, "c16"), mixed((9, 5, 3), "f2")):
        check_memory(cupy, block, DENSE)


def test_denormals_of_halves_and_doubles(cupy: ModuleType) -> None:
    for dtype in DTYPES:
        check(cupy, [denormals((6, 5, 20), dtype), constant((3, 3, 3), dtype)], DENSE)


def denormal_ramps(dtype: str) -> list[Block]:
    """Ramps from denormals into the least normal numbers, of the type and of float32."""
    kind = np.dtype(dtype)
    places = np.arange(16 * 5 * 33).reshape(16, 5, 33) % 1021
    least = {float(np.finfo(one).smallest_normal) for one in (kind, np.float32)}
    return [(places / 500 * one).astype(kind) for one in sorted(least)]


@pytest.mark.parametrize("dtype", ["f4", "c8", "f8", "c16"])
@pytest.mark.parametrize("means", [None, *range(5)], ids=str)
def test_denormal_ramps(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, dtype: str, means: int | None
) -> None:
    """Sizes, means and their steps are denormal, too: frames are those of the CPU all the same."""
    if means is not None:
        choose(monkeypatch, means=means, predictors=in_turn(0))
    coded = check(cupy, denormal_ramps(dtype), DENSE)
    assert dense.KIND in {int(part[0]) for part in coded.payloads}  # some fit no better than raw


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_flushed_denormals_are_found(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    """As -ftz=true does it: else the test above would prove little."""
    choose(monkeypatch, means=3, predictors=in_turn(0))
    step = "__fmul_rn(__fsub_rn(size, sizes.mean), rate)"
    flushed = f"(fabsf({step}) < 1.17549435e-38f ? 0.0f : {step})"
    plant(monkeypatch, "coding/encode.cu", step, flushed)
    with pytest.raises(AssertionError):
        check(cupy, denormal_ramps(dtype), DENSE)
