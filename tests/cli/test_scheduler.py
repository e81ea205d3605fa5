"""A scheduler and workers that run elsewhere: what a user names is found from there too."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client
from helpers.command_line import CommandLine
from helpers.envi_files import METADATA, cube, write_envi
from helpers.hang import HANG, wait_until
from helpers.job_data import objects


def spawn(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Run a module of Dask in another directory."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


@pytest.fixture
def scheduler(elsewhere: Path) -> Iterator[Path]:
    """A scheduler without workers: the file that names its address."""
    file = elsewhere / "scheduler.json"
    options = ("--scheduler-file", str(file), "--host", "127.0.0.1", "--port", "0")
    process = spawn(elsewhere, "distributed.cli.dask_scheduler", *options, "--no-dashboard")
    wait_until(lambda: file.exists() and file.read_text(), process)
    yield file
    stop(process)


def address(scheduler: Path) -> str:
    found: str = json.loads(scheduler.read_text())["address"]
    return found


def work(scheduler: Path) -> subprocess.Popen[bytes]:
    """Start a worker of one thread."""
    options = ("--scheduler-file", str(scheduler), "--host", "127.0.0.1", "--no-dashboard")
    local = ("--no-nanny", "--nthreads", "1")
    return spawn(scheduler.parent, "distributed.cli.dask_worker", *options, *local)


@pytest.fixture
def workers(scheduler: Path) -> Iterator[None]:
    processes = [work(scheduler) for _ in range(2)]
    with Client(address(scheduler), set_as_default=False) as client:
        client.wait_for_workers(len(processes), timeout=HANG)
    yield
    for process in processes:
        stop(process)


@pytest.mark.full
@pytest.mark.usefixtures("workers")
def test_relative_paths_mean_what_they_mean_to_the_user(
    gangsaw: CommandLine,
    tmp_path: Path,
    scheduler: Path,
    elsewhere: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    samples = cube("uint16", (5, 40, 33))
    write_envi(tmp_path / "scene.hdr", samples, byte_order=1, metadata=METADATA)
    monkeypatch.chdir(tmp_path)
    there = ("--scheduler", address(scheduler))
    job = ("--chunks", "y=20,x=17", "--json")
    figures = gangsaw.ok("compress", "scene.hdr", "there.zarr", *job, *there).figures
    assert figures["chunks"] == 4
    gangsaw.ok("compress", "scene.hdr", "here.zarr", *job, "--workers", 0)
    assert objects(tmp_path / "there.zarr") == objects(tmp_path / "here.zarr")
    gangsaw.ok("verify", "there.zarr", "--against", "scene.hdr", *there)
    for copy in ("copy.hdr", "copy.nc", "copy.zarr", "copy.raw"):
        loss = ("--accept-loss",) if copy == "copy.raw" else ()
        gangsaw.ok("decompress", "there.zarr", copy, *loss, *there)
        if copy != "copy.raw":
            gangsaw.ok("verify", "there.zarr", "--against", copy, *there)
    assert (tmp_path / "copy.img").read_bytes() == (tmp_path / "scene.img").read_bytes()
    raw = ("--shape", "5,40,33", "--dtype", "uint16", "--byte-order", "big")
    gangsaw.ok("compress", "scene.img", "raw.zarr", *raw, "--codec", "none", *there)
    gangsaw.ok("compress", "copy.nc", "nc.zarr", "--codec", "none", *there)
    gangsaw.ok("compress", "copy.zarr", "zarr.zarr", "--codec", "none", *there)
    assert {path.name for path in elsewhere.iterdir() if "zarr" in path.suffix} == set()


def begun(folder: Path, scheduler: Path) -> subprocess.Popen[str]:
    """Begin to compress a scene on the scheduler's workers."""
    scene = write_envi(folder / "scene.hdr", cube("uint16", (5, 40, 33)))
    code = "import sys; from gangsaw.cli import main; sys.exit(main())"
    job = ("compress", str(scene), str(folder / "a.zarr"), "--codec", "none")
    command = [sys.executable, "-c", code, *job, "--scheduler", address(scheduler)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


@pytest.mark.full
def test_a_job_says_that_it_waits_for_a_worker(tmp_path: Path, scheduler: Path) -> None:
    with begun(tmp_path, scheduler) as process:
        assert process.stderr is not None
        said = process.stderr.readline()  # comes while the job still waits
        worker = work(scheduler)
        rest = process.stderr.read()
    stop(worker)
    assert said == f"no worker at {address(scheduler)}: waiting up to 60 s for one\n"
    assert (process.returncode, rest) == (0, "")


@pytest.mark.full
def test_a_lost_scheduler_is_told_in_one_line(tmp_path: Path, scheduler: Path) -> None:
    with begun(tmp_path, scheduler) as process:
        assert process.stderr is not None
        process.stderr.readline()  # that it waits
        with Client(address(scheduler), set_as_default=False) as client:
            pid = client.run_on_scheduler(os.getpid)
        os.kill(pid, signal.SIGKILL)
        rest = process.stderr.read()
    assert process.returncode == 1
    assert rest == (
        f"gangsaw: lost the scheduler at {address(scheduler)}: start one; finished batches are "
        "safe: run again with --resume\n"
    )
