"""The parts of a job that touch no cluster: places, chunks, records, journal, manifest, memory."""

from __future__ import annotations

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import LocalStore, MemoryStore

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.engine.scheduling.memory import check_memory, transcode_bytes
from gangsaw.tasks.store.arrays.chunks import ArrayCoder, ChunkGrid, borrow_coder, chunk_key
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix
from gangsaw.tasks.store.state.journal import BATCH_CHUNKS, Job, Journal, batch_chunks
from gangsaw.tasks.store.state.manifest import MANIFEST, fold_parts, read_manifest, write_manifest
from gangsaw.tasks.store.state.records import ROW, Records, unpack_records

MIB = 1 << 20


def records(first: int = 0, n: int = 5, job: str = "job") -> Records:
    rows = np.array([(100 + i, 7 * i) for i in range(first, first + n)], ROW)
    return Records(job, first, 1000 * n, rows)


@pytest.fixture(params=["local", "memory", "fsspec", "below"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Prefix:
    """An empty place of every kind of store."""
    if request.param == "local":
        return open_prefix(tmp_path / "store.zarr", writable=True)
    if request.param == "fsspec":
        return open_prefix(f"memory://{tmp_path.name}/store.zarr", writable=True)
    place = open_prefix(MemoryStore())
    return place / "a" / "b" if request.param == "below" else place


def test_place_keeps_objects(place: Prefix) -> None:
    assert place.is_empty
    assert place.get("x/y") is None
    place.put("x/y", b"one")
    place.put("x/z", b"two")
    found = place.get("x/y")
    assert found is not None
    assert found.to_bytes() == b"one"
    assert [b and b.to_bytes() for b in place.get_many(["x/z", "none", "x/y"])] == [
        b"two",
        None,
        b"one",
    ]
    assert sorted(place.walk()) == ["x/y", "x/z"]
    assert (place / "x").names() == ["y", "z"]
    assert not place.is_empty
    place.flush(["x/y", "x/z"])
    place.delete("x/y")
    place.delete("x/y")
    assert list(place.walk()) == ["x/z"]
    (place / "x").delete_all()
    assert (place / "x").names() == []


def test_looking_creates_nothing(tmp_path: Path) -> None:
    place = open_prefix(tmp_path / "none.zarr")
    assert place.is_empty
    assert not (tmp_path / "none.zarr").exists()


def test_place_pickles(tmp_path: Path) -> None:
    place = open_prefix(tmp_path / "store.zarr", writable=True) / "cube"
    place.put("k", b"v")
    again = pickle.loads(pickle.dumps(place))
    assert again == place
    assert again.get("k").to_bytes() == b"v"
    assert str(again) == str(tmp_path / "store.zarr" / "cube")


def test_what_comes_while_all_is_deleted_goes_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory is no longer empty when it is about to be removed; the second time it is."""
    place = open_prefix(tmp_path / "store.zarr", writable=True)
    place.put("a/b", b"one")
    late, rmdir = iter([True]), os.rmdir

    def someone_writes(path: Any, **options: Any) -> None:
        if next(late, False):
            (tmp_path / "store.zarr" / "a" / "c").write_bytes(b"two")
        rmdir(path, **options)

    monkeypatch.setattr(os, "rmdir", someone_writes)
    (place / "a").delete_all()
    assert list(place.walk()) == []


def test_what_goes_while_all_is_deleted_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that still runs gives its file its name between two looks."""
    place = open_prefix(tmp_path / "store.zarr", writable=True)
    place.put("a/b", b"one")
    early, unlink = iter([True]), os.unlink

    def someone_renames(path: Any, **options: Any) -> None:
        if next(early, False):
            (tmp_path / "store.zarr" / "a" / "b").rename(tmp_path / "store.zarr" / "a" / "c")
        unlink(path, **options)

    monkeypatch.setattr(os, "unlink", someone_renames)
    (place / "a").delete_all()
    assert list(place.walk()) == []


def test_clean_removes_only_temporary_files(tmp_path: Path) -> None:
    place = open_prefix(tmp_path / "store.zarr", writable=True)
    place.put("c/0", b"chunk")
    folder = tmp_path / "store.zarr" / "c"
    (folder / f"1.{'0af3' * 8}.partial").write_bytes(b"half")
    (folder / "user.partial").write_bytes(b"not of LocalStore")
    assert place.clean() == 1
    assert sorted(p.name for p in folder.iterdir()) == ["0", "user.partial"]


def test_clean_finds_what_a_killed_writer_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = open_prefix(tmp_path / "store.zarr", writable=True)

    def die(*_: object) -> None:
        raise KeyboardInterrupt  # no Exception: LocalStore does not clean up after it

    monkeypatch.setattr(Path, "replace", die)
    with pytest.raises(KeyboardInterrupt):
        place.store.set_sync("c/0", default_buffer_prototype().buffer.from_bytes(b"x"))
    monkeypatch.undo()
    assert len(list(place.walk())) == 1
    assert place.is_empty
    assert place.clean() == 1


def test_grid_covers_the_array_once() -> None:
    grid = ChunkGrid((5, 7, 4), (2, 3, 4))
    seen = np.zeros(grid.shape, int)
    for number in range(grid.n_chunks):
        seen[grid.region(number)] += 1
    assert grid.n_chunks == 3 * 3 * 1
    assert (seen == 1).all()
    assert ChunkGrid((), ()).region(0) == ()


@pytest.mark.parametrize("shards", [None, (4, 6)])
def test_coder_gives_the_bytes_that_zarr_stores(
    tmp_path: Path, shards: tuple[int, int] | None
) -> None:
    array = zarr.create_array(
        LocalStore(tmp_path / "a.zarr"),
        shape=(7, 9),
        chunks=(2, 3),
        shards=shards,
        dtype="i4",
        fill_value=-1,
        config={"write_empty_chunks": True},
    )
    data = np.arange(63, dtype="i4").reshape(7, 9)
    data[:4, :6] = -1  # a chunk, and a shard, of fill values only
    array[...] = data
    place = open_prefix(tmp_path / "a.zarr")
    metadata = place.get("zarr.json")
    assert metadata is not None
    coder = ArrayCoder(metadata.to_bytes())
    keys = [coder.key(number) for number in range(coder.grid.n_chunks)]
    assert sorted([*keys, "zarr.json"]) == sorted(place.walk())
    for number, key in enumerate(keys):
        region = coder.grid.region(number)
        stored = coder.encode(number, data[region])
        assert stored.to_bytes() == place.get(key).to_bytes()  # type: ignore[union-attr]
        assert (coder.decode(number, stored) == data[region]).all()
        assert chunk_key(metadata.to_bytes(), number) == key

    def encode(value: int) -> bytes:
        """Whole chunks of one value each, all of number 0: arrays of a job may be that alike."""
        samples = np.full_like(data[coder.grid.region(0)], value)
        with borrow_coder(metadata.to_bytes()) as own:
            stored = own.encode(0, samples)
            assert (own.decode(0, stored) == value).all()
        return stored.to_bytes()

    with ThreadPoolExecutor(4) as threads:
        values = [i % 4 for i in range(200)]
        assert list(threads.map(encode, values)) == [encode(i) for i in values]


def test_a_coder_is_lent_to_one_at_a_time(tmp_path: Path) -> None:
    array = zarr.create_array(LocalStore(tmp_path), shape=4, chunks=4, dtype="i4")
    metadata = array.store_path.store.root.joinpath("zarr.json").read_bytes()
    with borrow_coder(metadata) as one, borrow_coder(metadata) as other:
        assert one is not other
    with borrow_coder(metadata) as again:
        assert again is other or again is one
    with pytest.raises(KeyError), borrow_coder(metadata) as failed:
        raise KeyError
    with borrow_coder(metadata) as whole:
        assert whole is not failed


def test_records_survive_packing() -> None:
    packed = records(64, 3).pack()
    again = unpack_records(packed)
    assert again is not None
    assert (again.job, again.first, again.raw_bytes) == ("job", 64, 3000)
    assert (again.rows == records(64, 3).rows).all()
    assert again.pack() == packed


def test_damaged_records_are_no_records() -> None:
    packed = records().pack()
    for length in range(len(packed)):
        assert unpack_records(packed[:length]) is None
    for bit in range(8 * len(packed)):
        damaged = bytearray(packed)
        damaged[bit // 8] ^= 1 << bit % 8
        assert unpack_records(bytes(damaged)) is None
    assert unpack_records(packed + b"\0") is None


def test_journal_ignores_torn_foreign_and_misplaced_entries(place: Prefix) -> None:
    job = Job("source", "array", 20, 5)
    journal = Journal(place, job.fingerprint, 5)
    batches = job.batches
    journal.write(records(0, job=job.fingerprint))
    journal.write(records(5, job=job.fingerprint))
    journal_of = ".gangsaw/journal/00000/000"
    place.put(f"{journal_of}/000000000005", records(5, job=job.fingerprint).pack()[:-1])
    place.put(f"{journal_of}/000000000010", records(10, job="another").pack())
    place.put(f"{journal_of}/000000000015", records(0, job=job.fingerprint).pack())
    assert set(journal.read_all(batches)) == {0}
    assert [journal.read(batch) is not None for batch in batches] == [True, False, False, False]
    journal.remove()
    assert journal.read_all(batches) == {}


def test_job_is_told_by_each_field() -> None:
    job = Job("source", "array", 20, 5)
    others = [
        Job("other", "array", 20, 5),
        Job("source", "other", 20, 5),
        Job("source", "array", 21, 5),
        Job("source", "array", 20, 4),
    ]
    assert job.fingerprint == Job("source", "array", 20, 5).fingerprint
    assert len({job.fingerprint, *(other.fingerprint for other in others)}) == 5


def test_batches_follow_from_the_data_alone() -> None:
    assert batch_chunks(10**6, 1 << 20) == BATCH_CHUNKS
    assert batch_chunks(10**6, 32 * MIB) == 2
    assert batch_chunks(10**6, 1 << 40) == 1
    assert batch_chunks(100, 1) == 1  # a scene keeps many workers busy
    assert [len(b) for b in Job("", "", 11, 4).batches] == [4, 4, 3]


def test_manifest_folds_the_journal(place: Prefix) -> None:
    entries = [records(5, 5), records(0, 5), records(10, 2)]
    manifest = fold_parts("job", entries)
    write_manifest(place, manifest)
    again = read_manifest(place)
    assert again is not None
    assert again.raw_bytes == 12_000
    assert (again.rows["stored"] == np.arange(100, 112)).all()
    with pytest.raises(ValueError, match="gap"):
        fold_parts("job", entries[:1])
    assert len(fold_parts("job", []).rows) == 0


def test_a_damaged_manifest_is_told(place: Prefix) -> None:
    place.put(MANIFEST, records().pack()[:-3])
    with pytest.raises(CorruptChunk, match="manifest is damaged"):
        read_manifest(place)


def test_a_million_chunks_are_twelve_megabytes() -> None:
    rows = np.zeros(10**6, ROW)
    assert len(Records("f" * 64, 0, 0, rows).pack()) < 12.001e6


def test_memory_counts_what_the_source_reads_whole() -> None:
    u2 = np.dtype("u2")
    plain = transcode_bytes((100, 100), (10, 10), u2, None)
    assert transcode_bytes((100, 100), (10, 10), u2, (100, 1)) == plain + 2 * 100 * 10
    assert transcode_bytes((100, 100), (10, 10), u2, (7, 7)) == plain + 2 * 21 * 21


def test_too_little_memory_is_refused_with_the_numbers() -> None:
    worker = {"name": "w1", "memory_limit": 1024 * MIB, "nthreads": 4}
    check_memory(100 * MIB, [worker])
    check_memory(1 << 60, [worker | {"memory_limit": 0}])
    with pytest.raises(BadParams, match=r"w1 has 1,024 MiB for 4 threads.*1,480 MiB \(200 MiB per"):
        check_memory(200 * MIB, [worker])
