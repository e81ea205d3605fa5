"""A client of workers on hosts that are reached by SSH; Dask's SSHCluster starts them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import dask
from distributed import Client, SSHCluster

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.interrupts import interrupts_wait
from gangsaw.cluster.local import KEEP_MEMORY
from gangsaw.cluster.security import ROLES, named_certificates
from gangsaw.cluster.settings import KindSettings, imported, setting, settings_of


@contextmanager
def start(config: ClusterConfig) -> Iterator[Client]:
    """Yield a client of a worker on each host; at the end these are gone.

    Certificates have to lie on the hosts, under the same paths as here. Without them nothing is
    encrypted: a key of the moment would stand in the command lines of the hosts.

    Raises
    ------
    ModuleNotFoundError
        asyncssh is not installed.
    RuntimeError
        A host does not let us in, or cannot start Dask.
    ValueError
        A setting is wrong.
    """
    settings = settings_of("ssh")
    hosts = hosts_of(config, settings)
    imported("asyncssh", "asyncssh", "ssh")
    with dask.config.set({**KEEP_MEMORY, **_tls(config)}), ExitStack() as stack:
        with interrupts_wait():
            try:
                cluster = stack.enter_context(SSHCluster(hosts, **_options(config, settings)))
            except Exception as error:  # of asyncssh, of the system, of Dask
                raise RuntimeError(
                    f"SSH to {', '.join(dict.fromkeys(hosts))} starts no cluster: {error}"
                ) from error
        yield stack.enter_context(Client(cluster, set_as_default=False))


def hosts_of(config: ClusterConfig, settings: KindSettings) -> list[str]:
    """Return the scheduler's host and those of the workers, the first `config.workers` of them."""
    hosts = settings.texts("hosts")
    if not hosts:
        raise ValueError(
            'ssh.hosts is empty: name hosts, as DASK_GANGSAW__SSH__HOSTS=\'["node1", "node2"]\''
        )
    if config.workers > len(hosts):
        raise ValueError(
            f"ssh.hosts names {len(hosts)} hosts, too few for {config.workers} workers"
        )
    return [hosts[0], *hosts[: config.workers or None]]


def _options(config: ClusterConfig, settings: KindSettings) -> dict[str, object]:
    threads = config.threads or settings.number("threads")
    protocol = {"protocol": "tls"} if named_certificates(config.certificates) else {}
    limits = {"memory_limit": config.memory_limit} if config.memory_limit else {}
    return {
        "connect_options": settings.options("connect-options"),
        "worker_options": {**({"nthreads": threads} if threads else {}), **protocol, **limits},
        "scheduler_options": {
            "port": 0,
            "dashboard": config.dashboard,
            "dashboard_address": setting("dashboard-address"),
            **protocol,
        },
        "remote_python": settings.text("python") or None,
        "security": named_certificates(config.certificates),
        "silence_logs": logging.CRITICAL + 1 if config.silent else logging.WARNING,
    }


def _tls(config: ClusterConfig) -> dict[str, str]:
    """Return the certificates as settings of Dask, which the hosts inherit."""
    files = config.certificates
    if not files:
        return {}
    pairs = {"cert": files.cert, "key": files.key or files.cert}
    named = {f"distributed.comm.tls.{role}.{what}": pairs[what] for role in ROLES for what in pairs}
    return {"distributed.comm.tls.ca-file": files.ca_file, **named}
