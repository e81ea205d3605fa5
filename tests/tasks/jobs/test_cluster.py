"""The engine on clusters that were started elsewhere, are lost, or are not there."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import dask
import dask.array as da
import pytest
from distributed import Client
from helpers.hang import HANG, no_hang, wait_until
from helpers.job_tasks import Slow, Square

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.kinds import start
from gangsaw.codecs.core.errors import JobFailed
from gangsaw.codecs.core.memory.limits import cores
from gangsaw.tasks.engine.distributed import watch
from gangsaw.tasks.engine.run.graph import BatchOnBlocks, run_on_blocks
from gangsaw.tasks.engine.run.run import Options, call_on_every_worker, run_batches

Job = Callable[[Client, Callable[..., None]], None]


@dataclass
class Outside:
    """A scheduler and a worker in processes of their own."""

    scheduler: subprocess.Popen[bytes]
    worker: subprocess.Popen[bytes]
    address: str
    folder: Path


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
        yield Outside(scheduler, worker, json.loads(file.read_text())["address"], folder)
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
    """A cluster that was started elsewhere, for a test that ends parts of it."""
    yield from outside(tmp_path)


@pytest.fixture(scope="module")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    """The same for tests that leave it as it was; its folder has the scheduler's file."""
    yield from outside(tmp_path_factory.mktemp("cluster"))


@pytest.mark.full
def test_a_lost_scheduler_is_told(cluster: Outside, tmp_path: Path) -> None:
    def kill(_: range, __: list[int]) -> None:
        client._timeout = 1.0  # seconds in which Dask's client looks for it again
        cluster.scheduler.kill()

    config = ClusterConfig(scheduler=cluster.address, connect_seconds=HANG)
    with start(config) as client, pytest.raises(JobFailed, match="lost the scheduler at tcp://"):
        run_batches(Square(), (range(i, i + 1) for i in range(5000)), kill, client=client)


def on_blocks(client: Client, on_done: Callable[..., None]) -> None:
    """Do a job over the blocks of a Dask array."""
    array = da.zeros(500, chunks=1, dtype="uint8")  # type: ignore[no-untyped-call]
    items = [BatchOnBlocks(range(i, i + 1), array, [(i,)]) for i in range(500)]
    run_on_blocks(Slow(0.02), items, lambda batch, _: batch, on_done, client=client)


def in_window(client: Client, on_done: Callable[..., None]) -> None:
    """Do a job over batches."""
    run_batches(Slow(0.02), (range(i, i + 1) for i in range(5000)), on_done, client=client)


@pytest.mark.full
@pytest.mark.parametrize("job", [on_blocks, in_window])
@pytest.mark.parametrize("part", ["scheduler", "worker"])
def test_a_part_that_stops_is_told(
    cluster: Outside, monkeypatch: pytest.MonkeyPatch, job: Job, part: str
) -> None:
    """It closes no connection: it only says nothing."""
    for name in ("HEARD_SECONDS", "SILENT_SECONDS", "LONG_SECONDS", "POLL_SECONDS"):
        monkeypatch.setattr(watch, name, 0.5)
    monkeypatch.setattr(watch, "STUCK_SECONDS", 1.0)
    stopped = getattr(cluster, part)

    def stop(*_: object) -> None:
        client._timeout = 1.0  # seconds, twice of which Dask's client takes to close
        stopped.send_signal(signal.SIGSTOP)

    hangs = {"scheduler": "has not answered for", "worker": "no heartbeat from tcp://"}
    with start(ClusterConfig(scheduler=cluster.address)) as client:
        client.wait_for_workers(1, timeout=HANG)
        try:
            with pytest.raises(JobFailed, match=hangs[part]):
                job(client, stop)
        finally:
            stopped.send_signal(signal.SIGCONT)


