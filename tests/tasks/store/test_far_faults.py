"""An object store that fails, damages and goes away; two jobs on one target there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from faults.table import fault
from helpers.job_data import cube

import gangsaw
from gangsaw.codecs.core.errors import BadParams, GangsawError, JobFailed
from gangsaw.tasks.engine.report.progress import Progress
from gangsaw.tasks.engine.run import local
from gangsaw.tasks.store.objects import remote
from gangsaw.tasks.store.objects.remote import Allowance
from gangsaw.tasks.store.state import ledger

pytest.importorskip("moto", reason="moto, an S3 server for tests, is not installed: .[test]")
pytest.importorskip("s3fs", reason="s3fs is not installed: .[s3]")

from helpers.s3 import JOB, RAW, Bucket, copy_of
from s3fs import S3FileSystem

KINDS = ("500", "503", "reset", "lost", "truncated", "flipped", "late")
CHUNK_BYTES = 2048
SHARE = 0.2  # of all requests
SPARED = 6  # chunks before an outage
LARGE = (4, 256, 256)  # 256 chunks
PARTS = "S3: moto behind a proxy that does the harm"
SAID = {
    "500": "status 500",
    "503": "status 503",
    "reset": "connection reset",
    "lost": "reply lost",
    "truncated": "reply cut off",
    "flipped": "one bit flipped",
    "late": "reply late",
}
AGAIN = "run again with --resume"
OUTAGES = [("compress", kind) for kind in ("500", "503", "reset", "lost")]
OUTAGES += [("decompress", kind) for kind in ("500", "503", "reset", "truncated", "flipped")]
QUICK = [("compress", "500"), ("decompress", "truncated")]


def not_wrong(bucket: Bucket, raw: str, *stores: str, **options: Any) -> None:
    """Hold stores to their source, when nothing fails any more."""
    bucket.faults()
    for store in stores:
        assert gangsaw.verify(store, against=raw, **RAW, **options).ok


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("kind", KINDS)
def test_faults_lose_nothing_and_spoil_nothing(
    bucket: Bucket, raw: str, address: str, kind: str
) -> None:
    options = {"storage_options": bucket.options}
    with fault(PARTS, f"20 % of requests: {SAID[kind]}"):
        bucket.faults(**{kind: SHARE}, seed=5)
        gangsaw.compress(raw, address, **JOB | {"chunks": (4, 32, 32)}, **options)
        assert gangsaw.verify(address, **options).ok
        counts = bucket.counts()
        requests = sum(
            counts[method] for method in ("GET", "PUT", "HEAD", "POST") if method in counts
        )
        assert counts[kind] > 1
        assert requests < 3 * counts["right"]
        if kind == "flipped":  # in metadata it is a source that changes, and the job fails
            bucket.faults()
        gangsaw.decompress(address, copy_of(address), **options)
        not_wrong(bucket, raw, address, copy_of(address), **options)


@pytest.mark.full
def test_one_request_in_five_fails(
    bucket: Bucket, tmp_path: Path, address: str, request: pytest.FixtureRequest
) -> None:
    """In every way at once; above, each way alone is tried on few requests."""
    cube(LARGE).tofile(tmp_path / "cube.raw")
    raw, options = str(tmp_path / "cube.raw"), {"storage_options": bucket.options}
    bucket.faults(**dict.fromkeys(KINDS, SHARE / len(KINDS)))
    gangsaw.compress(raw, address, **{**JOB, "shape": LARGE}, **options)
    assert gangsaw.verify(address, **options).ok
    gangsaw.decompress(address, copy_of(address), **options)
    told = {name: n for name, n in bucket.counts().items() if " /" not in name}
    told["chunks asked twice"] = sum(n > 1 for n in bucket.of_chunks("PUT").values())
    request.node.add_report_section("call", "counts", str(told))
    assert all(told[kind] for kind in KINDS), told
    assert sum(told[kind] for kind in KINDS) > 100
    bucket.faults()
    for store in (address, copy_of(address)):
        against = {"against": raw, "shape": LARGE, "dtype": "uint16"}
        assert gangsaw.verify(store, **against, **options).ok


@pytest.mark.parametrize(
    ("what", "kind"),
    [pytest.param(*one, marks=[pytest.mark.full] * (one not in QUICK)) for one in OUTAGES],
)
def test_an_outage_ends_the_job_and_resume_finishes_it(
    bucket: Bucket,
    raw: str,
    address: str,
    tmp_path: Path,
    what: str,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.setattr(remote, "PAUSES", (0.01, 0.01))
    monkeypatch.setattr(S3FileSystem, "retries", 1)  # it would wait two seconds for each request
    monkeypatch.setattr(local, "COMMITS", 2)  # else all may be there when the fifth is told
    monkeypatch.setattr(ledger, "ENTRY_SECONDS", 0.0)  # no request comes after the outage began
    monkeypatch.setattr(remote, "READS", Allowance(CHUNK_BYTES))  # the rest is not read ahead
    options: dict[str, Any] = {"storage_options": bucket.options}
    target = str(tmp_path / "copy.zarr") if what == "decompress" else address
    asks: dict[str, Callable[..., Any]] = {
        "compress": lambda **more: gangsaw.compress(raw, address, **JOB, **options, **more),
        "decompress": lambda **more: gangsaw.decompress(address, target, **options, **more),
    }
    if what == "decompress":
        asks["compress"]()
    method = {"compress": "PUT", "decompress": "GET"}[what]

    with fault(PARTS, f"outage while {what} runs: {SAID[kind]}") as run:
        bucket.faults(**{kind: 1.0}, methods=method, after=SPARED)
        with pytest.raises(JobFailed, match=AGAIN) as failed:
            asks[what]()
        run.said[""] = line = str(failed.value).replace(address, "S").replace(target, "T")
        assert "\n" not in line
        bucket.faults()
        with pytest.raises(GangsawError, match="not finished"):
            gangsaw.info(target, **options)
        bucket.faults()
        seen: list[Progress] = []
        asks[what](resume=True, on_progress=seen.append)
        asked = bucket.of_chunks(method)
        kept = seen[-1].resumed
        redone = len(asked) - (seen[-1].total - kept)
        request.node.add_report_section("call", "counts", f"{kept} kept, {redone} redone")
        request.node.add_report_section("call", "told", line)
        if what == "compress":  # plain samples are one chunk
            assert kept > 0
            assert redone == 0
        not_wrong(bucket, raw, target, **options)


def test_of_two_jobs_on_one_target_one_is_told(bucket: Bucket, raw: str, address: str) -> None:
    options: dict[str, Any] = {"storage_options": bucket.options}
    start, told = threading.Barrier(2), []
    bucket.faults(ms=50)

    def compress() -> None:
        start.wait()
        try:
            gangsaw.compress(raw, address, **JOB, **options)
        except BadParams as error:
            told.append(str(error))

    jobs = [threading.Thread(target=compress) for _ in range(2)]
    with fault(PARTS, "two jobs on one target at once") as run:
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()
        (line,) = told
        run.said[""] = line.replace(address, "S")
        assert line.startswith((f"{address}: process ", f"{address} exists"))
        assert "\n" not in line
        not_wrong(bucket, raw, address, **options)
