"""Every codec in Zarr v3, Zarr v2 and xarray; partial reads are equal and read few bytes."""

from __future__ import annotations

import random
from typing import Any

import pytest
import xarray as xr
import zarr
from helpers.counting_store import CountingStore
from helpers.every_codec import Case, assert_same_bits, cases, label, one_of_each, over, v2_type

CASES = cases()
every_case = over(CASES)
one_case = over(one_of_each(CASES))
KEEP_ALL = {"write_empty_chunks": True}  # else zarr drops chunks of zeros, and of -0.0 with them
V3: dict[str, Any] = {"zarr_format": 3, "compressors": None, "config": KEEP_ALL}


def create(store: Any, case: Case, copies: int = 1) -> zarr.Array[Any]:
    """An array of chunks that are the sample, along the first axis."""
    shape = (*(copies * n for n in case.array.shape[:1]), *case.array.shape[1:])
    options = {"shape": shape, "chunks": case.array.shape, "dtype": case.array.dtype, **V3}
    return zarr.create_array(store, serializer=case.codec, **options)


@every_case
def test_zarr_v3(case: Case) -> None:
    store = CountingStore()
    create(store, case)[...] = case.array
    again = zarr.open_array(store, mode="r")
    assert_same_bits(again[...], case.array)
    assert again.serializer == case.codec


@every_case
def test_zarr_v2(case: Case) -> None:
    order: Any = "F" if case.array.flags.fnc else "C"
    place = {"shape": case.array.shape, "dtype": case.array.dtype, "memory_order": order}
    codec = v2_type(case.codec_type)(**place, **vars(case.sample.params))
    store = CountingStore()
    options = {"shape": case.array.shape, "chunks": case.array.shape, "dtype": case.array.dtype}
    options |= {"compressors": codec, "order": order, "config": KEEP_ALL}
    array = zarr.create_array(store, zarr_format=2, **options)
    array[...] = case.array
    again = zarr.open_array(store, mode="r")
    assert_same_bits(again[...], case.array)
    assert again.metadata.compressor.get_config() == codec.get_config()


@every_case
def test_a_part_equals_the_whole_and_reads_few_bytes(case: Case) -> None:
    store = CountingStore()
    create(store, case)[...] = case.array
    array = zarr.open_array(store, mode="r")
    plan = case.codec.coder(case.array.shape, case.array.dtype)
    chunk = next(key for key in store._store_dict if "zarr.json" not in key)
    whole = len(store._store_dict[chunk])
    lengths = block_lengths(case)
    rng = random.Random(label(case))
    for _ in range(5):
        window = tuple(random_slice(rng, n) for n in case.array.shape)
        store.reads.clear()
        assert_same_bits(array[window], case.array[window])
        touched = plan.grid.touched(window)
        some = plan.layout.index_size + int(lengths[touched].sum())
        count = sum(size for _, size in store.reads)
        expected = whole if len(touched) == plan.grid.n_blocks else some
        if plan.plan.lanes_for is None:
            assert count == expected
        else:  # lanes that a codec reads alone: of a block, those that it says it needs
            assert count <= expected
            assert len(store.reads) <= 2 + len(touched)


def random_slice(rng: random.Random, n: int) -> slice:
    start = rng.randrange(n)
    return slice(start, rng.randint(start + 1, min(n, start + 3)))


def block_lengths(case: Case) -> Any:
    from gangsaw.codecs.core.container import frame

    plan = case.codec.coder(case.array.shape, case.array.dtype)
    return frame.unpack(case.encode(), plan.layout).lengths


@one_case
def test_a_chunk_that_is_not_there_reads_as_fill_value(case: Case) -> None:
    store = CountingStore()
    array = create(store, case, copies=2)
    n = len(case.array)
    array[n:] = case.array
    assert (array[:n] == array.fill_value).all()
    assert_same_bits(array[n:], case.array)


@one_case
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_xarray(case: Case, zarr_format: Any, tmp_path: Any) -> None:
    dims = [f"axis{i}" for i in range(case.array.ndim)]
    data = xr.Dataset({"cube": (dims, case.array, {"units": "1"})})
    place = {"shape": case.array.shape, "dtype": case.array.dtype}
    encoding: dict[str, Any] = {"chunks": case.array.shape}
    if zarr_format == 3:
        encoding |= {"serializer": case.codec, "compressors": ()}
    else:
        encoding |= {"compressors": (v2_type(case.codec_type)(**place),)}
    for target, source in (("a", data), ("b", None)):
        source = xr.open_zarr(tmp_path / "a", consolidated=False) if source is None else source
        source.to_zarr(
            tmp_path / target,
            zarr_format=zarr_format,
            consolidated=False,
            encoding={"cube": encoding} if target == "a" else None,
        )
        back = xr.open_zarr(tmp_path / target, consolidated=False)
        xr.testing.assert_identical(back.load(), data)
    name = {2: ".zarray", 3: "zarr.json"}[zarr_format]
    assert case.codec_type.codec_name in (tmp_path / "b/cube" / name).read_text()
