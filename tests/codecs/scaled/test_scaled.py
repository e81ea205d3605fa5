"""Scaled integers: what stands apart, which kind a block gets, false bytes, and their scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gangsaw.codecs import Ccsds123, Scaled
from gangsaw.codecs.core.container import frame
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.codecs.scaled import blocks as forms
from gangsaw.codecs.scaled import exceptions
from gangsaw.codecs.scaled.propose import propose
from gangsaw.codecs.scaled.selection import formula

Floats = npt.NDArray[np.floating[Any]]
SHAPE = 6, 20, 30


def integers() -> npt.NDArray[np.int64]:
    z, y, x = np.indices(SHAPE)
    grain = np.random.default_rng(1).integers(0, 40, SHAPE)
    found: npt.NDArray[np.int64] = 500 + 90 * z + 21 * y + 13 * x + grain
    return found


def reflectance() -> Floats:
    found: Floats = (integers() / 10000).astype("f4")
    return found


def coded(array: Floats, codec: Scaled) -> tuple[int, list[int]]:
    """Bytes of the frame, and kinds of its blocks; the array is given back."""
    data = codec.encode_chunk(array)
    out = np.empty_like(array)
    codec.decode_chunk(data, out)
    assert out.tobytes() == array.tobytes()
    blocks = frame.unpack(data, codec.coder(array.shape, array.dtype).layout)
    return len(data), [int(payload[0]) for payload in blocks.payloads]


def test_it_takes_as_many_bytes_as_the_integers() -> None:
    n_bytes, kinds = coded(reflectance(), Scaled())
    assert kinds == [forms.SCALED]
    assert n_bytes <= 1.01 * len(Ccsds123().encode_chunk(integers().astype("i2")))


def test_each_block_has_a_form_of_its_own() -> None:
    array = reflectance()
    array[:, :10, 10:20] = np.random.default_rng(2).random((6, 10, 10))
    array[:, :10, 20:] = -9999
    array[:, 10:, :5] = np.nan
    codec = Scaled(inner=Ccsds123(block=(0, 10, 10)))
    kinds = [forms.SCALED, forms.FLOATS, forms.CONSTANT, forms.SCALED, forms.SCALED, forms.SCALED]
    assert coded(array, codec)[1] == kinds


@pytest.mark.parametrize("value", [np.nan, -9999.0, np.inf, -0.0])
def test_a_border_costs_next_to_nothing(value: float) -> None:
    """The same places in all bands: their mask is told once."""
    array, whole = reflectance(), coded(reflectance(), Scaled())[0]
    array[:, :, :8] = value
    array[:, 15:] = value
    n_bytes, kinds = coded(array, Scaled())
    assert kinds == [forms.SCALED]
    assert n_bytes < whole


def test_integers_that_the_inner_codec_refuses_go_to_the_codec_of_floats() -> None:
    assert coded(reflectance(), Scaled(inner=Ccsds123(bit_depth=4)))[1] == [forms.FLOATS]


@given(
    hnp.arrays("u4", (2, 3, 5), elements=st.sampled_from([0, 1 << 31, 0x7FC00001, 0x3DCCCCCD])),
    st.sampled_from(["quotient", "product"]),
    st.sampled_from(["array", "double"]),
)
def test_any_bits_come_back(words: Any, form: Any, precision: Any) -> None:
    coded(words.view("f4"), Scaled(form=form, precision=precision, scale=10.0))


@pytest.mark.parametrize(
    ("form", "precision", "made"),
    [
        ("quotient", "array", lambda k: k.astype("f4") / np.float32(3.7)),
        ("product", "array", lambda k: k.astype("f4") * np.float32(0.0137)),
        ("product", "double", lambda k: (k * 0.0137).astype("f4")),
        ("quotient", "double", lambda k: (k / 0.37).astype("f4")),
    ],
)
def test_each_arithmetic_gives_other_bits(form: Any, precision: Any, made: Any) -> None:
    array = made(integers())
    scale = {"array": {"quotient": 3.7, "product": 0.0137}, "double": {"product": 0.0137}}
    of = scale[precision].get(form, 0.37)
    own = coded(array, Scaled(form=form, precision=precision, scale=of))[0]
    other = Scaled(form=form, precision="array" if precision == "double" else "double", scale=of)
    assert own < coded(array, other)[0]


@pytest.mark.parametrize("how", ["masks", "size", "count", "places", "runs", "short", "constant"])
def test_false_blocks_are_corrupt(how: str) -> None:
    array = reflectance()
    array[:, 3:9, 4:9] = np.nan
    array[1, 1, 1] = 0.123456
    codec = Scaled()
    coder = codec.coder(array.shape, array.dtype)
    blocks = frame.unpack(codec.encode_chunk(array), coder.layout)
    data = blocks.payloads[0].copy()
    apart = forms.HEAD.unpack(bytes(data[: forms.HEAD.size]))[2]
    end = forms.HEAD.size + apart
    change = {
        "masks": (1, 9),
        "size": (5, 255),
        "count": (end - 4 - 2 - 1, 127),
        "places": (end - 4 - 1, 255),
        "runs": (forms.HEAD.size + 4 + 1, 0),
        "short": (1, 0),
    }
    if how == "constant":
        data = np.array([forms.CONSTANT, 1], np.uint8)
    else:
        place, octet = change[how]
        data[place] = octet
    out = np.empty_like(array)
    assert blocks.lane_bits is not None
    runs = type(blocks)((data,), blocks.lane_bits)
    with pytest.raises(CorruptChunk):
        codec.decode_chunk(frame.pack(runs, coder.layout), out)


def test_masks_are_for_values_that_most_have() -> None:
    words = np.array([7] * 20 + [8] * 9 + [9] * 4 + [1, 2], np.uint32)
    codes = np.ones(words.size, np.uint8)
    values, left = exceptions.mark_masks(words, codes, words.size)
    assert (values, left) == ([7, 8], 6)


SCALES = [
    ("int16 / 10000", lambda k: (k / 10000).astype("f4")),
    ("int16 / 10000", lambda k: k / 10000),
    ("int16 * 0.0001", lambda k: k.astype("f4") * np.float32(0.0001)),
    ("int16 * 0.02 + 273.15", lambda k: k.astype("f4") * np.float32(0.02) + np.float32(273.15)),
    ("int16 * 0.000337 in float64", lambda k: (k * 0.000337).astype("f4")),
    ("int16 * 0.00123 + 7.5", lambda k: k * 0.00123 + 7.5),
    ("int16 * 0.01 + 5", lambda k: (k - k.min() + 2_000) * 0.01 + 5),
    ("uint16 / 65535", lambda k: ((k * 30 + k % 7) / 65535).astype("f4")),
    ("int32 / 100", lambda k: k * 577 // 10 / 100),
    ("int16 / 1", lambda k: k.astype("f4")),
]


@pytest.mark.parametrize(("told", "made"), SCALES, ids=[told for told, _ in SCALES])
def test_a_sample_tells_the_scale(told: str, made: Any) -> None:
    array = made(integers())
    array[:, :, :9] = np.nan
    found = propose(array)
    assert found is not None
    assert formula(found) == told
    assert coded(array, Scaled(**found))[1] == [forms.SCALED]


@pytest.mark.parametrize("seed", range(3))
def test_noise_has_no_scale(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert propose(rng.normal(0, 1, SHAPE)) is None
    assert propose(rng.random(SHAPE).astype("f4")) is None
    assert propose(np.full(SHAPE, np.nan)) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"scale": 0},
        {"scale": np.inf},
        {"offset": "1"},
        {"form": "sum"},
        {"integers": "int64"},
        {"inner": "gangsaw.scaled"},
        {"inner": "gangsaw.none"},
        {"inner": "gangsaw.visibility"},
    ],
)
def test_wrong_parameters_are_refused(wrong: Any) -> None:
    with pytest.raises(BadParams):
        Scaled(**wrong)


def test_what_it_cannot_hold_is_refused() -> None:
    for codec, dtype in (
        (Scaled(), "f2"),
        (Scaled(), "i4"),
        (Scaled(inner="gangsaw.bwt"), "f4"),
        (Scaled(floats="gangsaw.dna"), "f4"),
        (Scaled(scale=1e60), "f4"),
    ):
        with pytest.raises(BadParams):
            codec.coder(SHAPE, dtype)
