"""The suite over every codec of bytes x sample: it finds codecs through the entry points."""

from __future__ import annotations

import json
import pickle
import re
import tracemalloc
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr
from helpers.bytes_codecs import BytesCase, bytes_cases, folder, golden, inner_of, place, reference
from hypothesis import given, settings
from hypothesis import strategies as st
from numcodecs import VLenUTF8

from gangsaw import codecs
from gangsaw.codecs import Bwt, Strings, StringsV2
from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.errors import BadParams, ChunkError, CorruptChunk, NewerFormat
from gangsaw.codecs.strings import header as headers
from gangsaw.codecs.strings.header import ENDED, EQUAL, LENGTHS, PLAIN, STORED, StringsHeader

CASES = bytes_cases()
TYPES = codec_table.bytes_classes()
HEAD = headers.HEADER_BYTES
parameters = pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
some_of_each = pytest.mark.quick(cases=2, by=lambda values: folder(values["case"].codec_type))


def every_case(test: Any) -> Any:
    """Run a test over all cases, in the quick tier over two of each codec."""
    return parameters(some_of_each(test))


every_codec = pytest.mark.parametrize("kind", TYPES, ids=folder)


def octets(data: bytes) -> Any:
    return np.frombuffer(data, np.uint8)


def strings(*items: bytes) -> Any:
    return octets(reference(Strings).joined(list(items)))


@every_case
def test_round_trip_and_growth(case: BytesCase) -> None:
    frame = case.codec.encode_bytes(case.data)
    assert case.codec.decode_bytes(frame).tobytes() == case.data.tobytes()
    assert len(frame) <= HEAD + len(case.data)
    assert case.codec.encode_bytes(case.data.copy()).tobytes() == frame.tobytes()


@every_case
def test_the_reference_reads_the_frame(case: BytesCase) -> None:
    frame, slow = case.codec.encode_bytes(case.data).tobytes(), reference(case.codec_type)
    assert slow.decode(frame, inner_of(case.codec)) == case.data.tobytes()
    found = headers.parse(frame)
    if found.kind != STORED:
        assert (found.kind, found.end, found.width) == slow.kind_of(case.data.tobytes())


def test_the_samples_have_every_kind_of_frame() -> None:
    kinds = {headers.parse(case.codec.encode_bytes(case.data)).kind for case in CASES}
    assert kinds == {STORED, PLAIN, EQUAL, ENDED, LENGTHS}


@every_case
def test_golden_files(case: BytesCase, request: pytest.FixtureRequest) -> None:
    path = golden(case.codec_type) / f"{case.sample.name}.json"
    if not path.exists() and request.config.getoption("--write-golden"):
        write(case, path)
    assert path.exists(), "add it: python -m pytest --write-golden"
    what = json.loads(path.read_text())
    codec = case.codec_type.from_dict(what["codec"])
    frame = octets(path.with_suffix(".frame").read_bytes())
    assert codec.decode_bytes(frame).tobytes() == bytes.fromhex(what["data"])


def write(case: BytesCase, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".frame").write_bytes(case.codec.encode_bytes(case.data).tobytes())
    what = {"codec": case.codec.to_dict(), "data": case.data.tobytes().hex()}
    path.write_text(json.dumps(what, indent=1))


@every_codec
def test_the_spec_gives_a_configuration(kind: Any) -> None:
    (example,) = re.findall(r"```json\n(.*?)```", (place(kind) / "SPEC.md").read_text(), re.DOTALL)
    said = json.loads(example)
    assert kind.from_dict(said).to_dict() == said == kind().to_dict()


@every_codec
def test_names_are_derived_from_the_table(kind: Any) -> None:
    name = kind.__name__
    assert getattr(codecs, name) is kind
    codec = getattr(codecs, f"{name}V2")()
    assert codec.codec_id == kind.codec_name
    assert pickle.loads(pickle.dumps(codec)).get_config() == codec.get_config()
    assert type(numcodecs.get_codec(json.loads(json.dumps(codec.get_config())))) is type(codec)
    assert pickle.loads(pickle.dumps(kind())) == kind()
    assert kind.codec_name not in codec_table.table()


