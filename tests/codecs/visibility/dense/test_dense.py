"""The kind "dense": bit for bit the reference's, any bits back, whatever the encoder chooses."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.dense_blocks import (
    MAKERS,
    as_block,
    extents_of,
    mixed,
    near_grid,
    noise,
    ramp,
    round_trip,
)
from helpers.visibility_words import any_words
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import visibility_dense as reference

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.jit import HAS_AVX512
from gangsaw.codecs.visibility.codec import Visibility
from gangsaw.codecs.visibility.dense import cpu as dense
from gangsaw.codecs.visibility.dense.model.grid import ABSOLUTE, NO_GRID, RELATIVE, Grid
from gangsaw.codecs.visibility.dense.model.head import HEAD
from gangsaw.codecs.visibility.dense.model.predict import PREDICTORS
from gangsaw.codecs.visibility.dense.model.scale import LEVEL
from gangsaw.codecs.visibility.lanes.table import Lanes
from gangsaw.codecs.visibility.samples import patterns

WIDTHS = ["f2", "f4", "f8"]
every_width = pytest.mark.parametrize("dtype", WIDTHS)
wide_enough = pytest.mark.parametrize("dtype", ["f4", "f8"])  # for predictions
SHAPES = [(1, 1), (1, 1, 100), (1, 2, 3), (2, 1, 50), (40, 1), (1, 40, 6), (5, 3, 33), (9, 13, 2)]


ELSEWHERE = """
from helpers.dense_blocks import MAKERS, round_trip
from gangsaw.codecs.core.numba.jit import HAS_AVX512
assert not HAS_AVX512
for make in MAKERS:
    for shape in [(9, 13, 2), (5, 3, 33)]:
        round_trip(make(shape, "f4"))
"""


def choose(monkeypatch: pytest.MonkeyPatch, **choices: Any) -> None:
    """Let the encoder choose this, of grid, predictors, means, starts, commonest."""
    names = {"means": "_choose_means", "starts": "_starts"}
    for what, choice in choices.items():
        decide = choice if callable(choice) else lambda *_, choice=choice: choice
        monkeypatch.setattr(dense, names.get(what, f"choose_{what}"), decide)


def in_turn(*codes: int) -> Callable[..., Any]:
    """Series by series the next of these predictors."""

    def predictors(words: Any, lanes: Lanes, *_: Any) -> Any:
        chosen = np.zeros(lanes.n_strips * 32, np.uint8)
        chosen[: lanes.n_series] = np.resize(np.array(codes, np.uint8), lanes.n_series)
        return chosen

    return predictors


@pytest.mark.parametrize("make", MAKERS, ids=lambda f: f.__name__)
@every_width
def test_payloads_are_the_references(make: Any, dtype: str) -> None:
    round_trip(make((9, 4, 20), dtype))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_any_shape(shape: tuple[int, ...], dtype: str) -> None:
    round_trip(mixed(shape, dtype))


@given(any_words())
@settings(max_examples=100)
def test_any_bits(words: Any) -> None:
    round_trip(as_block(words))


@st.composite
def series(draw: st.DrawFn) -> Any:
    """Numbers around one size or of all sizes, on grids or not, with what is no number between."""
    kind = draw(st.sampled_from(["f2", "f4", "f8"]))
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(1, 40)))
    seed = draw(st.integers(0, 1 << 32))
    rng, n = np.random.default_rng(seed), shape[2]
    spread = rng.choice([0, 0, 1, 8, 60], n)
    values = rng.normal(size=shape) * np.exp2(rng.normal(size=shape) * spread)
    steps = np.exp2(rng.integers(-6, 3, n))
    values = np.where(rng.random(n) < 0.5, values, np.rint(values / steps) * steps)
    odd = np.array(draw(st.lists(st.floats(width=16), min_size=1, max_size=4)))
    is_odd = rng.random(shape) < draw(st.sampled_from([0, 0.02, 0.6]))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(is_odd, odd[rng.integers(0, odd.size, shape)], values).astype(kind)


@given(
    series(), st.sampled_from(range(5)), st.sampled_from([(0,), (3,), (0, 1, 2, 12)]), st.booleans()
)
@settings(max_examples=100)
def test_numbers_of_many_kinds(
    block: Any, means: int, codes: tuple[int, ...], has_near_grid: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        choose(patch, means=means)
        if has_near_grid:
            choose(patch, grid=Grid(ABSOLUTE, {2: 15, 4: 127, 8: 1023}[block.itemsize] - 4, True))
        if block.itemsize > 2:
            choose(patch, predictors=in_turn(*codes))
        round_trip(block)


@wide_enough
def test_predictors_are_chosen_where_they_help(dtype: str) -> None:
    head = round_trip(ramp((30, 6, 20), dtype))
    assert any(head.predictors)
    assert not any(round_trip(patterns((30, 6, 20), dtype)).predictors)


@pytest.mark.parametrize("code", range(1, len(PREDICTORS)))
@wide_enough
def test_every_predictor(code: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over numbers that are smooth, and such that overflow or are none."""
    choose(monkeypatch, predictors=in_turn(code))
    block = ramp((7, 6, 10), dtype)
    block[:, :, 5:] = patterns((7, 6, 5), dtype)
    assert set(round_trip(block).predictors) == {code}


