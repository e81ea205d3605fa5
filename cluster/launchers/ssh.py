"""Client of workers on hosts that are reached by SSH, started by Dask's SSHCluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import dask
from distributed import Client, SSHCluster

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.interrupts import defer_interrupts
from gangsaw.cluster.launchers.local import KEEP_MEMORY
from gangsaw.cluster.security import ROLES, named_certificates
from gangsaw.cluster.settings import KindSettings, import_for_kind, setting, settings_of

MOST_LINES = 3  # lines of hosts in a message


@contextmanager
def start(config: ClusterConfig) -> Iterator[Client]:
    """Yield a client of one worker per host; stop the workers at the end.

    Certificates must exist on the hosts, under the same paths as here. Without them nothing is
    encrypted: a temporary key would be visible in the command lines of the hosts.

    Raises
    ------
    ModuleNotFoundError
        asyncssh is not installed.
    RuntimeError
        A host refuses the login, or cannot start Dask.
    ValueError
        A setting is wrong.
    """
    settings = settings_of("ssh")
    hosts = hosts_of(config, settings)
    import_for_kind("asyncssh", "asyncssh", "ssh")
    with dask.config.set({**KEEP_MEMORY, **_tls(config)}), ExitStack() as stack:
        with defer_interrupts(), _collect_errors() as said:
            try:
                cluster = stack.enter_context(SSHCluster(hosts, **_options(config, settings)))
            except Exception as error:  # asyncssh, the system and Dask raise unrelated types
                raise RuntimeError(
                    f"SSH to {', '.join(dict.fromkeys(hosts))} starts no cluster: {error}"
                    f"{_words(said)}"
                ) from error
        yield stack.enter_context(Client(cluster, set_as_default=False))


@contextmanager
def _collect_errors() -> Iterator[list[str]]:
    """Yield a list that collects the hosts' lines on standard error while a cluster starts.

    Dask logs them at level INFO, which is hidden by default, and raises only that something failed.
    """
    said: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    log, listener = logging.getLogger("distributed.deploy.ssh"), Listener(logging.INFO)
    before, shown = log.level, log.propagate
    log.addHandler(listener)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        yield said
    finally:
        log.removeHandler(listener)
        log.setLevel(before)
        log.propagate = shown


def _words(lines: list[str]) -> str:
    """Return the last of the hosts' lines on standard error as a phrase; "" for none."""
    lines = [line.strip() for line in lines if line.strip()]
    return f"; the host said: {' / '.join(lines[-MOST_LINES:])}" if lines else ""


def hosts_of(config: ClusterConfig, settings: KindSettings) -> list[str]:
    """Return the scheduler's host and the hosts of workers, the first `config.workers` of them."""
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
