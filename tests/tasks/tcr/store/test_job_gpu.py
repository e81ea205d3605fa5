"""Jobs that count on workers with a GPU write the store that those without write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from emulator.host_module import schedule
from helpers.command_line import CommandLine
from helpers.gpu_workers import cluster
from helpers.job_data import objects
from helpers.tcr_runs import Repertoires, records, three_files, written

from gangsaw.tasks.engine.run.run import Options
from gangsaw.tasks.tcr.counting.kernels import gpu

GPU = Options(device="gpu")


@pytest.fixture
def quick(cupy: ModuleType) -> Iterator[ModuleType]:
    """CuPy without the checks of kernels, which other tests run under them."""
    with schedule(checks=False):
        yield cupy


@pytest.fixture
def repertoires(tmp_path: Path) -> Repertoires:
    return three_files(tmp_path)


@pytest.fixture
def right(repertoires: Repertoires, tmp_path: Path) -> dict[str, bytes]:
    """The objects of the store that the CPU writes."""
    repertoires.count(tmp_path / "cpu.zarr")
    return objects(tmp_path / "cpu.zarr")


@pytest.mark.usefixtures("quick")
def test_this_process_writes_the_store_of_the_cpu(
    tmp_path: Path,
    repertoires: Repertoires,
    right: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    launched: list[Any] = []
    inner = gpu.launch
    monkeypatch.setattr(gpu, "launch", lambda *a: (launched.append(a), inner(*a)))
    repertoires.count(tmp_path / "gpu.zarr", options=GPU)
    assert launched
    assert objects(tmp_path / "gpu.zarr") == right


@pytest.mark.full
def test_a_mixed_cluster_writes_the_store_of_the_cpu(
    tmp_path: Path, repertoires: Repertoires, right: dict[str, bytes]
) -> None:
    with cluster(gpus=1, hosts=1) as client:
        repertoires.count(tmp_path / "gpu.zarr", options=GPU, client=client)
    assert objects(tmp_path / "gpu.zarr") == right


COMMAND = ("--species", "human", "--workers", 0)


@pytest.mark.usefixtures("quick")
def test_the_command(gangsaw: CommandLine, tmp_path: Path) -> None:
    path = written(tmp_path, "a", records(90))
    for name in ("cpu", "gpu"):
        gangsaw.ok("tcr", "count", path, tmp_path / f"{name}.zarr", *COMMAND, "--device", name)
    assert objects(tmp_path / "gpu.zarr") == objects(tmp_path / "cpu.zarr")


@pytest.mark.usefixtures("no_cupy")
def test_missing_cupy_is_told(gangsaw: CommandLine, tmp_path: Path) -> None:
    path = written(tmp_path, "a", records(9))
    ran = gangsaw("tcr", "count", path, tmp_path / "o.zarr", *COMMAND, "--device", "gpu")
    assert 'CuPy is not installed: pip install "gangsaw[gpu]"' in ran.failed(1)
    assert not (tmp_path / "o.zarr").exists()
