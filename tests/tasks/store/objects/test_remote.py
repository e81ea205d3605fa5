"""Stores behind a network: an S3 server on this machine, whose requests are counted."""

from __future__ import annotations

import dataclasses
import math
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.hang import HANG
from helpers.job_data import cube
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

import gangsaw
from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers.local import start
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report.progress import Progress
from gangsaw.tasks.jobs.chunks.transcode import read_ahead_bytes
from gangsaw.tasks.jobs.figures import report
from gangsaw.tasks.store import exclusive
from gangsaw.tasks.store.objects import remote
from gangsaw.tasks.store.objects.address import Address, add_options, options_of
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.objects.remote import Allowance, RemoteStore
from gangsaw.tasks.store.state import ledger

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


@pytest.mark.full
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


def test_no_request_is_superfluous(
    bucket: Bucket, raw: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk costs its own object, without an entry of the journal; reading it one request."""
    monkeypatch.setattr(ledger, "ENTRY_SECONDS", math.inf)
    options = {"storage_options": bucket.options}
    bucket.faults(ms=50)
    exclusive.conditional.clear()
    gangsaw.compress(raw, address, **JOB, **options)
    counts = bucket.counts()
    assert bucket.of_chunks("GET") == bucket.of_chunks("HEAD") == {}
    assert len(bucket.of_chunks("PUT")) == 16
    # metadata and job, lease, manifest, history; once in a process, that the condition is known
    assert counts["PUT"] == 16 + 3 + 1 + 1 + 1 + 1
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


@pytest.mark.parametrize("on_workers", [False, pytest.param(True, marks=pytest.mark.full)])
def test_a_job_that_ends_early_has_an_entry_of_many_chunks(
    bucket: Bucket,
    raw: str,
    address: str,
    on_workers: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was done by then is not done again; no worker asks the journal, or writes to it."""
    monkeypatch.setattr(ledger, "ENTRY_SECONDS", math.inf)
    options: dict[str, Any] = {"storage_options": bucket.options}

    def stop(progress: Progress) -> None:
        if progress.done >= 5:
            raise KeyboardInterrupt

    bucket.faults()
    workers = start(ClusterConfig(workers=1, threads=2, dashboard=False))
    with workers if on_workers else nullcontext() as client, pytest.raises(KeyboardInterrupt):
        gangsaw.compress(raw, address, **JOB, on_progress=stop, client=client, **options)
    of_journal = {key for key in bucket.counts() if "/journal/" in key}
    assert {key for key in of_journal if key.startswith("GET")} == set()
    bucket.faults()
    seen: list[Progress] = []
    gangsaw.compress(raw, address, **JOB, resume=True, on_progress=seen.append, **options)
    assert seen[0].resumed >= 5
    assert 1 <= len(of_journal) < 5  # more than one of results that came out of order
    assert len(bucket.of_chunks("PUT")) == 16 - seen[0].resumed
    assert gangsaw.verify(address, against=raw, **RAW, storage_options=bucket.options).ok


@pytest.mark.parametrize("is_listed", [True, False])
def test_figures_need_no_chunk(
    bucket: Bucket,
    raw: str,
    address: str,
    tmp_path: Path,
    is_listed: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A listing or the manifest has all sizes; the bits of blocks are read when asked for."""
    monkeypatch.setattr(report, "MOST_LISTED", 16 if is_listed else 15)
    options, job = {"storage_options": bucket.options}, {**JOB, "codec": "ccsds123"}
    gangsaw.compress(raw, address, **job, **options)
    gangsaw.compress(raw, tmp_path / "near.zarr", **job)
    (near,) = gangsaw.info(tmp_path / "near.zarr").arrays
    bucket.faults()
    (found,) = gangsaw.info(address, **options).arrays
    assert bucket.of_chunks("GET") == bucket.of_chunks("HEAD") == {}
    assert bucket.counts()["GET"] < 16
    assert "lane_bits" not in found.to_dict()
    assert found == dataclasses.replace(near, missing=0 if is_listed else None)
    assert near.lane_bits is not None
    assert np.array_equal(found.lane_bits, near.lane_bits)
    assert found.block_bits is not None
    assert set(bucket.of_chunks("GET").values()) == {1}
    assert found.to_dict()["lane_bits"] == near.to_dict()["lane_bits"]


def test_a_chunk_that_is_lost_is_counted(bucket: Bucket, raw: str, address: str) -> None:
    options = {"storage_options": bucket.options}
    gangsaw.compress(raw, address, **JOB, **options)
    open_prefix(Address(address, bucket.options), writable=True).delete("data/c/0/1/2")
    (found,) = gangsaw.info(address, **options).arrays
    assert (found.n_chunks, found.missing) == (16, 1)


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
    monkeypatch.setattr(remote, "WRITES", writes)
    monkeypatch.setattr(remote, "READS", reads)
    bucket.faults(ms=20)
    gangsaw.compress(raw, address, **JOB, storage_options=bucket.options)
    assert gangsaw.verify(address, storage_options=bucket.options).ok
    assert 0 < most[id(writes)] <= limit
    assert 0 < most[id(reads)] <= limit
    assert writes.used == reads.used == 0


def test_jobs_promise_what_is_in_flight() -> None:
    far_away, near = open_prefix("s3://bucket/a.zarr"), open_prefix("memory://a/a.zarr")
    assert (read_ahead_bytes(None, near, 5), read_ahead_bytes(None, far_away, 5)) == (
        0,
        remote.WRITE_BYTES,
    )
    assert read_ahead_bytes(None, far_away, remote.WRITE_BYTES + 1) == remote.WRITE_BYTES + 1


def test_one_object_is_always_allowed() -> None:
    allowance = Allowance(10)
    assert allowance.enter(50, wait=True)
    assert not allowance.enter(1, wait=False)
    waiting = threading.Thread(target=allowance.enter, args=(8,), kwargs={"wait": True})
    waiting.start()
    allowance.leave(50)
    waiting.join(HANG)
    assert not waiting.is_alive()
    assert allowance.used == 8


def test_what_is_begun_and_not_read_is_given_back(bucket: Bucket, address: str) -> None:
    place = open_prefix(Address(address, bucket.options), writable=True)
    place.put("a", b"123")
    used = remote.READS.used
    assert place.begin("a", 3)
    assert place.begin("a", 3)
    place.ready("a")
    place.forget("a")
    assert remote.READS.used == used
    assert place.begin("a", 3)
    found = place.get("a")
    assert found is not None
    assert found.to_bytes() == b"123"
    assert remote.READS.used == used


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

    monkeypatch.setattr(remote.FsspecStore, "from_url", refuse)
    with pytest.raises(BadParams, match=r's3fs is missing: pip install "gangsaw\[s3\]"'):
        open_prefix("s3://somewhere/a.zarr")


def test_an_unreachable_end_point_is_named(
    bucket: Bucket, raw: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "PAUSES", (0.01,))
    nobody = {**bucket.options, "client_kwargs": {"endpoint_url": "http://127.0.0.1:9"}}
    address = f"s3://{BUCKET}/unreachable.zarr"
    with pytest.raises(OSError, match=f"{address}: no answer in 2 tries: check address and net"):
        gangsaw.compress(raw, address, **JOB, storage_options=nobody)


def test_create_has_one_winner(bucket: Bucket, address: str) -> None:
    place = open_prefix(Address(address, bucket.options), writable=True)
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


@pytest.mark.parametrize("answer", ["refused", "ignored"])
def test_a_server_without_conditional_put_is_named_once(
    bucket: Bucket,
    address: str,
    answer: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(exclusive, "conditional", set())
    monkeypatch.setattr(exclusive, "unconditional", set())
    monkeypatch.setattr(exclusive, "SETTLE_SECONDS", 1.0)
    bucket.faults(condition=answer)
    place = open_prefix(Address(address, bucket.options), writable=True)
    place.put("before", b"of another one")
    assert not place.create("before", b"mine")
    won: list[bool] = []

    def create(number: int) -> None:
        won.append(place.create("lease", b"%d" % number))

    threads = [threading.Thread(target=create, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False] * 3 + [True]
    before = place.get("before")
    assert before is not None
    assert before.to_bytes() == b"of another one"
    assert place.create("second", b"mine")
    said = [record.getMessage() for record in caplog.records if "conditional" in record.message]
    assert len(said) == 1
    assert said[0].startswith(f"{address}: this store has no conditional PUT")


def test_a_store_travels_without_what_is_in_flight(bucket: Bucket, address: str) -> None:
    place = open_prefix(Address(address, bucket.options), writable=True)
    place.put("a", b"123")
    place.begin("a", 3)
    other = pickle.loads(pickle.dumps(place))
    assert str(other) == address
    assert isinstance(other.store, RemoteStore)
    found = sync(other.store.get("a", default_buffer_prototype()))
    assert found is not None
    assert found.to_bytes() == b"123"
    place.forget("a")


def test_names_are_no_patterns(bucket: Bucket) -> None:
    for name in ("x[1]", "x*", "x?"):
        others = [
            open_prefix(Address(f"s3://{BUCKET}/{other}", bucket.options), writable=True)
            for other in ("x1", "xyz")
        ]
        place = open_prefix(Address(f"s3://{BUCKET}/{name}", bucket.options), writable=True)
        for each in (place, *others):
            each.put_all({key: default_buffer_prototype().buffer.from_bytes(b"1") for key in "abc"})
        place.delete("a")
        place.delete("absent")
        assert sorted(place.walk()) == ["b", "c"]
        place.delete_all()
        assert place.is_empty
        assert all(sorted(each.walk()) == ["a", "b", "c"] for each in others)


def test_an_address_keeps_its_options() -> None:
    one = add_options("s3://a/b", {"key": "x"})
    assert options_of(pickle.loads(pickle.dumps(str(one)))) == {"key": "x"}
    assert (one == "s3://a/b", one != "s3://a/b", one == Address("s3://a/b", {"key": "x"})) == (
        False,
        True,
        True,
    )
    assert len({one, Address("s3://a/b", {"key": "y"}), "s3://a/b"}) == 3
    assert f"{one}/c" == "s3://a/b/c"
    assert add_options(["a", "s3://c"], {"key": "x"}) == ["a", Address("s3://c", {"key": "x"})]
    assert add_options("s3://a", None) == "s3://a"
