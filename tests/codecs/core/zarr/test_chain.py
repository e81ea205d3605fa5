"""Every codec behind codecs from array to array: it sees what they hand on, not the array."""

from __future__ import annotations

from contextlib import suppress
from itertools import cycle
from typing import Any

import numpy as np
import pytest
import zarr
from helpers.array_array_codecs import Viewed
from helpers.counting_store import CountingStore
from helpers.every_codec import (
    Case,
    assert_same_bits,
    cases,
    label,
    of_each_codec,
    one_of_each,
    over,
)
from helpers.zarr_arrays import CHUNK, PIPELINES, SELECTIONS, SHAPE
from zarr.codecs import TransposeCodec
from zarr.codecs.numcodecs import AsType, FixedScaleOffset

from gangsaw.codecs.ccsds123.codec import Ccsds123
from gangsaw.codecs.core.errors import BadParams

CASES = cases()
BASE: dict[str, Any] = {"compressors": None, "config": {"write_empty_chunks": True}}
of_every_codec = over(one_of_each(CASES))


def in_refused_dtype(case: Case) -> Any:
    """The sample in a dtype that the codec cannot hold: integers as floats, floats as bits.

    Integers of 64 bits keep their bits, as `Viewed` keeps them.
    """
    if case.array.dtype.kind in "biu":
        is_wide = case.array.dtype.itemsize == 8
        data = np.ascontiguousarray(case.array).view("f8") if is_wide else case.array.astype("f8")
    else:
        width = min(case.array.dtype.itemsize, 8)
        data = np.ascontiguousarray(case.array)[..., None].view(f"u{width}")
    if not takes_any_dtype(case):
        with pytest.raises(BadParams):
            case.codec.coder(data.shape, data.dtype)
    return data


def takes_any_dtype(case: Case) -> bool:
    with suppress(BadParams):
        case.codec.coder((4,), np.dtype("V3"))
        return True
    return False


def viewed(case: Case) -> Viewed:
    return Viewed(case.array.dtype.str, case.array.shape)


