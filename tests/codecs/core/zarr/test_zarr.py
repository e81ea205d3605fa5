"""BlockCodec under Zarr, with a second codec that is as plain as can be."""

from __future__ import annotations

import pickle
from typing import Any

import google_crc32c
import numpy as np
import numpy.typing as npt
import pytest
import zarr
from helpers.counting_store import CountingStore
from helpers.zarr_arrays import CHUNK, SELECTIONS, SHAPE, create
from plain_codec import cpu as plain_cpu
from plain_codec.codec import Plain
from zarr.storage import LocalStore

from gangsaw.codecs.core import record
from gangsaw.codecs.core.container.frame import CHECKSUM, PRELUDE
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, NewerFormat


@pytest.fixture
def data() -> npt.NDArray[np.int16]:
    return np.arange(np.prod(SHAPE), dtype="i2").reshape(SHAPE) - 100


@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS.keys())
def test_a_selection_reads_the_same_as_numpy(pipeline: str, data: Any, selection: Any) -> None:
    store = CountingStore()
    create(store, data)
    np.testing.assert_array_equal(selection(zarr.open_array(store, mode="r")), selection(data))


def test_a_window_reads_only_the_bytes_of_its_blocks(pipeline: str, data: Any) -> None:
    store = CountingStore()
    create(store, data)
    store.reads.clear()
    zarr.open_array(store, mode="r")[5:7, 1:3]
    index = Plain().coder(CHUNK, data.dtype).layout.index_size
    assert store.reads == [("c/0/0", index), ("c/0/0", 4 * 4 * 2 + len("plain"))]


def test_neighbouring_blocks_share_a_request(pipeline: str, data: Any) -> None:
    store = CountingStore()
    create(store, data)
    store.reads.clear()
    zarr.open_array(store, mode="r")[5, 0:10]
    assert len(store.reads) == 2


def test_a_whole_chunk_is_one_request(pipeline: str, data: Any) -> None:
    store = CountingStore()
    array = create(store, data)
    store.reads.clear()
    array[:12, :10]
    assert [key for key, _ in store.reads] == ["c/0/0"]


def test_a_missing_chunk_reads_as_fill_value(pipeline: str, data: Any) -> None:
    store = CountingStore()
    array = create(store, data, fill_value=-7)
    del store._store_dict["c/0/0"]
    assert (array[:12, :10] == -7).all()
    assert (array[2, 1:3] == -7).all()
    assert array[2, 11] == data[2, 11]


def test_chunks_of_a_batch_go_to_the_backend_together(
    pipeline: str, data: Any, monkeypatch: Any
) -> None:
    counts: list[tuple[str, int]] = []
    plain = plain_cpu.BACKEND

    class Counting:
        def encode(self, sources: Any, params: Any, output: Any) -> None:
            counts.append(("encode", len(sources)))
            plain.encode(sources, params, output)

        def decode(self, runs: Any, targets: Any, params: Any) -> None:
            counts.append(("decode", len(targets)))
            plain.decode(runs, targets, params)

    monkeypatch.setattr(plain_cpu, "BACKEND", Counting())
    with zarr.config.set({"codec_pipeline.batch_size": 4}):
        store = CountingStore()
        array = create(store, data, fill_value=-7)
        del store._store_dict["c/0/1"]
        expected = data.copy()
        expected[:12, 10:] = -7
        np.testing.assert_array_equal(array[:], expected)
    if pipeline == "BatchedCodecPipeline":
        assert counts == [("encode", 4 * 9), ("decode", 3 * 9)]
    assert sum(n for _, n in counts) == 7 * 9


def test_part_of_a_chunk_can_be_rewritten(pipeline: str, data: Any) -> None:
    array = create(CountingStore(), data)
    array[3:9, 4] = 5
    data[3:9, 4] = 5
    np.testing.assert_array_equal(array[:], data)


