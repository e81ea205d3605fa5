"""Client of one worker per GPU of this machine, each with a memory pool, started by dask-cuda."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Protocol

import dask
from distributed import Client
from distributed.deploy import Cluster

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.interrupts import defer_interrupts
from gangsaw.cluster.launchers.local import KEEP_MEMORY, LOOPBACK, PRELOAD
from gangsaw.cluster.security import security_of
from gangsaw.cluster.settings import setting

RESOURCES = {"GPU": 1}  # of each worker; jobs split it among the tasks that share the GPU
THREADS = 4  # minimum: one reads, one copies in, one computes, one copies out and writes


class ClusterType(Protocol):
    """Type of dask-cuda's cluster class."""

    def __call__(self, **options: object) -> Cluster:
        """Start a cluster."""


@contextmanager
def start(config: ClusterConfig) -> Iterator[Client]:
    """Yield a client of one worker per GPU; stop the workers at the end.

    `config.workers` is the maximum of GPUs; 0 takes all that CUDA_VISIBLE_DEVICES allows.

    Raises
    ------
    ModuleNotFoundError
        dask-cuda is not installed.
    RuntimeError
        dask-cuda finds no GPU.
    ValueError
        There are fewer GPUs than workers.
    """
    with dask.config.set(KEEP_MEMORY), ExitStack() as stack:
        with defer_interrupts():
            cluster = stack.enter_context(_make_cluster(_cluster_type(), config))
        yield stack.enter_context(Client(cluster, set_as_default=False))


def _cluster_type() -> ClusterType:
    if importlib.util.find_spec("dask_cuda") is None:
        raise ModuleNotFoundError(
            "dask-cuda is missing, which starts a worker per GPU: "
            "pip install 'gangsaw[gpu]', or pass --workers 0 for one GPU and this process",
            name="dask_cuda",
        )
    found: ClusterType = importlib.import_module("dask_cuda").LocalCUDACluster
    return found


def _make_cluster(cluster_type: ClusterType, config: ClusterConfig) -> Cluster:
    try:
        return cluster_type(**_options(config))
    except Exception as error:  # NVML, its absence and drivers raise unrelated types
        if isinstance(error, ValueError) and "workers" in str(error):
            raise
        raise RuntimeError(f"dask-cuda cannot use a GPU here: {error}") from error


def _threads(workers: int) -> int:
    """Return the number of threads of each worker: its share of the cores, for work on the host.

    `RESOURCES` limits the tasks that share a GPU, not this number.
    """
    gpus: int = workers or importlib.import_module("dask_cuda.utils").get_n_gpus()
    return max(THREADS, ClusterConfig(workers=gpus).size[1])


def _options(config: ClusterConfig) -> dict[str, object]:
    return {
        "n_workers": config.workers or None,
        "threads_per_worker": config.threads or _threads(config.workers),
        "memory_limit": config.memory_limit or "auto",
        "device_memory_limit": None,  # Dask stores no GPU arrays, so nothing can spill
        "host": LOOPBACK,
        "dashboard_address": setting("dashboard-address"),
        "scheduler_kwargs": {"dashboard": config.dashboard},
        "resources": {**RESOURCES, **config.resources},
        "silence_logs": logging.CRITICAL if config.silent else logging.WARNING,
        "preload": [PRELOAD],
        "security": security_of(config),
        **_memory_pool(),
    }


def _memory_pool() -> dict[str, object]:
    """Return the options that let CuPy allocate from RMM; {} without RMM, for CuPy's own pool.

    RMM's stream-ordered allocator is used. Its fixed pool claims most of the GPU at once, so a
    second process on the same GPU gets nothing.
    """
    if importlib.util.find_spec("rmm") is None:
        return {}
    return {"rmm_async": True, "rmm_allocator_external_lib_list": ["cupy"]}