def kept(data: Any, case: Case, **options: Any) -> Any:
    """What a store gives back of an array; the codec has read its whole chain from the metadata."""
    store = CountingStore()
    options = {"chunks": data.shape, "serializer": case.codec, **BASE, **options}
    zarr.create_array(store, shape=data.shape, dtype=data.dtype, **options)[...] = data
    array = zarr.open_array(store, mode="r")
    middle = tuple(slice(n // 3, n // 3 + 2) for n in data.shape)
    assert_same_bits(array[middle], data[middle])
    return array[...]


@pytest.mark.full
@pytest.mark.parametrize(
    ("pipeline", "case"),
    [*zip(cycle(PIPELINES), CASES, strict=False)],
    indirect=["pipeline"],
    ids=lambda value: value if isinstance(value, str) else label(value),
)
@of_each_codec
def test_behind_a_cast_of_a_dtype_that_it_refuses(pipeline: str, case: Case) -> None:
    data = in_refused_dtype(case)
    assert_same_bits(kept(data, case, filters=[viewed(case)]), data)


@of_every_codec
def test_behind_a_transposition(pipeline: str, case: Case) -> None:
    order = tuple(np.roll(range(case.array.ndim), 1).tolist())
    data = case.array.transpose(np.argsort(order))  # so that the codec is given its sample
    assert_same_bits(kept(data, case, filters=[TransposeCodec(order=order)]), data)


@of_every_codec
def test_behind_one_that_changes_the_rank(pipeline: str, case: Case) -> None:
    for shape in ((*case.array.shape, 1), (1, *case.array.shape), (1, case.array.size)):
        data = case.array.reshape(shape)
        assert_same_bits(kept(data, case, filters=[Viewed(shape=case.array.shape)]), data)


@of_every_codec
def test_behind_several_inside_a_shard(pipeline: str, case: Case) -> None:
    data = in_refused_dtype(case)[..., None]
    shards = (2 * len(data), *data.shape[1:])
    filters = [Viewed(shape=data.shape[:-1]), viewed(case)]
    twice = np.concatenate([data, data])
    options = {"chunks": data.shape, "shards": shards, "filters": filters}
    assert_same_bits(kept(twice, case, **options), twice)


@pytest.mark.full
@pytest.mark.parametrize("shards", [None, (24, 20)])
@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS.keys())
def test_selections_behind_a_transposition(pipeline: str, shards: Any, selection: Any) -> None:
    data = (np.arange(np.prod(SHAPE), dtype="f4") / 4).reshape(SHAPE)
    store = CountingStore()
    filters = [Viewed("<u4"), TransposeCodec(order=(1, 0))]
    options = {"chunks": CHUNK, "shards": shards, "filters": filters, **BASE}
    serializer = Ccsds123(block=(0, 4, 8), bit_depth=32)
    zarr.create_array(store, data=data, serializer=serializer, **options)
    np.testing.assert_array_equal(selection(zarr.open_array(store, mode="r")), selection(data))


@pytest.mark.filterwarnings("ignore:Numcodecs codecs:UserWarning")
def test_reflectance_behind_the_filters_of_numcodecs(pipeline: str) -> None:
    counts = np.arange(4 * 20 * 30, dtype="u2").reshape(4, 20, 30)
    data = (counts / np.float32(10000)).astype("f4")
    scaled = FixedScaleOffset(offset=0, scale=10000, dtype="<f4", astype="<u2")
    options = {"chunks": data.shape, "serializer": Ccsds123(), **BASE}
    array = zarr.create_array(CountingStore(), data=data, filters=[scaled], **options)
    np.testing.assert_array_equal(array[...], data)
    assert array.nbytes_stored() < data.nbytes // 4


@pytest.mark.filterwarnings("ignore:Numcodecs codecs:UserWarning")
def test_a_chain_that_hands_on_what_does_not_fit_is_refused_before_anything_is_written(
    pipeline: str,
) -> None:
    to_float = AsType(encode_dtype="<f4", decode_dtype="<u2")
    for filters in ([to_float], [Viewed(shape=(24,))]):
        store = CountingStore()
        with pytest.raises(BadParams):
            zarr.create_array(
                store, shape=(4, 6), dtype="u2", filters=filters, serializer=Ccsds123(), **BASE
            )
        assert not store._store_dict


WIDER = {"u1": "i2", "u2": "f8", "i2": "f4", "u4": "i8", "i4": "f8", "f4": "f8"}


@of_every_codec
def test_behind_scale_offset_and_cast_value(pipeline: str, case: Case) -> None:
    if not hasattr(zarr.codecs, "CastValue"):
        pytest.skip("scale_offset and cast_value came with zarr 3.2, for Python 3.12 on")
    pytest.importorskip("cast_value_rs", reason="the test extra brings cast-value-rs")
    case = next(c for c in CASES if c.codec_type is case.codec_type and _survives(c.array))
    own = case.array.dtype
    scale = zarr.codecs.ScaleOffset(scale=2, offset=-3)
    cast = zarr.codecs.CastValue(data_type=own.newbyteorder("=").name, rounding="nearest-even")
    data = case.array.astype(WIDER[own.str[1:]])
    filters = [cast]
    if data.dtype.kind == "f":
        data, filters = data / 2 - 3, [scale, cast]
    assert_same_bits(kept(data, case, filters=filters), data)
    order = tuple(reversed(range(data.ndim)))
    turned = [TransposeCodec(order=order), *filters]
    assert_same_bits(kept(data.transpose(order), case, filters=turned), data.transpose(order))


def _survives(array: np.ndarray[Any, Any]) -> bool:
    """Whether a wider dtype and halves of its values hold the samples."""
    kind = array.dtype.str[1:]
    if kind not in WIDER or not np.isfinite(array).all() or array.dtype.str[0] == ">":
        return False
    wide = array.astype(WIDER[kind])
    return bool(((wide / 2 - 3 + 3) * 2 == wide).all())
