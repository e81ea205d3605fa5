"""Codecs of Zarr v2 that are not told what a chunk is: xarray's encodings name a codec alone."""

from __future__ import annotations

import struct
from typing import Any

import numcodecs
import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.every_codec import Case, assert_same_bits, cases, one_of_each, over, v2_type

import gangsaw
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.codecs.core.zarr import trailer
from gangsaw.codecs.core.zarr.trailer import ChunkKind

CASES = cases()
of_every_codec = over(one_of_each(CASES))


def codec_of(case: Case) -> Any:
    return v2_type(case.codec_type)(**vars(case.sample.params))


@over(CASES)
def test_a_chunk_says_what_it_is(case: Case) -> None:
    codec = codec_of(case)
    again = numcodecs.get_codec(codec.get_config())
    found = again.decode(codec.encode(case.array))
    assert found.dtype == case.array.dtype
    assert found.flags.fnc == case.array.flags.fnc
    assert_same_bits(found, case.array)
    assert not {"shape", "dtype", "memory_order"} & set(codec.get_config())


@of_every_codec
def test_it_is_an_encoding_of_xarray(case: Case, tmp_path: Any) -> None:
    data = np.concatenate([case.array, case.array])
    dims = [f"axis{i}" for i in range(data.ndim)]
    dataset = xr.Dataset({"v": (dims, data)})
    encoding = {"v": {"compressors": codec_of(case), "chunks": case.array.shape}}
    dataset.to_zarr(tmp_path / "a", zarr_format=2, consolidated=False, encoding=encoding)
    back = xr.open_zarr(tmp_path / "a", consolidated=False)
    assert_same_bits(back["v"].values, data)
    turned = back.rename(v="w").chunk()  # other chunks, the same codec
    turned["w"].encoding.pop("chunks")
    turned["w"].encoding.pop("preferred_chunks")
    turned.to_zarr(tmp_path / "b", zarr_format=2, consolidated=False)
    assert_same_bits(xr.open_zarr(tmp_path / "b", consolidated=False)["w"].values, data)
    assert case.codec_type.codec_name in (tmp_path / "b/w/.zarray").read_text()


def test_info_reads_the_figures_of_such_a_store(tmp_path: Any) -> None:
    data = np.arange(4 * 20 * 30, dtype="u2").reshape(4, 20, 30)
    kinds: dict[str, Any] = {
        "2": {"zarr_format": 2, "compressors": gangsaw.codecs.Ccsds123V2()},
        "3": {"compressors": None, "serializer": gangsaw.codecs.Ccsds123()},
    }
    for name, kind in kinds.items():
        zarr.create_array(tmp_path / name, data=data, chunks=data.shape, **kind)
    found, twin = (gangsaw.info(tmp_path / name).arrays[0] for name in kinds)
    assert (found.codec, found.summary) == (twin.codec, twin.summary)
    assert found.index_bytes == twin.index_bytes
    assert found.lane_bits is not None
    assert twin.lane_bits is not None
    np.testing.assert_array_equal(found.lane_bits, twin.lane_bits)


@of_every_codec
def test_a_frame_cut_anywhere_is_corrupt(case: Case) -> None:
    codec = codec_of(case)
    data = codec.encode(case.array)
    for keep in {*range(40), *range(len(data) - 40, len(data))} & {*range(len(data))}:
        with pytest.raises(CorruptChunk):
            codec.decode(data[:keep])


@of_every_codec
def test_false_shapes_take_no_memory(case: Case) -> None:
    codec = codec_of(case)
    place, frame = trailer.unpack_trailer(codec.encode(case.array))
    false = [
        place._replace(shape=(*place.shape, 1 << 10)),
        place._replace(shape=tuple(1 << 8 for _ in range(3))),
        place._replace(shape=(1 << 26,)),
        place._replace(dtype=np.dtype(bool)),
        place._replace(shape=()),
    ]
    for other in false:
        with pytest.raises(CorruptChunk):
            codec.decode(bytes(frame) + trailer.pack_trailer(other))


def test_damage_behind_the_frame_is_corrupt() -> None:
    codec = gangsaw.codecs.Ccsds123V2()
    data = bytearray(codec.encode(np.ones((3, 4, 5), "u2")))
    for at in range(len(data) - 42, len(data)):
        for bit in range(8):
            data[at] ^= 1 << bit
            with pytest.raises(CorruptChunk):
                codec.decode(bytes(data))
            data[at] ^= 1 << bit


@pytest.mark.parametrize("kind", [b"O", b"V8", b"<M8[ns]", b"<U4", b"nonsense", b"\xff\xfe"])
def test_dtypes_that_no_codec_holds_are_corrupt(kind: bytes) -> None:
    body = struct.pack("<Q8scB", 4, kind, b"C", 1)
    with pytest.raises(CorruptChunk):
        trailer.unpack_trailer(body + struct.pack("<I", crc32c(body)))


def test_more_than_a_gibibyte_is_refused_on_both_ways() -> None:
    most = ChunkKind((1 << 30,), np.dtype("u1"), "C")
    assert trailer.unpack_trailer(trailer.pack_trailer(most))[0] == most
    with pytest.raises(BadParams, match="give the codec of Zarr v2 the chunk's shape and dtype"):
        trailer.pack_trailer(most._replace(shape=((1 << 30) + 1,)))
    body = struct.pack("<Q8scB", (1 << 30) + 1, b"|u1", b"C", 1)
    with pytest.raises(CorruptChunk, match="more than"):
        trailer.unpack_trailer(body + struct.pack("<I", crc32c(body)))


def test_half_of_a_place_is_refused() -> None:
    for half in ({"shape": (4, 4, 4)}, {"dtype": "u2"}):
        with pytest.raises(BadParams, match="or neither"):
            gangsaw.codecs.Ccsds123V2(**half)
        with pytest.raises(BadParams, match="or neither"):
            gangsaw.codecs.Ccsds123V2.from_config(half)
