"""The table of ways to get a Dask client, and the one that is asked for."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from math import inf
from typing import TYPE_CHECKING

from gangsaw.cluster.config import ADDRESS, Certificates, ClusterConfig
from gangsaw.cluster.told import Teller

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger(__name__)

SAY_SECONDS = 5.0  # after which the user is told what is waited for
# What each starts; the file of that name has `start(config)`.
KINDS = {
    "local": "workers on this machine",
    "cuda": "a worker per GPU of this machine",
    "slurm": "jobs of a SLURM cluster",
    "kubernetes": "pods of a Kubernetes cluster that runs Dask's operator",
    "ssh": "workers on hosts that are reached by SSH",
}
ON_GPUS = {"cuda", "slurm", "kubernetes"}


def configured(cluster: str, config: ClusterConfig) -> ClusterConfig:
    """Return the configuration for a kind, or for the address of a scheduler.

    Without either it is this machine: its GPUs if the device is "gpu".

    Raises
    ------
    ValueError
        There is no such kind, it has no GPUs, or a scheduler is named as well.
    """
    if cluster and config.is_running:
        raise ValueError("--cluster and --scheduler name two clusters: leave one out")
    if ADDRESS in cluster:
        return replace(config, scheduler=cluster)
    if config.is_running:
        return config
    kind = cluster or ("cuda" if config.device == "gpu" else "local")
    if kind not in KINDS:
        known = ", ".join(KINDS)
        raise ValueError(f"no kind of cluster is called {kind!r}: {known}, or tcp://HOST:PORT")
    if config.device == "gpu" and kind not in ON_GPUS:
        raise ValueError(f"a cluster of kind {kind} has no GPUs: {', '.join(sorted(ON_GPUS))} have")
    return replace(config, kind=kind, device="gpu" if kind == "cuda" else config.device)


@contextmanager
def start(config: ClusterConfig) -> Iterator[Client]:
    """Yield a client as configured; at the end a cluster that was started for it is gone.

    Raises
    ------
    ConnectionError
        No scheduler answers, or too few workers came in time.
    ModuleNotFoundError
        What starts this kind is not installed.
    RuntimeError
        What starts it failed.
    ValueError
        An option or a setting is wrong.
    """
    from gangsaw.cluster.dashboard.install import install

    name = "running" if config.is_running else config.kind
    with import_module(f"gangsaw.cluster.{name}").start(config) as client:
        install(client)
        wait_for_workers(client, config)
        yield client


def wait_for_workers(client: Client, config: ClusterConfig) -> None:
    """Return when as many workers are there as asked for, or the first one of a queue.

    Raises
    ------
    ConnectionError
        Fewer came in time; the settings say how long that is.
    """
    wanted = config.wait_workers or int(config.is_queued)
    if not wanted:
        return
    from gangsaw.cluster.settings import seconds

    limit, began, told = seconds("wait-seconds") or inf, time.monotonic(), Teller(log)
    while not _are_there(client, wanted, min(SAY_SECONDS, began + limit - time.monotonic())):
        there = len(client.scheduler_info(n_workers=-1)["workers"])
        if failure := getattr(client.cluster, "failure", ""):
            raise ConnectionError(failure)
        if time.monotonic() - began >= limit:
            raise ConnectionError(f"{there} of {wanted} workers came within {limit:g} s")
        whom = getattr(client.cluster, "queued", "") or "the others"
        told.tell(f"{there} of {wanted} workers are there: waiting for {whom}")


def _are_there(client: Client, wanted: int, seconds: float) -> bool:
    try:
        client.wait_for_workers(wanted, timeout=max(0.01, seconds))
    except TimeoutError:
        return False
    return True


@contextmanager
def connect(
    cluster: str = "",
    *,
    workers: int = 0,
    threads: int = 0,
    device: str = "cpu",
    scheduler_file: str = "",
    wait_workers: int = 0,
    certificates: Certificates | None = None,
    dashboard: bool = False,
    silent: bool = False,
) -> Iterator[Client]:
    """Yield a Dask client; at the end a cluster that was started for it is gone.

    Parameters
    ----------
    cluster : "local", "cuda", "slurm", "kubernetes", "ssh", or the address of a scheduler; settings
        are those of `gangsaw.yaml` in Dask's configuration
    workers, threads : how many, and threads of each; 0 leaves them to machine and settings
    device : "gpu" asks SLURM or Kubernetes for GPUs
    scheduler_file : file in which a running scheduler wrote its address
    wait_workers : how many workers have to be there first
    certificates : of TLS; None takes those of Dask's configuration, or makes them for the moment
    dashboard : whether to serve Dask's dashboard
    silent : hide log lines

    Raises
    ------
    ConnectionError, ModuleNotFoundError, RuntimeError, ValueError
        As `start`.
    """
    config = ClusterConfig(
        workers=workers,
        threads=threads,
        device=device,
        scheduler_file=scheduler_file,
        wait_workers=wait_workers,
        certificates=certificates or Certificates(),
        dashboard=dashboard,
        silent=silent,
    )
    with start(configured(cluster, config)) as client:
        yield client