@pytest.mark.parametrize("means", range(5))
@wide_enough
def test_series_of_both_types_side_by_side_and_below(
    means: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one strip, and one after the other: there running means begin again."""
    choose(monkeypatch, means=means, predictors=in_turn(*range(15), 0, 0))
    assert set(round_trip(mixed((6, 5, 80), dtype)).predictors) == set(range(15))


@pytest.mark.parametrize("means", range(5))
@every_width
def test_every_kind_of_means(means: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    choose(monkeypatch, means=means)
    assert round_trip(mixed((6, 5, 70), dtype)).means == means


def test_means_of_a_few_values_are_left_where_all_are_of_one_level() -> None:
    """But not where levels differ elsewhere than in consecutive rows."""
    rng = np.random.default_rng(1)
    level = rng.normal(size=(2, 1, 4000)).astype("f4")
    assert round_trip(level).means == LEVEL
    band = np.exp2(np.linspace(-12, 12, 600).clip(0))[:, None] * rng.normal(size=(1, 600, 32))
    assert round_trip(band.astype("f4")).means != LEVEL


GRIDS = [
    Grid(NO_GRID, 0),
    *(Grid(ABSOLUTE, value) for value in (-2047, 0, 5, 15, 120, 127, 1020, 2047)),
    *(Grid(RELATIVE, value) for value in (0, 1, 8, 9, 10)),
    *(Grid(ABSOLUTE, value, True) for value in (-2047, 0, 5, 10, 111, 120, 1007, 1020, 2047)),
    *(Grid(RELATIVE, value, True) for value in (0, 1, 2, 3, 8, 9, 10)),
]


@pytest.mark.parametrize(
    "grid", GRIDS, ids=lambda g: f"{g.kind}-{g.value}{'-near-grid' * g.has_near_grid}"
)
@every_width
def test_every_grid(grid: Grid, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    choose(monkeypatch, grid=grid)
    for make in (mixed, near_grid):
        head = round_trip(make((5, 4, 20), dtype))
        assert (head.grid, head.value, head.has_near_grid) == grid


@every_width
def test_grids_are_found(dtype: str) -> None:
    rng = np.random.default_rng(1)
    absolute = np.ldexp(rng.integers(-1000, 1000, (20, 5, 20)), -5).astype(dtype)
    head = round_trip(absolute)
    assert (head.grid, head.value) == (ABSOLUTE, {"f2": 15, "f4": 127, "f8": 1023}[dtype] - 5)
    fine = rng.normal(size=(20, 5, 20)).astype(dtype).view(f"u{np.dtype(dtype).itemsize}")
    head = round_trip((fine & np.array(-1 << 6).astype(fine.dtype)).view(dtype))
    assert (head.grid, head.value) == (RELATIVE, 6)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_values_near_the_grid_have_symbols_where_that_saves_bits(dtype: str) -> None:
    assert not round_trip(noise((20, 5, 20), dtype)).has_near_grid
    block = near_grid((40, 10, 40), dtype)
    head = round_trip(block)
    assert head.has_near_grid
    with pytest.MonkeyPatch.context() as patch:
        choose(patch, grid=Grid(head.grid, head.value))
        without = dense.encode_dense(block).size
    assert dense.encode_dense(block).size < 0.9 * without


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_every_number_of_units_near_the_grid(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also below a power of two, where the number on the grid has another exponent."""
    kind = f"i{dtype[1]}"
    on_grid = np.array([1, -1, 2, 1.75, -1.25, 3.5, 0.25, 1.984375]).astype(dtype).view(kind)
    units = np.arange(-300, 301, dtype=kind)
    block = (on_grid[:, None] + units).view(dtype)[:, None, :]
    bias = {"f2": 15, "f4": 127, "f8": 1023}[dtype]
    choose(monkeypatch, grid=Grid(ABSOLUTE, bias - 2, True))
    round_trip(block)


@every_width
def test_the_commonest_is_the_most_frequent_of_what_is_no_number(dtype: str) -> None:
    block = np.ones((20, 5, 20), dtype)
    block[::3] = np.inf
    block[1] = np.nan
    assert round_trip(block).commonest == int(np.array(np.inf, dtype).view(f"u{dtype[1]}"))
    assert round_trip(np.ones((3, 4, 5), dtype)).commonest is None


@every_width
@pytest.mark.parametrize("start", [-2047, 0, 2047])
def test_starts_that_are_far_off_cost_but_do_no_harm(
    start: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = (0,) if dtype == "f2" else (0, 1)
    choose(monkeypatch, starts=(start, start), predictors=in_turn(*codes))
    round_trip(mixed((3, 4, 20), dtype))


def test_residuals_of_every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 1 to 2^(w-1), with what a symbol cannot tell above 2^55."""
    choose(monkeypatch, predictors=in_turn(1))
    for width in (32, 64):
        words = np.zeros((3, width, 4), np.uint64)
        size = np.uint64(1) << np.arange(width, dtype=np.uint64)
        words[:, :, 0] = size
        words[1:, :, 1] = size - np.uint64(1)
        words[1, :, 2] = ~size
        words[2, :, 3] = size | size >> np.uint64(1)
        round_trip(words.astype(f"u{width // 8}").view(f"f{width // 8}"))


def test_bytes_follow_from_the_block_alone() -> None:
    block = mixed((12, 7, 9), "c8")
    first = dense.encode_dense(block).tobytes()
    wider = np.zeros((12, 14, 18), ">c8")
    wider[:, ::2, ::2] = block
    assert dense.encode_dense(wider[:, ::2, ::2]).tobytes() == first
    assert dense.encode_dense(np.asfortranarray(block)).tobytes() == first


def test_smooth_numbers_and_grids_become_small() -> None:
    """No promise of how small: that each part does its work."""
    n = 20 * 8 * 40 * 4
    assert dense.encode_dense(np.full((20, 8, 40), -0.0, "f4")).size < n / 20
    assert dense.encode_dense(ramp((20, 8, 40), "f4")).size < n / 4
    grid = np.random.default_rng(2).integers(-20, 21, (20, 8, 40)) / 8
    assert dense.encode_dense(grid.astype("f4")).size < n / 4


@pytest.mark.skipif(not HAS_AVX512, reason="all tests here are of a processor without AVX-512")
@pytest.mark.full  # compiles for another processor
def test_other_processors_read_and_write_the_same() -> None:
    """Those without AVX-512 look symbols and bits up one by one."""
    folder = str(Path(__file__).parents[3])
    env = {**os.environ, "NUMBA_CPU_NAME": "haswell", "PYTHONPATH": folder}
    subprocess.run([sys.executable, "-c", ELSEWHERE], env=env, check=True)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8"])
@pytest.mark.parametrize("shape", [(1, 1, 20000), (40, 1, 3000)])
def test_the_memory_promise_holds_for_many_series_of_few_rows(
    dtype: str, shape: tuple[int, ...]
) -> None:
    """There costs of predictors outweigh the values."""
    block, codec = ramp(shape, dtype), Visibility()
    codec.encode_chunk(block[:, :, :40])  # compiling is no part of it
    tracemalloc.start()
    codec.encode_chunk(block)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= codec.peak_bytes(block.shape, block.dtype)


def one_value(dtype: str, code: int, symbol: int, head: dict[str, int], bits: int) -> Any:
    """Payload of a block of one value, whose symbol takes no bits of the stream."""
    used = bytes([code])
    context = 6 + 7 * (code > 0)
    table = (1 << 1 + symbol | 1) | 4095 << 2 + symbol
    n_symbols = reference.N_SYMBOLS if head["grid"] & 8 else reference.NEAR_GRID
    n_octets = -(-(14 + n_symbols + 12) // 8)  # 14 tables, of which one has a symbol
    tables = (table << context).to_bytes(n_octets, "little")
    fields = (head["means"], head["grid"], head["value"], head["start"], head["start"], 1)
    for n_bytes in range(12):
        packed = HEAD.pack(dense.KIND, *fields, n_bytes)
        commonest = b"\x55" * np.dtype(dtype).itemsize if head["grid"] & 4 else b""
        octets = (bits & (1 << 8 * n_bytes) - 1).to_bytes(n_bytes, "little")
        states = np.full(32, 1 << 16, "<u4").tobytes()
        yield packed + commonest + used + tables + states + octets


@pytest.mark.parametrize(("dtype", "code"), [("f2", 0), ("f4", 0), ("f4", 1), ("f8", 0), ("f8", 2)])
def test_every_symbol_around_every_exponent(dtype: str, code: int) -> None:
    """Whatever stands in a payload, the reference makes the same of it, or both refuse."""
    rng = np.random.default_rng(code)
    block = np.zeros((1, 1), dtype)
    read = near_grid_read = 0
    for symbol in range(reference.N_SYMBOLS):
        grid = int(rng.integers(0, 7) % 4 % 3) + 4 * int(rng.integers(0, 2))
        value = int(rng.integers(0, 11))
        start = int(rng.choice([-1023, -127, -15, 0, 14, 27, 31, 50, 60, 127, 1023]))
        start += int(rng.integers(-8, 9))
        if symbol >= reference.NEAR_GRID:
            grid = int(rng.integers(1, 3)) + 8
            bias = {"f2": 15, "f4": 127, "f8": 1023}[dtype]
            value = start + bias - int(rng.integers(-4, 12)) if grid == 9 else value
        head = {"means": 0, "grid": grid, "value": value, "start": start}
        bits = int.from_bytes(rng.bytes(12), "little")
        if symbol == reference.ESCAPE:
            bits = bits >> 12 << 12 | int(rng.integers(0, 1 << 7))  # an exponent below 64
        for data in one_value(dtype, code, symbol, head, bits):
            try:
                expected = reference.decode(data, extents_of(block))[0][0]
            except AssertionError:
                with pytest.raises(CorruptChunk):
                    dense.decode_dense(np.frombuffer(data, np.uint8), block)
                continue
            read += 1
            near_grid_read += symbol >= reference.NEAR_GRID
            dense.decode_dense(np.frombuffer(data, np.uint8), block)
            assert int(block.view(f"u{block.itemsize}")[0, 0]) == expected, (symbol, head)
    assert read > 10
    assert (near_grid_read > 10) == (code == 0)
