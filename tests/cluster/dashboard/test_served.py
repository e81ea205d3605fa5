"""A real cluster shows its jobs: JSON, counters, `gangsaw status`; and does without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import dask
import pytest
from distributed import Client, Scheduler
from helpers.clusters import in_process
from helpers.command_line import CommandLine
from helpers.hang import HANG, wait_until
from helpers.job_data import cube

from gangsaw import GangsawError
from gangsaw.cluster.dashboard import queries
from gangsaw.cluster.dashboard.install import page_of
from gangsaw.cluster.dashboard.metrics import METRICS
from gangsaw.cluster.dashboard.plugin import NAME
from gangsaw.tasks.api import functions
from gangsaw.tasks.jobs.chunks.transcode import Transcode

SHAPE, CHUNKS = (6, 40, 50), (6, 10, 25)
N_CHUNKS = 8
OPTIONS: dict[str, Any] = {"shape": SHAPE, "dtype": "uint16", "chunks": CHUNKS}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with in_process(protocol="tcp://") as client:
        yield client


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    cube(SHAPE).tofile(tmp_path / "a.raw")
    return tmp_path / "a.raw"


def got(url: str) -> str:
    with urlopen(url, timeout=HANG) as answer:
        return str(answer.read().decode())


def told(client: Client) -> dict[str, Any]:
    """What the scheduler tells of all, the newest job first."""
    return dict(json.loads(got(f"{page_of(client)}.json")))


def counted(client: Client) -> dict[str, float]:
    """The metrics of ours."""
    lines = got(page_of(client).replace("/gangsaw", "/metrics")).splitlines()
    ours = (line.rpartition(" ") for line in lines if line.startswith("gangsaw_"))
    return {name: float(value) for name, _, value in ours}


def test_jobs_are_told_with_true_totals(client: Client, raw: Path) -> None:
    store = raw.with_name("a.zarr")
    done = functions.compress(raw, store, client=client, **OPTIONS)
    (job,) = [one for one in told(client)["jobs"] if one["store"] == str(store)]
    assert (job["kind"], job["outcome"], job["done"], job["total"]) == ("compress", "done", 8, 8)
    assert (job["decoded"], job["encoded"]) == (done.raw_bytes, done.stored_bytes)
    for by in ("codec", "backend", "worker"):
        assert sum(part["chunks"] for part in job[f"by_{by}"]) == N_CHUNKS
        assert sum(part["encoded"] for part in job[f"by_{by}"]) == done.stored_bytes
        assert sum(part["seconds"] for part in job[f"by_{by}"]) > 0
    assert [part["codec"] for part in job["by_codec"]] == ["gangsaw.ccsds123"]
    assert {part["worker"] for part in job["by_worker"]} <= {"0", "1"}


def test_the_map_of_a_job_is_full_in_the_end(client: Client, raw: Path) -> None:
    store = raw.with_name("m.zarr")
    functions.compress(raw, store, client=client, **OPTIONS)
    functions.compress(raw, store, client=client, resume=True, **OPTIONS)
    assert functions.verify(store, client=client).ok
    plugin = client.cluster.scheduler.plugins[NAME]
    states = [state for state in plugin.jobs.jobs.values() if state.store == str(store)]
    assert [state.kind for state in states] == ["compress", "compress", "verify"]
    for state in states:
        assert state.cells == state.room == [1] * N_CHUNKS


def test_what_was_done_before_is_told_and_not_counted_again(client: Client, raw: Path) -> None:
    store = raw.with_name("b.zarr")
    functions.compress(raw, store, client=client, **OPTIONS)
    functions.compress(raw, store, client=client, resume=True, **OPTIONS)
    runs = [one for one in told(client)["jobs"] if one["store"] == str(store)]
    assert sorted(one["resumed"] for one in runs) == [0, N_CHUNKS]
    assert {one["done"] for one in runs} == {N_CHUNKS}


def test_damaged_chunks_are_told(client: Client, raw: Path) -> None:
    store = raw.with_name("c.zarr")
    functions.compress(raw, store, client=client, **OPTIONS)
    chunk = store / "data" / "c" / "0" / "1" / "1"
    chunk.write_bytes(chunk.read_bytes()[:-1])
    assert not functions.verify(store, client=client).ok
    job = told(client)["jobs"][0]
    assert (job["kind"], job["failed"], job["outcome"]) == ("verify", 1, "done")
    assert "c/0/1/1" in job["failures"][0]


def test_a_job_that_fails_is_told(
    client: Client, raw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(*_: object) -> None:
        raise ValueError("no such sample")

    monkeypatch.setattr(Transcode, "_read", unreadable)  # workers are in this process
    with pytest.raises(GangsawError):
        functions.compress(raw, raw.with_name("d.zarr"), client=client, **OPTIONS)
    job = told(client)["jobs"][0]
    assert (job["kind"], job["outcome"], job["done"]) == ("compress", "failed", 0)
    assert job["failed"] >= 1
    assert any("no such sample" in line for line in job["failures"])


def test_counters_grow(client: Client, raw: Path) -> None:
    pytest.importorskip("prometheus_client", reason="prometheus_client is not installed")
    name = 'gangsaw_chunks_total{backend="cpu",codec="gangsaw.ccsds123",job="compress"}'
    before = counted(client) if page_of(client) else {}
    done = functions.compress(raw, raw.with_name("e.zarr"), client=client, **OPTIONS)
    after = counted(client)
    assert after[name] - before.get(name, 0) == N_CHUNKS
    decoded = name.replace("chunks_total", "decoded_bytes_total")
    assert after[decoded] - before.get(decoded, 0) == done.raw_bytes
    assert after["gangsaw_jobs_running"] == after["gangsaw_chunks_left"] == 0
    assert after["gangsaw_last_progress_timestamp_seconds"] > 1e9
    assert {one.partition("{")[0] for one in after} == {metric.name for metric in METRICS}


def test_the_command_tells_the_same(client: Client, raw: Path, gangsaw: CommandLine) -> None:
    functions.compress(raw, raw.with_name("f.zarr"), client=client, **OPTIONS)
    page = page_of(client)
    shown = gangsaw("status", page)
    assert (shown.code, shown.err) == (0, "")
    assert "100 % of 8" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80
    found = json.loads(gangsaw("status", page, "--json").out)
    assert found["jobs"] == told(client)["jobs"]


REFUSED = {
    ("http://127.0.0.1:1",): "no dashboard of jobs answers at http://127.0.0.1:1/gangsaw.json",
    (): "name a scheduler or its dashboard",
    ("--scheduler-file", "none.json"): "no scheduler wrote this file",
}


@pytest.mark.parametrize("arguments", REFUSED, ids=["nobody", "nothing", "no-file"])
def test_status_says_in_one_line_what_is_wrong(
    arguments: tuple[str, ...], gangsaw: CommandLine
) -> None:
    with dask.config.set({"gangsaw.connect-seconds": 1}):
        shown = gangsaw("status", *arguments)
    assert shown.code in (1, 2)
    assert REFUSED[arguments] in shown.err
    assert shown.err.count("\n") == 1


def test_a_client_that_dies_is_seen(client: Client) -> None:
    address = client.scheduler.address
    with Client(address, set_as_default=False) as other:
        event = {"job": "dying", "kind": "compress", "client": other.id, "total": 2}
        other.log_event("gangsaw", event)
        assert [j["outcome"] for j in told(client)["jobs"] if j["job"] == "dying"] == ["running"]

    def outcomes() -> list[str]:
        return [j["outcome"] for j in told(client)["jobs"] if j["job"] == "dying"]

    wait_until(lambda: outcomes() == ["lost"])  # the scheduler hears when the connection closes


def test_a_scheduler_that_takes_no_plugins_works(
    raw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: object, **__: object) -> None:
        raise ModuleNotFoundError("no gangsaw there")

    monkeypatch.setattr(Scheduler, "register_scheduler_plugin", refused)
    with in_process(1) as client:
        done = functions.compress(raw, raw.with_name("g.zarr"), client=client, **OPTIONS)
        assert done.chunks == N_CHUNKS
        assert "gangsaw" not in client.cluster.scheduler.plugins


def test_a_scheduler_without_gangsaw_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "install", lambda _: None)
    with in_process(protocol="tcp://") as plain:
        address = plain.scheduler.address
        with pytest.raises(GangsawError, match=f"{address} reports no jobs: install") as found:
            functions.status(address)
        assert "TypeError" not in str(found.value)
