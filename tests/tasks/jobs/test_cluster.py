"""The engine on clusters that were started elsewhere, are lost, or are not there."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers.faulty_jobs import SECONDS, wait_until
from helpers.job_tasks import Slow, Square

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
    common = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    scheduler = spawn(
        "distributed.cli.dask_scheduler", "--scheduler-file", str(file), *common, path=path
    )
    wait_until(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
    worker = work_for(folder, path)
    try:
        yield Outside(scheduler, worker, json.loads(file.read_text())["address"])
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


def work_for(folder: Path, path: str = "") -> subprocess.Popen[bytes]:
    """Start a worker of the scheduler whose file lies in the folder."""
    file = str(folder / "scheduler.json")
    common = ("--scheduler-file", file, "--host", "127.0.0.1", "--no-dashboard")
    local = ("--local-directory", str(folder), "--no-nanny", "--nthreads", "1")
    return spawn("distributed.cli.dask_worker", *common, *local, path=path)


def without_gangsaw(folder: Path) -> str:
    """Return a path that hides gangsaw, as if it were not installed."""
    hidden = folder / "path" / "sitecustomize.py"
    hidden.parent.mkdir()
    hidden.write_text("import sys; sys.modules['gangsaw'] = None")
    return str(hidden.parent)


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
    message = r"none of the 1 workers can do this job: tcp://\S+ has no gangsaw: install gangsaw \d"
    for cluster in outside(tmp_path, path=without_gangsaw(tmp_path)):
        config = ClusterConfig(scheduler=cluster.address)
        with start(config) as client:
            client.wait_for_workers(1, timeout=SECONDS)
            with pytest.raises(JobFailed, match=message):
                run(Square(), [range(4)], lambda *_: None, client=client)


def test_a_worker_without_gangsaw_that_joins_is_left_out(
    cluster: Outside, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It gets tasks before anybody asks it, fails each at once, and so gets the next ones."""
    strangers: list[subprocess.Popen[bytes]] = []
    found: dict[range, list[int]] = {}

    def on_done(batch: range, squares: list[int]) -> None:
        found[batch] = squares
        if not strangers:
            strangers.append(work_for(tmp_path, without_gangsaw(tmp_path)))
            client.wait_for_workers(2, timeout=SECONDS)

    batches = [range(i, i + 1) for i in range(400)]
    with start(ClusterConfig(scheduler=cluster.address)) as client:
        client.wait_for_workers(1, timeout=30)
        try:
            run(Slow(seconds=0.02), batches, on_done, client=client)
        finally:
            for stranger in strangers:
                stranger.kill()
                stranger.wait()
    assert found == {batch: [batch.start] for batch in batches}
    lines = (r.getMessage() for r in caplog.records if r.name.startswith("gangsaw"))
    (said,) = (line for line in lines if "left out" in line)  # a busy machine is told, too
    message = r"worker tcp://\S+ is left out: it has no gangsaw: install gangsaw \S+ there"
    assert re.fullmatch(message, said)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="a system without /proc")
def test_workers_that_do_not_see_the_data_are_told(cluster: Outside, tmp_path: Path) -> None:
    file = tmp_path / "source"
    file.write_bytes(bytes(100))
    with start(ClusterConfig(scheduler=cluster.address)) as client, file.open() as own:
        client.wait_for_workers(1, timeout=SECONDS)
        apart = f"/proc/self/fd/{fcntl.fcntl(own, fcntl.F_DUPFD, 700)}"  # of this process alone
        message = f"does not see {apart} as this process does: share its folder with it"
        sees = Options().seeing(file)
        run(Square(), [range(4)], lambda *_: None, client=client, options=sees)
        sees = sees.seeing(apart)
        with pytest.raises(JobFailed, match=message):
            run(Square(), [range(4)], lambda *_: None, client=client, options=sees)
        os.close(int(Path(apart).name))


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