@pytest.mark.full
def test_the_only_worker_stops_before_its_first_result(
    cluster: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SILENT_SECONDS", "LONG_SECONDS", "POLL_SECONDS"):
        monkeypatch.setattr(watch, name, 0.5)
    monkeypatch.setattr(watch, "STUCK_SECONDS", 1.0)
    task = Square("stop once", str(cluster.folder / "attempts"))
    Path(task.folder).mkdir()
    with start(ClusterConfig(scheduler=cluster.address)) as client:
        client.wait_for_workers(1, timeout=HANG)
        with pytest.raises(
            JobFailed, match=r"no result for \d+ s: no heartbeat from tcp://\S+ for"
        ):
            run_batches(task, [range(7, 8)], lambda *_: None, client=client)


def stop_scheduler(process: int) -> None:
    os.kill(process, signal.SIGSTOP)


@pytest.mark.full
def test_a_scheduler_that_stops_while_workers_compile_is_told(
    cluster: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers' answers go through it."""
    monkeypatch.setattr(watch, "HEARD_SECONDS", 0.5)
    monkeypatch.setattr(watch, "STUCK_SECONDS", 1.0)
    with start(ClusterConfig(scheduler=cluster.address, wait_workers=1)) as client:
        client._timeout = 1.0  # seconds, twice of which Dask's client takes to close
        call_on_every_worker(partial(abs, 1), client)  # type: ignore[arg-type]
        try:
            with pytest.raises(JobFailed, match="has not answered for"):
                call_on_every_worker(partial(stop_scheduler, cluster.scheduler.pid), client)
        finally:
            cluster.scheduler.send_signal(signal.SIGCONT)


@pytest.mark.full
def test_losing_all_workers_is_told(cluster: Outside) -> None:
    def kill(_: range, __: list[int]) -> None:
        cluster.worker.kill()

    config, options = ClusterConfig(scheduler=cluster.address), Options(worker_seconds=0.5)
    batches = (range(i, i + 1) for i in range(5000))
    message = r"no worker for 0\.5 s: start one"
    with start(config) as client:
        client.wait_for_workers(1, timeout=HANG)
        with pytest.raises(JobFailed, match=message):
            run_batches(Square(), batches, kill, client=client, options=options)
    assert cluster.worker.wait(HANG) == -signal.SIGKILL  # it was there, and the job ran


def test_a_cluster_without_gangsaw_is_told(tmp_path: Path) -> None:
    message = r"none of the 1 workers can do this job: tcp://\S+ has no gangsaw: install gangsaw \d"
    for cluster in outside(tmp_path, path=without_gangsaw(tmp_path)):
        config = ClusterConfig(scheduler=cluster.address)
        with start(config) as client:
            client.wait_for_workers(1, timeout=HANG)
            with pytest.raises(JobFailed, match=message):
                run_batches(Square(), [range(4)], lambda *_: None, client=client)


@pytest.mark.full
def test_a_worker_without_gangsaw_that_joins_is_left_out(
    shared_cluster: Outside, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It gets tasks before anybody asks it, fails each at once, and so gets the next ones."""
    strangers: list[subprocess.Popen[bytes]] = []
    found: dict[range, list[int]] = {}

    def on_done(batch: range, squares: list[int]) -> None:
        found[batch] = squares
        if not strangers:
            strangers.append(work_for(shared_cluster.folder, without_gangsaw(tmp_path)))
            client.wait_for_workers(2, timeout=HANG)

    batches = [range(i, i + 1) for i in range(400)]
    with start(ClusterConfig(scheduler=shared_cluster.address)) as client:
        client.wait_for_workers(1, timeout=HANG)
        try:
            run_batches(Slow(seconds=0.02), batches, on_done, client=client)
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
def test_workers_that_do_not_see_the_data_are_told(shared_cluster: Outside, tmp_path: Path) -> None:
    file = tmp_path / "source"
    file.write_bytes(bytes(100))
    with start(ClusterConfig(scheduler=shared_cluster.address)) as client, file.open() as own:
        client.wait_for_workers(1, timeout=HANG)
        apart = f"/proc/self/fd/{fcntl.fcntl(own, fcntl.F_DUPFD, 700)}"  # of this process alone
        message = f"does not see {apart} as this process does: share its folder with it"
        sees = Options().with_paths(file)
        run_batches(Square(), [range(4)], lambda *_: None, client=client, options=sees)
        sees = sees.with_paths(apart)
        with pytest.raises(JobFailed, match=message):
            run_batches(Square(), [range(4)], lambda *_: None, client=client, options=sees)
        os.close(int(Path(apart).name))


def test_a_scheduler_that_is_not_there_is_told() -> None:
    config = ClusterConfig(scheduler="tcp://127.0.0.1:9", connect_seconds=1)
    message = r"no Dask scheduler answers at tcp://127\.0\.0\.1:9 within 1 s: start one there"
    dasks_own = {"distributed.comm.timeouts.connect": f"{2 * HANG} s"}
    with (
        dask.config.set(dasks_own),
        no_hang(),
        pytest.raises(ConnectionError, match=message),
        start(config),
    ):
        pass


def test_a_malformed_address_is_told() -> None:
    config = ClusterConfig(scheduler="nonsense://x", connect_seconds=1)
    message = "'nonsense://x' is no address of a Dask scheduler"
    with pytest.raises(ValueError, match=message), start(config):
        pass


def test_the_size_follows_the_machine() -> None:
    n = cores()
    assert ClusterConfig().size == (n, 1)
    assert ClusterConfig(workers=1).size == (1, n)
    assert ClusterConfig(workers=3, threads=5).size == (3, 5)
    with pytest.raises(ValueError, match="workers must be 0 or more"):
        ClusterConfig(workers=-1)
