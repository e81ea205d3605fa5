"""Stores behind a network: an S3 server on this machine, whose requests are counted."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.job_data import cube
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

import gangsaw
from gangsaw.codecs.core.errors import BadParams, GangsawError, JobFailed
from gangsaw.tasks.engine import here
from gangsaw.tasks.jobs.transcode import ahead_bytes
from gangsaw.tasks.store import far
from gangsaw.tasks.store.address import Address, opened_with, options_of
from gangsaw.tasks.store.far import Allowance, FarStore
from gangsaw.tasks.store.place import open_place

pytest.importorskip("moto", reason="moto, an S3 server for tests, is not installed: .[test]")
pytest.importorskip("s3fs", reason="s3fs is not installed: .[s3]")

from helpers.s3 import BUCKET, Bucket, serving

SHAPE, CHUNKS = (4, 64, 64), (4, 16, 16)  # 16 chunks
JOB: dict[str, Any] = {"shape": SHAPE, "dtype": "uint16", "chunks": CHUNKS, "codec": "zstd"}
RAW: dict[str, Any] = {"shape": SHAPE, "dtype": "uint16"}


@pytest.fixture(scope="module")
def server() -> Iterator[Bucket]:
    with serving() as bucket:
        yield bucket


@pytest.fixture
def bucket(server: Bucket) -> Bucket:
    server.faults()
    return server


@pytest.fixture
def raw(tmp_path: Path) -> str:
    cube(SHAPE).tofile(tmp_path / "cube.raw")
    return str(tmp_path / "cube.raw")


@pytest.fixture
def address(request: pytest.FixtureRequest) -> str:
    return f"s3://{BUCKET}/{request.node.name}.zarr"


def chunk_requests(bucket: Bucket, method: str) -> dict[str, int]:
    found = bucket.counts().items()
    return {key: n for key, n in found if key.startswith(f"{method} /") and "/c/" in key}


def copy_of(address: str) -> str:
    return address.replace(".zarr", "-copy.zarr")


def test_a_store_makes_the_round_trip(
    bucket: Bucket, raw: str, address: str, tmp_path: Path
) -> None:
    options = {"storage_options": bucket.options}
    summary = gangsaw.compress(raw, address, **JOB, **options)
    assert summary.store == address
    report = gangsaw.verify(address, against=raw, **RAW, **options)
    assert (report.ok, report.store, report.extra) == (True, address, ())
    (array,) = gangsaw.info(address, **options).arrays
    assert (array.n_chunks, array.missing, array.stored_bytes) == (16, 0, summary.stored_bytes)
    assert np.array_equal(gangsaw.open(address, **options)["data"], cube(SHAPE))
    copy = str(tmp_path / "copy.zarr")
    gangsaw.decompress(address, copy, **options)
    assert np.array_equal(gangsaw.open(copy)["data"], cube(SHAPE))
    with pytest.raises(BadParams, match=f"{address} exists"):
        gangsaw.compress(raw, address, **JOB, **options)


def test_no_request_is_superfluous(bucket: Bucket, raw: str, address: str) -> None:
    """A chunk costs its own object and its journal entry; reading it costs one request."""
    options = {"storage_options": bucket.options}
    bucket.faults(ms=50)
    gangsaw.compress(raw, address, **JOB, **options)
    counts = bucket.counts()
    assert chunk_requests(bucket, "GET") == chunk_requests(bucket, "HEAD") == {}
    assert len(chunk_requests(bucket, "PUT")) == 16
    assert counts["PUT"] == 2 * 16 + 3 + 1 + 1  # metadata and job, lease, manifest
    assert counts["at once"] >= 4
    bucket.faults(ms=50)
    assert gangsaw.verify(address, **options).ok
    assert set(chunk_requests(bucket, "GET").values()) == {1}
    assert bucket.counts()["at once"] >= 4
    bucket.faults()
    assert gangsaw.info(address, **options).arrays[0].missing == 0
    assert chunk_requests(bucket, "GET") == chunk_requests(bucket, "HEAD") == {}  # a listing
    bucket.faults(ms=50)
    gangsaw.decompress(address, copy_of(address), **options)
    reads = {k: n for k, n in chunk_requests(bucket, "GET").items() if "-copy" not in k}
    assert len(reads) == 16
    assert set(reads.values()) == {1}
    assert bucket.counts()["at once"] >= 4


def test_the_bytes_in_flight_are_bounded(
    bucket: Bucket, raw: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit, most = 4000, {}

    class Watched(Allowance):
        def enter(self, n_bytes: int, *, wait: bool) -> bool:
            entered = super().enter(n_bytes, wait=wait)
            most[id(self)] = max(most.get(id(self), 0), self.used)
            return entered

    writes, reads = Watched(limit), Watched(limit)
    monkeypatch.setattr(far, "WRITES", writes)
    monkeypatch.setattr(far, "READS", reads)
    bucket.faults(ms=20)
    gangsaw.compress(raw, address, **JOB, storage_options=bucket.options)
    assert gangsaw.verify(address, storage_options=bucket.options).ok
    assert 0 < most[id(writes)] <= limit
    assert 0 < most[id(reads)] <= limit
    assert writes.used == reads.used == 0


def test_jobs_promise_what_is_in_flight() -> None:
    far_away, near = open_place("s3://bucket/a.zarr"), open_place("memory://a/a.zarr")
    assert (ahead_bytes(None, near, 5), ahead_bytes(None, far_away, 5)) == (0, far.WRITE_BYTES)
    assert ahead_bytes(None, far_away, far.WRITE_BYTES + 1) == far.WRITE_BYTES + 1


def test_one_object_is_always_allowed() -> None:
    allowance = Allowance(10)
    assert allowance.enter(50, wait=True)
    assert not allowance.enter(1, wait=False)
    waiting = threading.Thread(target=allowance.enter, args=(8,), kwargs={"wait": True})
    waiting.start()
    allowance.leave(50)
    waiting.join(10)
    assert allowance.used == 8


def test_what_is_begun_and_not_read_is_given_back(bucket: Bucket, address: str) -> None:
    place = open_place(Address(address, bucket.options), writable=True)
    place.put("a", b"123")
    used = far.READS.used
    assert place.begin("a", 3)
    assert place.begin("a", 3)
    place.ready("a")
    place.forget("a")
    assert far.READS.used == used
    assert place.begin("a", 3)
    found = place.get("a")
    assert found is not None
    assert found.to_bytes() == b"123"
    assert far.READS.used == used


MESSAGES = {
    "bucket": ("s3://nowhere/a.zarr", {}, "s3://nowhere/a.zarr: no such bucket"),
    "credentials": (f"s3://{BUCKET}/a.zarr", {"key": None, "secret": None}, "no credentials"),
    "protocol": ("nowhere://a/a.zarr", {}, "nowhere://a/a.zarr: Protocol not known"),
    "option": (f"s3://{BUCKET}/a.zarr", {"wrong": 1}, "check storage_options"),
}


@pytest.mark.parametrize("what", MESSAGES)
@pytest.mark.parametrize("ask", ["compress", "verify", "info"])
def test_errors_are_told_in_our_words(
    bucket: Bucket, raw: str, what: str, ask: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    address, options, line = MESSAGES[what]
    given = {"storage_options": {**bucket.options, **options}}
    asks: dict[str, Callable[[], object]] = {
        "compress": lambda: gangsaw.compress(raw, address, **JOB, **given),
        "verify": lambda: gangsaw.verify(address, **given),
        "info": lambda: gangsaw.info(address, **given),
    }
    with pytest.raises(BadParams, match=line) as error:
        asks[ask]()
    assert "testtest" not in str(error.value)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(far.FsspecStore, "from_url", refuse)
    with pytest.raises(BadParams, match="s3:// needs a package: Install s3fs"):
        open_place("s3://somewhere/a.zarr")


def test_an_unreachable_end_point_is_named(
    bucket: Bucket, raw: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(far, "PAUSES", (0.01,))
    nobody = {**bucket.options, "client_kwargs": {"endpoint_url": "http://127.0.0.1:9"}}
    address = f"s3://{BUCKET}/unreachable.zarr"
    with pytest.raises(OSError, match=f"{address}: no answer in 2 tries: check address and net"):
        gangsaw.compress(raw, address, **JOB, storage_options=nobody)


FAULTS = {"500": 0.03, "503": 0.03, "reset": 0.03, "lost": 0.03, "truncated": 0.03}
FAULTS |= {"flipped": 0.02, "late": 0.03}  # one request in five


def test_faults_lose_nothing_and_spoil_nothing(bucket: Bucket, raw: str, address: str) -> None:
    copy, options = copy_of(address), {"storage_options": bucket.options}
    bucket.faults(**FAULTS, seed=5)
    gangsaw.compress(raw, address, **JOB, **options)
    assert gangsaw.verify(address, **options).ok
    gangsaw.decompress(address, copy, **options)
    counts = bucket.counts()
    bucket.faults()
    assert sum(counts.get(kind, 0) for kind in FAULTS) > 10
    requests = sum(counts[method] for method in ("GET", "PUT", "HEAD", "POST"))
    assert requests < 3 * counts["right"]
    for store in (address, copy):
        assert gangsaw.verify(store, against=raw, **RAW, **options).ok


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAULTS)
def test_one_request_in_five_fails(
    bucket: Bucket, tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    shape = (4, 512, 512)
    cube(shape).tofile(tmp_path / "cube.raw")
    raw, address = str(tmp_path / "cube.raw"), f"s3://{BUCKET}/slow-{kind}.zarr"
    options = {"storage_options": bucket.options}
    bucket.faults(**{kind: 0.2})
    gangsaw.compress(raw, address, **{**JOB, "shape": shape}, **options)
    assert gangsaw.verify(address, **options).ok
    gangsaw.decompress(address, copy_of(address), **options)
    counts = bucket.counts()
    bucket.faults()
    told = {name: n for name, n in counts.items() if " " not in name}
    request.node.add_report_section("call", "counts", str(told))
    assert counts[kind] > 400
    for store in (address, copy_of(address)):
        report = gangsaw.verify(store, against=raw, shape=shape, dtype="uint16", **options)
        assert report.ok


def test_an_outage_ends_the_job_and_resume_finishes_it(
    bucket: Bucket, raw: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(far, "PAUSES", (0.01, 0.01))
    monkeypatch.setattr(here, "COMMITS", 2)  # else all may be there when the fifth is told
    options: dict[str, Any] = {"storage_options": bucket.options}

    def break_down(progress: Any) -> None:
        if progress.done >= 5:
            bucket.faults(**{"500": 1.0}, methods="PUT")

    with pytest.raises(JobFailed, match=r"no answer in 3 tries.*run again with --resume"):
        gangsaw.compress(raw, address, **JOB, **options, on_progress=break_down)
    with pytest.raises(GangsawError, match="not finished"):
        gangsaw.info(address, **options)
    bucket.faults()
    summary = gangsaw.compress(raw, address, **JOB, **options, resume=True)
    assert summary.resumed >= 5
    assert len(chunk_requests(bucket, "PUT")) == 16 - summary.resumed
    assert gangsaw.verify(address, against=raw, **RAW, **options).ok


def test_create_has_one_winner(bucket: Bucket, address: str) -> None:
    place = open_place(Address(address, bucket.options), writable=True)
    won: list[bool] = []

    def create(number: int) -> None:
        won.append(place.create("lease", b"%d" % number))

    threads = [threading.Thread(target=create, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False] * 7 + [True]
    bucket.faults(lost=0.5, methods="PUT", seed=3)
    assert all(place.create(f"other{i}", b"mine") for i in range(8))
    assert bucket.counts()["lost"] > 1
    bucket.faults()
    assert not place.create("other0", b"of another one")
    assert place.modified("lease") is not None


def test_a_store_travels_without_what_is_in_flight(bucket: Bucket, address: str) -> None:
    place = open_place(Address(address, bucket.options), writable=True)
    place.put("a", b"123")
    place.begin("a", 3)
    other = pickle.loads(pickle.dumps(place))
    assert str(other) == address
    assert isinstance(other.store, FarStore)
    found = sync(other.store.get("a", default_buffer_prototype()))
    assert found is not None
    assert found.to_bytes() == b"123"
    place.forget("a")


def test_an_address_keeps_its_options() -> None:
    one = opened_with("s3://a/b", {"key": "x"})
    assert options_of(pickle.loads(pickle.dumps(str(one)))) == {"key": "x"}
    assert (one == "s3://a/b", one != "s3://a/b", one == Address("s3://a/b", {"key": "x"})) == (
        False,
        True,
        True,
    )
    assert len({one, Address("s3://a/b", {"key": "y"}), "s3://a/b"}) == 3
    assert f"{one}/c" == "s3://a/b/c"
    assert opened_with(["a", "s3://c"], {"key": "x"}) == ["a", Address("s3://c", {"key": "x"})]
    assert opened_with("s3://a", None) == "s3://a"