@pytest.mark.parametrize("byte", [3, 20, 40, -1], ids=["magic", "header", "index", "block"])
@pytest.mark.parametrize("selection", [np.s_[0, 11], np.s_[:]], ids=["part", "whole"])
def test_damage_names_store_chunk_and_block(
    pipeline: str, data: Any, tmp_path: Any, byte: int, selection: Any
) -> None:
    store = LocalStore(tmp_path / "damaged.zarr")
    create(store, data, name="cube")
    path = tmp_path / "damaged.zarr" / "cube/c/0/1"
    coder = Plain().coder(CHUNK, data.dtype)
    at = byte if byte >= 0 else coder.layout.index_size + 8
    content = bytearray(path.read_bytes())
    content[at] ^= 4
    path.write_bytes(content)
    block = r", block 0" if byte < 0 else ""
    with pytest.raises(CorruptChunk, match=rf"damaged\.zarr, chunk cube/c/0/1{block}:"):
        zarr.open_array(store, path="cube", mode="r")[selection]


def newer(frame: bytes) -> bytes:
    """The same frame as a later version of the codec would mark it."""
    prelude = bytearray(frame[: PRELUDE.size])
    prelude[5] += 1
    checksum = CHECKSUM.pack(google_crc32c.value(bytes(prelude)))
    return bytes(prelude) + checksum + frame[PRELUDE.size + CHECKSUM.size :]


@pytest.mark.parametrize("selection", [np.s_[0, 11], np.s_[:]], ids=["part", "whole"])
def test_a_newer_format_names_store_and_chunk(
    pipeline: str, data: Any, tmp_path: Any, selection: Any
) -> None:
    create(LocalStore(tmp_path / "new.zarr"), data, name="cube")
    path = tmp_path / "new.zarr" / "cube/c/0/1"
    path.write_bytes(newer(path.read_bytes()))
    array = zarr.open_array(tmp_path / "new.zarr", path="cube", mode="r")
    with pytest.raises(NewerFormat, match=r"new\.zarr, chunk cube/c/0/1: .* upgrade") as caught:
        array[selection]
    copy = pickle.loads(pickle.dumps(caught.value))  # as Dask carries it
    assert isinstance(copy, NewerFormat)
    assert (str(copy), copy.chunk) == (str(caught.value), "cube/c/0/1")


@pytest.mark.parametrize("keep", [0, 10, 60, 140, 215])
def test_a_truncated_chunk_is_corrupt(pipeline: str, data: Any, keep: int) -> None:
    store = CountingStore()
    array = create(store, data)
    store._store_dict["c/0/0"] = store._store_dict["c/0/0"][:keep]
    for selection in (np.s_[11, 9], np.s_[:12, :10]):
        with pytest.raises(CorruptChunk):
            array[selection]


def test_shards_hold_it_as_inner_codec(pipeline: str, data: Any) -> None:
    store = CountingStore()
    create(store, data, shards=(24, 20))
    array = zarr.open_array(store, mode="r")
    for selection in SELECTIONS.values():
        np.testing.assert_array_equal(selection(array), selection(data))


def test_it_goes_with_filters_and_compressors(pipeline: str, data: Any) -> None:
    codecs = {
        "filters": [zarr.codecs.TransposeCodec(order=(1, 0))],
        "compressors": [zarr.codecs.Crc32cCodec()],
        "serializer": Plain(block=(5, 3)),
    }
    array = create(CountingStore(), data, **codecs)
    np.testing.assert_array_equal(array[3:20, 5:7], data[3:20, 5:7])


@pytest.mark.parametrize("dtype", [">i2", "<u4", "f8", "c8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_byte_and_memory_orders(pipeline: str, data: Any, dtype: str, order: Any) -> None:
    cube = np.asarray(data.astype(dtype), order=order)
    array = create(CountingStore(), cube, config={"order": order})
    np.testing.assert_array_equal(array[:], cube)


def test_what_it_cannot_hold_is_refused_at_creation(pipeline: str) -> None:
    with pytest.raises(BadParams, match="holds numbers"):
        create(CountingStore(), np.zeros((4, 4), bool), chunks=(4, 4))
    with pytest.raises(BadParams, match="differ in rank"):
        create(CountingStore(), np.zeros(4), chunks=(4,))


def test_codec_and_array_survive_pickling(pipeline: str, data: Any) -> None:
    codec = Plain(block=(3, 3))
    assert pickle.loads(pickle.dumps(codec)) == codec
    assert Plain.from_dict(codec.to_dict()) == codec


def test_each_operation_is_recorded(pipeline: str, data: Any) -> None:
    array = create(CountingStore(), data)
    record.reset()
    array[0:2, 0:2]
    totals = record.snapshot()["test.plain", "decode", "cpu"]
    assert (totals.count, totals.raw_bytes) == (1, 4 * 4 * 2)
