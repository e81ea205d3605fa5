"""Parameters of the visibility codec: legal values, axes, and the blocks that they imply."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.visibility.codec import Visibility, block_view
from gangsaw.codecs.visibility.params import BLOCK_SIZES, Params


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"effort": "best"}, "effort must be one of fast, dense, got 'best'"),
        ({"axes": ""}, "axes must be 'auto' or one letter per axis"),
        ({"axes": "tfx"}, "axes must be 'auto' or one letter per axis"),
        ({"axes": None}, "axes must be 'auto' or one letter per axis"),
        ({"axes": "ttb"}, "axes 'ttb' names t twice; call all but one of them b"),
        ({"block": (1, 2)}, r"block must be three extents \(time, frequency, rest\)"),
        ({"block": [1, 2, 3]}, "block must be three extents"),
        ({"block": (1, -2, 0)}, "block frequency must be in 0..2147483647, got -2"),
        ({"block": (np.int64(1), 0, 0)}, "give a plain int"),
        ({"window": 0}, "window must be in 1..255, got 0"),
        ({"window": 256}, "window must be in 1..255, got 256"),
        ({"window": True}, "window must be in"),
        ({"predictor": "linear"}, "predictor must be one of auto, none, time"),
        ({"residual": "sum"}, "residual must be one of auto, xor, difference"),
        ({"packing": 3}, "packing must be one of auto, bits, bytes"),
        ({"predictor": "time"}, "predictor is given but residual is 'auto'.*give all three"),
        ({"packing": "bits"}, "packing is given but predictor is 'auto'"),
        ({"predictor": "time", "packing": "bits"}, "predictor is given but residual is 'auto'"),
    ],
)
def test_illegal_values_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(BadParams, match=message):
        Params(**values)


def test_axes_have_to_fit_the_array() -> None:
    with pytest.raises(BadParams, match="names 3 axes, the array has 2"):
        Visibility(axes="tfb").coder((4, 4), np.dtype("c8"))
    with pytest.raises(BadParams, match="names 1 axes, the array has 0"):
        Visibility(axes="t").coder((), np.dtype("f4"))


@pytest.mark.parametrize("dtype", ["i4", "?", "S4", "M8[s]", "f4,f4", "O"])
def test_what_is_no_float_is_refused(dtype: str) -> None:
    with pytest.raises(BadParams, match="visibility codes float16, 32 and 64"):
        Visibility().coder((4, 4), np.dtype(dtype))


def test_a_long_double_is_refused() -> None:
    kind = np.dtype(np.longdouble)
    if kind.itemsize == 8:
        pytest.skip("long doubles are doubles on this machine")
    with pytest.raises(BadParams, match="codes float16"):
        Visibility().coder((4, 4), kind)


@pytest.mark.parametrize(
    ("shape", "dtype", "params", "block"),
    [
        ((60, 64, 8064), "c8", Params(), (60, 64, 8)),
        ((1000, 16, 10), "c8", Params(), (250, 16, 5)),
        ((1, 1024, 380), "c8", Params(), (1, 1024, 32)),
        ((1, 100000, 3), "f4", Params(), (1, 20000, 3)),
        ((256, 128, 256), "c8", Params(), (256, 16, 8)),
        ((256, 128, 256), "c8", Params(block=(0, 0, 2)), (256, 64, 2)),
        ((60, 2016, 64, 4), "c8", Params(axes="tbfb"), (60, 2, 64, 4)),
        ((60, 2016, 64, 3), "c8", Params(axes="tbfb"), (60, 2, 64, 3)),
        ((4, 3, 2, 1), "f8", Params(axes="bbbb"), (4, 3, 2, 1)),
        ((100000,), "f4", Params(), (50000,)),
        ((100000, 8), "f4", Params(), (7693, 8)),
        ((100000, 8, 4), "c8", Params(), (1021, 8, 4)),
        ((100000, 8, 40), "c8", Params(), (256, 8, 14)),
        ((40, 30, 20), "c8", Params(block=(100, 7, 6)), (40, 7, 6)),
        ((40, 30, 20, 4), "c8", Params(block=(0, 1, 10)), (40, 1, 2, 4)),
        ((40, 30, 20, 4), "c8", Params(block=(0, 1, 3)), (40, 1, 1, 3)),
        ((0, 30, 20), "c8", Params(), (1, 30, 20)),
    ],
)
def test_blocks_are_those_of_the_specification(
    shape: Any, dtype: str, params: Params, block: Any
) -> None:
    named = replace(params, predictor="none", residual="xor", packing="bits")
    assert named.block_shape(shape, dtype) == block


@pytest.mark.parametrize(
    ("shape", "block"),
    [
        ((256, 128, 256), (32, 16, 128)),
        ((8, 64, 544), (8, 64, 128)),
        ((240, 64, 544), (30, 16, 128)),
        ((23, 480, 36), (23, 69, 36)),
        ((1, 1024, 7980), (1, 512, 128)),
        ((60, 64, 72), (30, 32, 64)),
        ((60, 64, 100), (30, 22, 64)),
    ],
)
def test_fast_blocks_are_wide(shape: Any, block: Any) -> None:
    assert Params(effort="fast").block_shape(shape, "c8") == block


@pytest.mark.parametrize(
    ("shape", "dtype", "block"),
    [
        ((23, 480, 36), "c8", (23, 240, 8)),  # 9 would take 18 lanes of 32
        ((2, 1536, 24), "c8", (2, 1536, 12)),  # 24 of 32 will do
        ((1, 2049, 60), "c8", (1, 2049, 30)),
        ((1, 3000, 100), "f4", (1, 3000, 32)),
        ((1, 6000, 100), "f4", (1, 6000, 16)),  # 20 would take 20 of 32
        ((1, 4096, 36), "c8", (1, 4096, 12)),
        ((1, 3640, 36), "c8", (1, 3640, 16)),  # 18 would take 36 of 64
    ],
)
def test_dense_blocks_leave_few_lanes_empty(shape: Any, dtype: str, block: Any) -> None:
    assert Params().block_shape(shape, dtype) == block


@given(
    st.lists(st.integers(1, 700), min_size=1, max_size=5),
    st.sampled_from(["f2", "c8", "c16"]),
    st.sampled_from(["fast", "dense"]),
)
def test_blocks_have_no_more_components_than_their_effort_takes(
    shape: list[int], dtype: str, effort: Any
) -> None:
    block = Params(effort=effort).block_shape(tuple(shape), dtype)
    most = BLOCK_SIZES[effort].components
    components = 2 if dtype[0] == "c" else 1
    assert all(1 <= extent <= n for extent, n in zip(block, shape, strict=True))
    assert block[0] <= max(BLOCK_SIZES[effort].times, most // math.prod(block[1:]))
    assert components * math.prod(block) <= most


def test_the_view_has_time_first_and_frequency_second() -> None:
    block = np.zeros((2, 3, 4, 5))
    assert block_view("btfb", block).shape == (3, 4, 2, 5)
    assert block_view("ftbb", block).shape == (3, 2, 4, 5)
    assert block_view("bbtb", block).shape == (4, 1, 2, 3, 5)
    assert block_view("fbbb", block).shape == (1, 2, 3, 4, 5)
    assert block_view("bbbb", block).shape == (1, 1, 2, 3, 4, 5)
    assert np.shares_memory(block_view("btfb", block), block)
