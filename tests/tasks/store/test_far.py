"""Stores behind a network: an S3 server on this machine, whose requests are counted."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.job_data import cube
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.jobs.transcode import ahead_bytes
from gangsaw.tasks.store import far
from gangsaw.tasks.store.address import Address, opened_with, options_of
from gangsaw.tasks.store.far import Allowance, FarStore
from gangsaw.tasks.store.place import open_place

pytest.importorskip("moto", reason="moto, an S3 server for tests, is not installed: .[test]")
pytest.importorskip("s3fs", reason="s3fs is not installed: .[s3]")

from helpers.s3 import BUCKET, JOB, RAW, SHAPE, Bucket, copy_of


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


def test_processes_leave_no_connection_open(bucket: Bucket, raw: str, address: str) -> None:
    """They would complain of it at their end, which a user reads."""
    command = "import sys; from gangsaw.cli import main; sys.exit(main())"
    shape = ",".join(map(str, SHAPE))
    job = ["compress", raw, address, "--shape", shape, "--dtype", "uint16", "--codec", "zstd"]
    ran = subprocess.run(
        [sys.executable, "-c", command, *job, "--workers", "1", "--quiet"],
        env={**os.environ, **bucket.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_no_request_is_superfluous(bucket: Bucket, raw: str, address: str) -> None:
    """A chunk costs its own object and its journal entry; reading it costs one request."""
    options = {"storage_options": bucket.options}
    bucket.faults(ms=50)
    gangsaw.compress(raw, address, **JOB, **options)
    counts = bucket.counts()
    assert bucket.of_chunks("GET") == bucket.of_chunks("HEAD") == {}
    assert len(bucket.of_chunks("PUT")) == 16
    assert counts["PUT"] == 2 * 16 + 3 + 1 + 1 + 1  # metadata and job, lease, manifest, history
    assert counts["at once"] >= 4
    bucket.faults(ms=50)
    assert gangsaw.verify(address, **options).ok
    assert set(bucket.of_chunks("GET").values()) == {1}
    assert bucket.counts()["at once"] >= 4
    bucket.faults()
    assert gangsaw.info(address, **options).arrays[0].missing == 0
    assert bucket.of_chunks("GET") == bucket.of_chunks("HEAD") == {}  # a listing
    bucket.faults(ms=50)
    gangsaw.decompress(address, copy_of(address), **options)
    reads = {k: n for k, n in bucket.of_chunks("GET").items() if "-copy" not in k}
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
    with pytest.raises(BadParams, match=r's3fs is missing: pip install "gangsaw\[s3\]"'):
        open_place("s3://somewhere/a.zarr")


def test_an_unreachable_end_point_is_named(
    bucket: Bucket, raw: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(far, "PAUSES", (0.01,))
    nobody = {**bucket.options, "client_kwargs": {"endpoint_url": "http://127.0.0.1:9"}}
    address = f"s3://{BUCKET}/unreachable.zarr"
    with pytest.raises(OSError, match=f"{address}: no answer in 2 tries: check address and net"):
        gangsaw.compress(raw, address, **JOB, storage_options=nobody)


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


def test_names_are_no_patterns(bucket: Bucket) -> None:
    for name in ("x[1]", "x*", "x?"):
        others = [
            open_place(Address(f"s3://{BUCKET}/{other}", bucket.options), writable=True)
            for other in ("x1", "xyz")
        ]
        place = open_place(Address(f"s3://{BUCKET}/{name}", bucket.options), writable=True)
        for each in (place, *others):
            each.put_all({key: default_buffer_prototype().buffer.from_bytes(b"1") for key in "abc"})
        place.delete("a")
        place.delete("absent")
        assert sorted(place.walk()) == ["b", "c"]
        place.delete_all()
        assert place.is_empty
        assert all(sorted(each.walk()) == ["a", "b", "c"] for each in others)


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