@settings(max_examples=150, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=30), st.binary(max_size=3), st.booleans())
def test_any_strings_come_back(items: list[bytes], more: bytes, ascii_only: bool) -> None:
    items = [item.hex().encode() for item in items] if ascii_only else items
    codec, data = Strings(), octets(strings(*items).tobytes() + more)
    assert codec.decode_bytes(codec.encode_bytes(data)).tobytes() == data.tobytes()


@every_case
def test_cut_and_flipped_frames(case: BytesCase) -> None:
    """What is cut short is told; a flipped bit gives an error, or what was encoded."""
    codec, rng = case.codec, np.random.default_rng(3)
    frame = codec.encode_bytes(case.data)
    for n in {0, 1, HEAD - 1, HEAD, *rng.integers(0, len(frame), 12).tolist()} - {len(frame)}:
        with pytest.raises(CorruptChunk):
            codec.decode_bytes(frame[:n])
    with pytest.raises(CorruptChunk):
        codec.decode_bytes(np.append(frame, np.uint8(0)))
    for at in rng.integers(0, len(frame), 30).tolist():
        wrong = frame.copy()
        wrong[at] ^= 1 << int(rng.integers(8))
        with pytest.raises(ChunkError):
            codec.decode_bytes(wrong)


def forged(kind: int, n_bytes: int, count: int, *parts: bytes, **more: int) -> Any:
    return octets(StringsHeader(kind, n_bytes, count, **more).pack() + b"".join(parts))


def coded(data: bytes, dtype: str = "u1") -> bytes:
    return bytes(Bwt().encode_chunk(np.frombuffer(data, dtype)))


NINE, EIGHT = coded(b"\4\5"), coded(b"\4\4")  # what lengths sum to
WRONG = {
    "many-items": forged(ENDED, 100, 25, coded(b"\n" * 25), end=10),
    "too-large": forged(PLAIN, headers.MOST_BYTES + 1, 0),
    "large-and-empty": forged(PLAIN, headers.MOST_BYTES, 0),
    "many-and-empty": forged(ENDED, headers.MOST_BYTES, (1 << 28) - 1, end=10),
    "equal-of-none": forged(EQUAL, 10, 0, coded(b"abcdef")),
    "equal-by-parts": forged(EQUAL, 17, 2, coded(b"abcde")),
    "too-few-ends": forged(ENDED, 20, 2, coded(b"abcdefgh\na"), end=10),
    "too-many-ends": forged(ENDED, 20, 2, coded(b"abcdefg\n\n\n"), end=10),
    "no-last-end": forged(ENDED, 20, 2, coded(b"abc\ndef\nxx"), end=10),
    "other-sum": forged(LENGTHS, 20, 2, NINE, coded(b"abcdefgh"), width=1, detail=len(NINE)),
    "no-width": forged(LENGTHS, 20, 2, EIGHT, coded(b"abcdefgh"), width=3, detail=len(EIGHT)),
    "lengths-beyond": forged(LENGTHS, 20, 2, EIGHT, width=1, detail=1 << 31),
    "unused-end": forged(PLAIN, 3, 0, coded(b"abc"), end=1),
    "unused-width": forged(PLAIN, 3, 0, coded(b"abc"), width=1),
    "unused-detail": forged(PLAIN, 3, 0, coded(b"abc"), detail=1),
    "unused-count": forged(PLAIN, 12, 1, coded(b"abcdefghijkl")),
    "no-kind": forged(5, 3, 0, coded(b"abc")),
}


@pytest.mark.parametrize("name", WRONG)
def test_forged_frames_are_told_in_little_memory(name: str) -> None:
    """Their checksums are right."""
    codec = Strings()
    tracemalloc.start()
    with pytest.raises(CorruptChunk):
        codec.decode_bytes(WRONG[name])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


def test_a_later_version_is_named() -> None:
    data = StringsHeader(PLAIN, 3).pack()[: headers.FIELDS.size]
    later = data[:4] + b"\2" + data[5:]
    frame = later + headers.CHECKSUM.pack(headers.crc32c(later))
    with pytest.raises(NewerFormat, match="version 2"):
        Strings().decode_bytes(octets(frame))


