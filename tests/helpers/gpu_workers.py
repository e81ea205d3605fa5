"""Clusters whose workers have a GPU: the stand-in for CuPy in place of a device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
from distributed import Client, Nanny, Scheduler, SpecCluster

TESTS = Path(__file__).parents[1]
# no checks, which other tests run these kernels under
STAND_IN = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from emulator import cupy_standin
from emulator.host_module import schedule
for_good = [cupy_standin.installed(), schedule(checks=False)]
for change in for_good:
    change.__enter__()
"""
LOOPBACK = "127.0.0.1"


@contextmanager
def cluster(*, gpus: int, hosts: int, threads: int = 2) -> Iterator[Client]:
    """Yield a client of workers with a GPU, and of others without."""
    common = {"nthreads": 1, "host": LOOPBACK, "dashboard": False}
    with_gpu = {"nthreads": threads, "resources": {"GPU": 1}, "preload": [STAND_IN]}
    workers: dict[str, Any] = {
        **{f"gpu-{i}": {"cls": Nanny, "options": {**common, **with_gpu}} for i in range(gpus)},
        **{f"host-{i}": {"cls": Nanny, "options": common} for i in range(hosts)},
    }
    scheduler = {
        "cls": Scheduler,
        "options": {"host": LOOPBACK, "dashboard": False, "dashboard_address": f"{LOOPBACK}:0"},
    }
    with (
        dask.config.set({"distributed.scheduler.work-stealing": True}),
        SpecCluster(workers, scheduler, silence_logs=50) as running,
        Client(running, set_as_default=False) as client,
    ):
        yield client
