"""Verify finds whatever befell a store, names it, and is silent about a store that is right."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import google_crc32c
import h5py
import numpy as np
import pytest
import zarr
from distributed import Client
from helpers.job_data import WAVELENGTHS, raw_source
from zarr.codecs import ZstdCodec
from zarr.storage import MemoryStore

import gangsaw
from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers.local import start
from gangsaw.codecs.ccsds123.codec import Ccsds123
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, JobFailed
from gangsaw.tasks.engine.report.progress import Progress
from gangsaw.tasks.formats.raw.source import RawSource
from gangsaw.tasks.jobs.chunks.check import same_bits
from gangsaw.tasks.jobs.compress import compress
from gangsaw.tasks.jobs.verification.verify import verify
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.state.manifest import read_manifest, write_manifest
from gangsaw.tasks.store.state.records import Records

CHUNKS = (6, 16, 16)  # 3 x 4 chunks


@pytest.fixture
def source(tmp_path: Path) -> RawSource:
    return replace(raw_source(tmp_path), coords=(WAVELENGTHS,))


@pytest.fixture(params=["zstd", "ccsds123"])
def store(request: pytest.FixtureRequest, source: RawSource, tmp_path: Path) -> Path:
    """A finished store in either codec."""
    codec = Ccsds123(block=(0, 8, 8)) if request.param == "ccsds123" else ZstdCodec(level=1)
    compress(source, tmp_path / "a.zarr", codec=codec, chunks=CHUNKS)
    return tmp_path / "a.zarr"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with start(ClusterConfig(workers=2, threads=1, dashboard=False)) as client:
        yield client


@pytest.mark.quick(cases=1)
def test_a_right_store_is_right(store: Path, source: RawSource, client: Client) -> None:
    states: list[Progress] = []
    report = verify(store, against=source, on_progress=states.append)
    assert report.ok
    assert report.compared
    assert report.arrays == ("band", "data")
    assert (report.chunks, report.raw_bytes, report.extra) == (13, 24_000 + 48, ())
    assert states[-1].done == states[-1].total == 13
    again = verify(store, against=source, client=client)
    assert replace(again, seconds=0) == replace(report, seconds=0)
    assert not verify(store).compared


def test_all_damage_is_named(store: Path, source: RawSource, client: Client) -> None:
    chunks = store / "data" / "c" / "0"
    (chunks / "0" / "1").unlink()
    with (chunks / "0" / "2").open("ab") as file:
        file.write(b"!")
    flipped = bytearray((chunks / "1" / "1").read_bytes())
    flipped[len(flipped) // 2] ^= 4
    (chunks / "1" / "1").write_bytes(flipped)
    shutil.copy(chunks / "2" / "0", chunks / "2" / "7")
    (store / "band" / "c" / "0").write_bytes(b"")
    for report in (verify(store, client=client), verify(store)):
        lines = sorted(report.problems)
        assert not report.ok
        assert len(lines) == 4
        assert "band, chunk c/0: 0 bytes, the manifest says" in lines[0]
        assert "data, chunk c/0/0/1: missing: Zarr would read fill values here" in lines[1]
        assert "data, chunk c/0/0/2: " in lines[2]
        assert "data, chunk c/0/1/1: the checksum differs from the manifest's" in lines[3]
        assert report.extra == (str(chunks / "2" / "7"),)


@pytest.mark.parametrize("codec", [ZstdCodec(level=1), Ccsds123(block=(0, 8, 8))])
def test_bytes_that_never_decoded_are_told(
    source: RawSource, tmp_path: Path, codec: object
) -> None:
    """A manifest that agrees with rotten bytes: only decoding tells."""
    target = tmp_path / "a.zarr"
    compress(source, target, codec=codec, chunks=CHUNKS)  # type: ignore[arg-type]
    rotten = target / "data" / "c" / "0" / "0" / "1"
    stored = rotten.read_bytes()
    rotten.write_bytes(stored[: len(stored) // 2])
    _rewrite_manifest(target, 1, rotten.read_bytes())
    (problem,) = verify(target).problems
    assert "chunk c/0/0/1" in problem
    assert "cannot be decoded" in problem


def _rewrite_manifest(target: Path, number: int, data: bytes) -> None:
    place = open_prefix(target, writable=True) / "data"
    manifest = read_manifest(place)
    assert manifest is not None
    rows = manifest.rows.copy()
    rows[number] = (len(data), google_crc32c.value(data))
    write_manifest(place, Records(manifest.job, 0, manifest.raw_bytes, rows))


def test_a_different_source_is_told(store: Path, source: RawSource) -> None:
    raw = Path(source.name)
    samples = np.fromfile(raw, "<u2").reshape(6, 40, 50)
    samples[3, 20, 20] ^= 1
    samples.tofile(raw)
    (problem,) = verify(store, against=source).problems
    assert "chunk c/0/1/1: the samples differ from the source" in problem
    other = replace(WAVELENGTHS, values=WAVELENGTHS.values + 1)
    array = replace(source.arrays[0], dtype_str="<i2")
    problems = verify(store, against=replace(source, arrays=(array,), coords=(other,))).problems
    assert (
        problems[0]
        == "data: the store has ((6, 40, 50), 'uint16'), the source ((6, 40, 50), 'int16')"
    )
    assert problems[1] == "band: the coordinate differs from the source's"
    renamed = replace(source.arrays[0], name="more")
    problems = verify(store, against=replace(source, arrays=(renamed,))).problems
    assert problems == (
        "more: in the source, not in the store",
        "data: in the store, not in the source",
    )


def test_lost_metadata_and_manifests_are_told(store: Path, source: RawSource) -> None:
    (store / "band" / ".gangsaw" / "manifest").unlink()
    (store / "data" / "zarr.json").unlink()
    lines = verify(store).problems
    assert "band: no manifest" in lines[0]
    assert "chunk zarr.json: the array's metadata is missing" in lines[1]


def test_a_lost_array_is_told(store: Path) -> None:
    shutil.rmtree(store / "band")
    (line,) = verify(store).problems
    assert "band" in line


def test_a_manifest_of_another_array_is_told(store: Path) -> None:
    shutil.copy(store / "band" / ".gangsaw" / "manifest", store / "data" / ".gangsaw" / "manifest")
    (line,) = verify(store).problems
    assert "manifest and metadata differ in the number of chunks" in line


def test_what_no_job_wrote_cannot_be_verified(tmp_path: Path) -> None:
    with pytest.raises(BadParams, match="no Zarr format 3 store there"):
        verify(tmp_path / "none.zarr")
    assert not (tmp_path / "none.zarr").exists()
    group = zarr.create_group(tmp_path / "plain.zarr")
    group.create_array("x", shape=3, dtype="u1")
    with pytest.raises(BadParams, match="has no manifest: no Gangsaw job wrote it"):
        verify(tmp_path / "plain.zarr")


def test_any_store_is_verified(source: RawSource) -> None:
    memory = MemoryStore()
    compress(source, memory, codec="none", chunks=CHUNKS)
    assert verify(memory, against=source).ok
    memory._store_dict.pop("data/c/0/0/0")
    assert len(verify(memory).problems) == 1


def test_a_source_that_cannot_be_read_stops_the_check(store: Path, source: RawSource) -> None:
    Path(source.name).write_bytes(b"")
    with pytest.raises(JobFailed, match=r"data of the source, at c/0/0/0: .* became shorter"):
        verify(store, against=source)


def test_same_bits_means_every_bit() -> None:
    nan = np.array([np.nan, 1.0])
    assert same_bits(nan, nan.copy())
    assert same_bits(nan.astype(">f8"), nan)
    assert not same_bits(np.array([0.0]), np.array([-0.0]))
    assert not same_bits(np.zeros(2, "i4"), np.zeros(2, "u4"))
    assert not same_bits(np.zeros((2, 1)), np.zeros((1, 2)))
    assert same_bits(np.float32(3)[()], np.float32(3)[()])  # type: ignore[arg-type]
    transposed = np.arange(6, dtype="i2").reshape(2, 3).T
    assert same_bits(transposed, np.ascontiguousarray(transposed))


def test_a_corrupt_manifest_is_told(store: Path) -> None:
    path = store / "data" / ".gangsaw" / "manifest"
    path.write_bytes(path.read_bytes()[:-1])
    (line,) = verify(store).problems
    assert "the manifest is damaged" in line
    with pytest.raises(CorruptChunk):
        read_manifest(open_prefix(store) / "data")


def write_tree(path: Path) -> Path:
    with h5py.File(path, "w") as file:
        file["a"] = np.arange(60_000, dtype="u2").reshape(300, 200)
        file["b"] = np.ones((300, 200), "i2")
        file["small"] = np.arange(3)
        file["in/c"] = np.arange(4.0)
        file.create_group("empty").attrs["note"] = "kept"
    return path


@pytest.mark.parametrize("gone", ["b", "small", "in/c", "in", "empty"])
def test_what_the_source_no_longer_has_is_told(tmp_path: Path, gone: str) -> None:
    path, store = write_tree(tmp_path / "a.h5"), tmp_path / "a.zarr"
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path).ok
    path = write_tree(tmp_path / "later.h5")
    with h5py.File(path, "a") as file:
        del file[gone]
    name = {"in": "in/c", "empty": "group empty"}.get(gone, gone)
    assert f"{name}: in the store, not in the source" in (
        found := gangsaw.verify(store, against=path).problems
    )
    assert len(found) <= 2  # a group may go with its variable
    if gone in {"b", "small"}:
        assert gangsaw.verify(store, against=path, variables=["a"]).ok


def test_one_variable_of_the_store_is_compared_alone(tmp_path: Path) -> None:
    path, store = write_tree(tmp_path / "a.h5"), tmp_path / "a.zarr"
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path, variables=["a"]).ok


def test_a_store_of_reads_is_compared_with_a_genome(tmp_path: Path) -> None:
    path, store = tmp_path / "a.fastq", tmp_path / "a.zarr"
    path.write_text("".join(f"@r{i}\nACGT\n+\nIIII\n" for i in range(20)))
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path).ok
    (tmp_path / "a.fasta").write_text("".join(f">r{i}\nACGT\n" for i in range(20)))
    problems = gangsaw.verify(store, against=tmp_path / "a.fasta").problems
    assert "record_offset: in the source, not in the store" in problems


@pytest.mark.skipif(np.finfo(np.longdouble).nmant != 63, reason="long doubles have no padding")
@pytest.mark.parametrize("shape", [(5,), (300, 200)], ids=["whole", "chunks"])
@pytest.mark.parametrize("order", "<>")
def test_padding_of_long_doubles_is_no_difference(
    tmp_path: Path, shape: tuple[int, ...], order: str
) -> None:
    def write(path: Path, padding: int, one: float = 1) -> Path:
        items = np.full(shape, one, "g")
        items.view("u1").reshape(*shape, 16)[..., 10:] = padding
        if order == ">":  # NumPy swaps the padding, too
            items = items.byteswap().view(items.dtype.newbyteorder(">"))
        with h5py.File(path, "w") as file:
            file["image"] = np.ones((30, 40), "u2")
            file["long"] = items
            record = np.zeros(shape, [("a", "i2"), ("b", items.dtype)])
            record["b"] = items
            file["records"] = record
        return path

    gangsaw.compress(write(tmp_path / "a.h5", 0), store := tmp_path / "s.zarr")
    assert gangsaw.verify(store, against=write(tmp_path / "b.h5", 7)).problems == ()
    problems = gangsaw.verify(store, against=write(tmp_path / "c.h5", 0, 1.5)).problems
    assert {"long", "records"} <= {n for n in ("long", "records") for p in problems if n in p}
