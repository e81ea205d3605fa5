"""Limits of control groups, of both versions, at any depth."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gangsaw.cluster.config import ClusterConfig
from gangsaw.codecs.core.memory import limits

GIB = 1 << 30
V1_NONE = "9223372036854771712"
# what /proc/self/cgroup says, the files of the groups, cores, and GiB
CASES = {
    "version 2, a container": (
        "0::/",
        {"cpu.max": "150000 50000", "memory.max": f"{4 * GIB}"},
        3,
        4,
    ),
    "version 2, no limit": ("0::/", {"cpu.max": "max 100000", "memory.max": "max"}, 64, 512),
    "version 2, a step in a limited slice": (
        "0::/user.slice/job_7/step",
        {
            "user.slice/cpu.max": "800000 100000",
            "user.slice/job_7/cpu.max": "250000 100000",
            "user.slice/job_7/memory.max": f"{16 * GIB}",
            "user.slice/job_7/step/cpu.max": "max 100000",
            "user.slice/job_7/step/memory.high": f"{12 * GIB}",
            "other/memory.max": f"{GIB}",
        },
        2,
        12,
    ),
    "less than a core": ("0::/a", {"a/cpu.max": "50000 100000"}, 1, 512),
    "version 1": (
        "4:memory:/slurm/job_7\n3:cpu,cpuacct:/slurm/job_7\n1:name=systemd:/",
        {
            "cpu,cpuacct/slurm/job_7/cpu.cfs_quota_us": "400000",
            "cpu,cpuacct/slurm/job_7/cpu.cfs_period_us": "100000",
            "cpu,cpuacct/cpu.cfs_quota_us": "-1",
            "cpu,cpuacct/cpu.cfs_period_us": "100000",
            "memory/memory.limit_in_bytes": V1_NONE,
            "memory/slurm/memory.limit_in_bytes": f"{8 * GIB}",
        },
        4,
        8,
    ),
    "version 1, a container with the paths of its host": (
        "4:memory:/docker/0123\n3:cpu:/docker/0123",
        {
            "cpu/cpu.cfs_quota_us": "200000",
            "cpu/cpu.cfs_period_us": "100000",
            "memory/memory.limit_in_bytes": f"{2 * GIB}",
        },
        2,
        2,
    ),
}


def on_machine(folder: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> tuple[int, int]:
    """Stand on a machine of 64 cores and 512 GiB; return the cores and the bytes of a case."""
    said, files, n_cores, gib = CASES[case]
    (folder / "own").write_text(said + "\n")
    for name, text in files.items():
        (folder / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "groups" / name).write_text(text + "\n")
    monkeypatch.setattr(limits, "OWN", folder / "own")
    monkeypatch.setattr(limits, "GROUPS", folder / "groups")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64), raising=False)
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": GIB >> 3}.get)
    limits._quota.cache_clear()
    return n_cores, gib * GIB


@pytest.fixture(autouse=True)
def _asked_again() -> object:
    yield
    limits._quota.cache_clear()


@pytest.mark.quick(cases=6)
@pytest.mark.parametrize("case", CASES)
def test_limits_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    assert on_machine(tmp_path, monkeypatch, case) == (limits.cores(), limits.memory_bytes())


def test_without_control_groups_the_machine_is_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_machine(tmp_path, monkeypatch, "version 1")
    monkeypatch.setattr(limits, "OWN", tmp_path / "absent")
    assert (limits.cores(), limits.memory_bytes()) == (64, 512 * GIB)


def test_local_workers_share_what_the_process_may_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_machine(tmp_path, monkeypatch, "version 1")  # 4 cores, 8 GiB
    assert ClusterConfig().size == (4, 1)
    assert ClusterConfig().worker_memory == 2 * GIB
    assert ClusterConfig(workers=1, threads=1).worker_memory == 2 * GIB
    assert ClusterConfig(workers=1).worker_memory == 8 * GIB
    assert ClusterConfig(workers=8).worker_memory == GIB
    assert ClusterConfig(memory_limit=GIB).worker_memory == GIB
