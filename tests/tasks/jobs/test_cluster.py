"""The engine on clusters that were started elsewhere, are lost, or are not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers.job_tasks import Square

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.kinds import start
from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.engine.window import Options, run


@dataclass
class Outside:
    """A scheduler and a worker in processes of their own."""

    scheduler: subprocess.Popen[bytes]
    worker: subprocess.Popen[bytes]
    address: str


def spawn(*arguments: str, path: str = "") -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [path, *sys.path]))}
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def outside(folder: Path, path: str = "") -> Iterator[Outside]:
    file = folder / "scheduler.json"
    common = ("--scheduler-file", str(file), "--host", "127.0.0.1", "--no-dashboard")
    local = ("--local-directory", str(folder), "--no-nanny", "--nthreads", "1")
    scheduler = spawn("distributed.cli.dask_scheduler", *common, "--port", "0", path=path)
    deadline = time.monotonic() + 30
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    worker = spawn("distributed.cli.dask_worker", *common, *local, path=path)
    try:
        yield Outside(scheduler, worker, json.loads(file.read_text())["address"])
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Outside]:
    """A cluster that was started elsewhere."""
    yield from outside(tmp_path)


def test_a_lost_scheduler_is_told(cluster: Outside, tmp_path: Path) -> None:
    def kill(_: range, __: list[int]) -> None:
        cluster.scheduler.kill()

    config = ClusterConfig(scheduler=cluster.address, connect_seconds=3)
    with start(config) as client, pytest.raises(JobFailed, match="lost the scheduler at tcp://"):
        run(Square(), (range(i, i + 1) for i in range(5000)), kill, client=client)


def test_losing_all_workers_is_told(cluster: Outside) -> None:
    def kill(_: range, __: list[int]) -> None:
        cluster.worker.kill()

    config, options = ClusterConfig(scheduler=cluster.address), Options(worker_seconds=0.5)
    batches = (range(i, i + 1) for i in range(5000))
    message = r"no worker for 0\.5 s: start one"
    with start(config) as client, pytest.raises(JobFailed, match=message):
        run(Square(), batches, kill, client=client, options=options)


def test_a_cluster_without_gangsaw_is_told(tmp_path: Path) -> None:
    hidden = tmp_path / "path" / "sitecustomize.py"
    hidden.parent.mkdir()
    hidden.write_text("import sys; sys.modules['gangsaw'] = None")  # as if it were not installed
    message = "cannot load gangsaw, install the same version"
    for cluster in outside(tmp_path, path=str(hidden.parent)):
        config = ClusterConfig(scheduler=cluster.address)
        with start(config) as client, pytest.raises(JobFailed, match=message):
            run(Square(), [range(4)], lambda *_: None, client=client)


def test_a_scheduler_that_is_not_there_is_told() -> None:
    config = ClusterConfig(scheduler="tcp://127.0.0.1:9", connect_seconds=1)
    began = time.monotonic()
    message = r"no Dask scheduler answers at tcp://127\.0\.0\.1:9 within 1 s: start one there"
    with pytest.raises(ConnectionError, match=message), start(config):
        pass
    assert time.monotonic() - began < 10


def test_a_malformed_address_is_told() -> None:
    config = ClusterConfig(scheduler="nonsense://x", connect_seconds=1)
    message = "'nonsense://x' is no address of a Dask scheduler"
    with pytest.raises(ValueError, match=message), start(config):
        pass


def test_the_size_follows_the_machine() -> None:
    cores = len(os.sched_getaffinity(0))
    assert ClusterConfig().size == (cores, 1)
    assert ClusterConfig(workers=1).size == (1, cores)
    assert ClusterConfig(workers=3, threads=5).size == (3, 5)
    with pytest.raises(ValueError, match="workers must be 0 or more"):
        ClusterConfig(workers=-1)
