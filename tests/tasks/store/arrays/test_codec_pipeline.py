"""Codecs called directly give the bytes and samples that zarr gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from zarr.codecs import BytesCodec, TransposeCodec, ZstdCodec
from zarr.storage import LocalStore, MemoryStore

from gangsaw.codecs import Ccsds123
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.store.arrays.chunks import ArrayCoder, ChunkGrid
from gangsaw.tasks.store.arrays.codec_pipeline import CodecChain
from gangsaw.tasks.store.arrays.whole_chunks import WholeChunks
from gangsaw.tasks.store.objects.prefix import Prefix

SHAPE, CHUNKS = (5, 12, 20), (5, 8, 8)  # chunks at two edges are padded
CODECS: dict[str, dict[str, Any]] = {
    "ours": {"serializer": Ccsds123(), "compressors": None},
    "plain": {"compressors": None},
    "big": {"serializer": BytesCodec(endian="big"), "compressors": None},
    "zstd": {"compressors": (ZstdCodec(level=1),)},
    "turned": {"filters": (TransposeCodec(order=(2, 0, 1)),), "serializer": Ccsds123(),
               "compressors": None},
}  # fmt: skip
every_chain = pytest.mark.parametrize("codecs", CODECS.values(), ids=CODECS)


def samples(dtype: str = "uint16") -> Any:
    return np.random.default_rng(5).integers(0, 1 << 12, SHAPE).astype(dtype)


def written(codecs: dict[str, Any], store: Any, values: Any) -> Any:
    """Write an array by zarr itself."""
    array = zarr.create_array(
        store, shape=SHAPE, chunks=CHUNKS, dtype="uint16", fill_value=7, **codecs
    )
    array[:] = values
    return array


@every_chain
@pytest.mark.parametrize("layout", ["C", "F", "big-endian"])
def test_bytes_are_those_of_zarr(codecs: dict[str, Any], layout: str) -> None:
    values = samples(">u2") if layout == "big-endian" else np.asarray(samples(), order=layout)  # type: ignore[call-overload]
    objects: dict[str, Any] = {}
    array = written(codecs, MemoryStore(objects), values)
    coder = ArrayCoder(objects["zarr.json"].to_bytes())
    assert coder.chain is not None
    for number in range(coder.grid.n_chunks):
        region, stored = coder.grid.region(number), objects[coder.key(number)]
        assert coder.encode(number, values[region]).to_bytes() == stored.to_bytes()
        found = coder.decode(number, stored)
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, values[region])


@every_chain
def test_whole_chunks_are_read_as_zarr_reads_them(codecs: dict[str, Any], tmp_path: Path) -> None:
    values = samples()
    array = written(codecs, LocalStore(tmp_path), values)
    chunks = WholeChunks.for_array(array, Prefix(array.store, array.path), is_whole=True)
    assert chunks is not None
    everything = tuple(slice(0, n, None) for n in SHAPE)
    for region in (
        everything,
        ChunkGrid(SHAPE, CHUNKS).region(5),
        ChunkGrid(SHAPE, CHUNKS).region(0),
    ):
        assert chunks.covers(region)
        np.testing.assert_array_equal(chunks.read(region), values[region])
    assert not chunks.covers((slice(0, 5), slice(0, 7), slice(0, 8)))
    assert not chunks.covers((slice(0, 4), slice(0, 8), slice(0, 8)))


def test_missing_and_damaged_chunks_are_named(tmp_path: Path) -> None:
    array = written(CODECS["ours"], LocalStore(tmp_path), samples())
    place, region = Prefix(array.store, array.path), ChunkGrid(SHAPE, CHUNKS).region(1)
    whole, any_writer = (WholeChunks.for_array(array, place, is_whole=w) for w in (True, False))
    assert whole is not None
    assert any_writer is not None
    path = tmp_path / "c" / "0" / "0" / "1"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(CorruptChunk, match=r"chunk c/0/0/1, block 0"):
        whole.read(region)
    path.unlink()
    with pytest.raises(CorruptChunk, match=r"chunk c/0/0/1: missing"):
        whole.read(region)
    assert (any_writer.read(region) == 7).all()


@pytest.mark.filterwarnings("ignore")  # what zarr finds unstable
@pytest.mark.parametrize("kind", ["shards", "text", "no axes", "numcodecs"])
def test_zarr_itself_does_the_others(kind: str) -> None:
    made: dict[str, dict[str, Any]] = {
        "shards": {"shape": (8,), "dtype": "u2", "chunks": (2,), "shards": (4,)},
        "text": {"shape": (8,), "dtype": "U3", "chunks": (2,)},
        "no axes": {"shape": (), "dtype": "u2"},
        "numcodecs": {"shape": (8,), "dtype": "u2", "chunks": (2,), "filters": [_delta()]},
    }
    array = zarr.create_array(MemoryStore(), **made[kind])
    # as of zarr 3.4 those of numcodecs can be called directly, too
    assert CodecChain.for_array(array) is None or kind == "numcodecs"
    objects: dict[str, Any] = {}
    array = zarr.create_array(MemoryStore(objects), **made[kind])
    coder = ArrayCoder(objects["zarr.json"].to_bytes())
    values = np.ones(array.shape, array.dtype)[coder.grid.region(0)]
    stored = coder.encode(0, values)
    np.testing.assert_array_equal(coder.decode(0, stored), values)


def _delta() -> Any:
    from zarr.codecs import numcodecs

    return numcodecs.Delta(dtype="<u2")
