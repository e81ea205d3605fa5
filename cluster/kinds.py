"""Table of the ways to get a Dask client, and `connect`, which starts the requested one."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from importlib import import_module
from math import inf
from typing import TYPE_CHECKING, cast

from gangsaw.cluster.config import ADDRESS, Certificates, ClusterConfig
from gangsaw.cluster.identity import identity_of
from gangsaw.cluster.messages import StateLogger, silence

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger(__name__)

SAY_SECONDS = 5.0  # after which the user is told what is waited for
ASK_SECONDS = 0.1  # between two questions for workers
HEARD_SECONDS = 5.0  # within which a scheduler answers that does not hang
UNHEARD_SECONDS = 360.0  # without an answer, after which a scheduler is given up
# What each starts; the file of that name has `start(config)`.
KINDS = {
    "local": "workers on this machine",
    "cuda": "a worker per GPU of this machine",
    "slurm": "jobs of a SLURM cluster",
    "kubernetes": "pods of a Kubernetes cluster that runs Dask's operator",
    "ssh": "workers on hosts that are reached by SSH",
}
ON_GPUS = {"cuda", "slurm", "kubernetes"}


def complete_config(cluster: str, config: ClusterConfig) -> ClusterConfig:
    """Return the configuration for a kind of cluster, or for the address of a scheduler.

    Without either it is this machine, with its GPUs if the device is "gpu".

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
    """Yield a client as configured; at the end, stop a cluster that was started for it.

    Raises
    ------
    ConnectionError
        No scheduler answers, or too few workers came in time.
    ModuleNotFoundError
        The package that starts this kind is not installed.
    RuntimeError
        The package that starts this kind failed.
    ValueError
        An option or a setting is wrong.
    """
    from gangsaw.cluster.dashboard.install import install

    name = "running" if config.is_running else config.kind
    started = import_module(f"gangsaw.cluster.launchers.{name}").start(config)
    with silence() if config.silent else nullcontext(), started as client:
        install(client)
        _hide_link(client, config)
        wait_for_workers(client, config)
        yield client


def _hide_link(client: Client, config: ClusterConfig) -> None:
    """Remove the link to a dashboard from a client whose cluster serves none."""
    if not config.dashboard and client.cluster is not None:
        client.cluster.scheduler_info.get("services", {}).pop("dashboard", None)


def wait_for_workers(client: Client, config: ClusterConfig) -> None:
    """Wait for the requested number of workers, or for the first one of a queue.

    Raises
    ------
    ConnectionError
        Fewer came in time; the settings say how long that is. Or the scheduler does not answer.
    """
    wanted = config.wait_workers or int(config.is_queued)
    if not wanted:
        return
    from gangsaw.cluster.settings import seconds

    limit, began, told = seconds("wait-seconds") or inf, time.monotonic(), StateLogger(log)
    heard, there = began, 0
    while (found := _n_running(client, HEARD_SECONDS)) is None or found < wanted:
        now = time.monotonic()
        heard, there = (heard, there) if found is None else (now, found)
        if failure := getattr(client.cluster, "failure", ""):
            raise ConnectionError(failure)
        if now - heard >= UNHEARD_SECONDS:
            raise ConnectionError(
                f"{_named(client)} has not answered for {now - heard:.0f} s: end it and start one"
            )
        if now - began >= limit:
            raise ConnectionError(f"{there} of {wanted} workers came within {limit:g} s")
        if found is None:
            told.log_state(
                f"{_named(client)} does not respond: {there} of {wanted} workers were connected"
            )
        elif now - began >= SAY_SECONDS:
            whom = getattr(client.cluster, "queued", "") or "the others"
            told.log_state(f"{there} of {wanted} workers are connected: waiting for {whom}")
        time.sleep(ASK_SECONDS)


def _n_running(client: Client, limit: float) -> int | None:
    """Return the number of workers that run; None where the scheduler does not answer in time.

    `Client.wait_for_workers` has a time limit for the workers, and none for a scheduler that hangs.
    """
    try:
        workers = identity_of(client, limit)["workers"]
    except OSError as error:
        if client.status == "closed" and not isinstance(error, TimeoutError):
            raise ConnectionError(f"lost {_named(client)}: start one") from None
        return None
    except (RuntimeError, ValueError):  # a client that is closed
        raise ConnectionError(f"lost {_named(client)}: start one") from None
    described = cast("Mapping[str, Mapping[str, object]]", workers).values()
    return sum(worker.get("status") == "running" for worker in described)


def _named(client: Client) -> str:
    return f"the scheduler at {getattr(client.scheduler, 'address', '?')}"


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
    """Yield a Dask client; at the end, stop a cluster that was started for it.

    Parameters
    ----------
    cluster : str, default ""
        "local", "cuda", "slurm", "kubernetes", "ssh", or the address of a scheduler. Their settings
        are those of `gangsaw.yaml` in Dask's configuration, which also has the default.
    workers, threads : int, default 0
        Number of workers, and threads of each. 0 leaves them to machine and settings.
    device : {"cpu", "gpu"}, default "cpu"
        "gpu" requests GPUs from SLURM or Kubernetes.
    scheduler_file : str, default ""
        File in which a running scheduler wrote its address.
    wait_workers : int, default 0
        Number of workers to wait for.
    certificates : Certificates, optional
        Certificates of TLS. None uses those of Dask's configuration, or temporary ones.
    dashboard : bool, default False
        True serves Dask's dashboard.
    silent : bool, default False
        True hides log lines.

    Yields
    ------
    distributed.Client
        Client for the parameter `client` of other functions.

    Raises
    ------
    ConnectionError
        No scheduler answers, or too few workers came in time.
    ModuleNotFoundError
        The package that starts this kind is not installed.
    RuntimeError
        The package that starts this kind failed.
    ValueError
        An option or a setting is wrong.

    See Also
    --------
    gangsaw.workers : Yield a client, with errors of Gangsaw's own.

    Examples
    --------
    >>> from gangsaw.cluster import connect
    >>> with connect("local", workers=1, threads=1, silent=True) as client:
    ...     client.submit(sum, [1, 2, 3]).result()
    6
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
    with start(complete_config(cluster, config)) as client:
        yield client