def test_memory_is_promised() -> None:
    """What NumPy allocates of a log and of empty strings, beside the chunk."""
    lines = [b"%d GET /page/%d HTTP/1.1 200 %d" % (i, i % 70, i * 7) for i in range(60_000)]
    for data in (strings(*lines), strings(*[b""] * 500_000)):
        codec = Strings()
        frame = codec.encode_bytes(data)  # kernels are loaded
        for work, given_bytes in ((codec.encode_bytes, data), (codec.decode_bytes, frame)):
            tracemalloc.start()
            work(given_bytes)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak <= codec.peak_bytes(len(data))


@pytest.mark.parametrize(
    "inner",
    ["gangsaw.strings", "gangsaw.visibility", "zstd", 3, {"configuration": {}}, None],
    ids=str,
)
def test_wrong_inner_codecs(inner: Any) -> None:
    with pytest.raises(BadParams):
        Strings.from_dict({"name": "gangsaw.strings", "configuration": {"inner": inner}})


def test_unknown_parameters() -> None:
    with pytest.raises(BadParams, match="effort"):
        Strings.from_dict({"name": "gangsaw.strings", "configuration": {"effort": "fast"}})


def test_more_than_a_frame_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gangsaw.codecs.strings.coding.MOST_BYTES", 10)
    with pytest.raises(BadParams, match="fewer items"):
        Strings().encode_bytes(strings(b"abcdefgh"))


TEXTS = np.array([["", "a\0b\0", "é小"], ["x" * 1000, "\n", "z"]], np.dtypes.StringDType())


@pytest.mark.parametrize("shape", [(), (6,), (2, 3)], ids=str)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarr_holds_strings(shape: tuple[int, ...], zarr_format: Any) -> None:
    texts = TEXTS[1, 0:1].reshape(()) if shape == () else TEXTS.reshape(shape)
    codec: Any = Strings() if zarr_format == 3 else StringsV2(inner=Bwt(effort="fast"))
    array = zarr.create_array(
        {}, shape=shape, chunks=shape, dtype=str, compressors=codec, zarr_format=zarr_format
    )
    array[...] = texts
    again = zarr.open_array(array.store, mode="r")
    assert np.array_equal(np.asarray(again[...], TEXTS.dtype), texts)
    key = "c" + "/0" * len(shape) if zarr_format == 3 else ".".join("0" * max(1, len(shape)))
    stored = array.store._store_dict[key].to_bytes()
    plain = VLenUTF8().encode(np.asarray(texts.astype(object)).reshape(-1))
    assert Strings(
        inner=codec.params.inner if zarr_format == 3 else codec.codec.params.inner
    ).decode_bytes(octets(stored)).tobytes() == bytes(plain)


def test_damage_is_told_through_zarr() -> None:
    array = zarr.create_array({}, shape=(40,), chunks=(40,), dtype=str, compressors=Strings())
    array[...] = np.array([f"line {i}" for i in range(40)], TEXTS.dtype)
    data = bytearray(array.store._store_dict["c/0"].to_bytes())
    data[40] ^= 1
    array.store._store_dict["c/0"] = type(array.store._store_dict["c/0"]).from_bytes(bytes(data))
    with pytest.raises(CorruptChunk):
        array[...]


@pytest.mark.filterwarnings("ignore:The data type")  # zarr's, of types not yet specified
@pytest.mark.parametrize("dtype", ["<U10", "S10"])
@pytest.mark.parametrize("shape", [(), (5,), (2, 3)], ids=str)
def test_bwt_codes_texts_of_one_length(dtype: str, shape: tuple[int, ...]) -> None:
    values = np.resize(np.array(["", "a", "b\0c", "0123456789", "zz"], dtype), shape)
    array = zarr.create_array(
        {}, shape=shape, chunks=shape, dtype=dtype, serializer=Bwt(), compressors=None
    )
    array[...] = values
    assert np.array_equal(np.asarray(zarr.open_array(array.store)[...]), values)
