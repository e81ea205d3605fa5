"""Client of a scheduler that runs elsewhere, named by its address or by its file."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distributed import Client
from distributed.comm import get_address_host_port

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.security import accepts_connections, named_certificates, speaks_tls
from gangsaw.cluster.settings import seconds

LOOK_SECONDS = 0.1  # between two checks for a scheduler's file


@contextmanager
def start(config: ClusterConfig) -> Iterator[Client]:
    """Yield a client of the running scheduler.

    Raises
    ------
    ConnectionError
        No scheduler answers at the address, or it does not accept our certificates.
    ValueError
        The address or the file is invalid, or certificates are missing.
    """
    limit = config.connect_seconds or seconds("connect-seconds")
    address = config.scheduler or _address_in(Path(config.scheduler_file), limit)
    host, port = _host_port(address)
    security = named_certificates(config.certificates) if address.startswith("tls://") else None
    if address.startswith("tls://") and security is None:
        raise ValueError(f"{address} needs certificates: --tls-ca-file and --tls-cert")
    try:
        client = Client(address, timeout=limit, security=security, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ConnectionError(_why(address, host, port, limit, error)) from error
    with client:
        yield client


def _host_port(address: str) -> tuple[str, int]:
    """Return host and port of an address; raise ValueError for an invalid one.

    A Client would report a wrong address a second time when it is collected.
    """
    try:
        host, port = get_address_host_port(address)
    except ValueError as error:
        raise ValueError(
            f"{address!r} is no address of a Dask scheduler; use tcp://HOST:8786"
        ) from error
    return host, int(port)


def _address_in(file: Path, limit: float) -> str:
    """Return the address in a scheduler file; wait up to `limit` seconds for the file."""
    until = time.monotonic() + limit
    while not (file.exists() and file.stat().st_size):
        if time.monotonic() > until:
            raise ConnectionError(
                f"{file}: no scheduler wrote this file within {limit:g} s: start one with "
                "dask scheduler --scheduler-file"
            )
        time.sleep(LOOK_SECONDS)
    try:
        return str(json.loads(file.read_text(encoding="utf-8"))["address"])
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise ValueError(f"{file} is no scheduler's file: it names no address") from error


def _why(address: str, host: str, port: int, limit: float, error: Exception) -> str:
    """Return the reason why a scheduler cannot be reached, in one line."""
    if not accepts_connections(host, port):
        return (
            f"no Dask scheduler answers at {address} within {limit:g} s: "
            "start one there, or name another one"
        )
    encrypted, has_tls = address.startswith("tls://"), speaks_tls(host, port)
    if encrypted and not has_tls:
        return f"the scheduler at {address} is not encrypted: use tcp://{host}:{port}"
    if has_tls and not encrypted:
        return (
            f"the scheduler at {address} is encrypted: use tls://{host}:{port}, "
            "with --tls-ca-file and --tls-cert"
        )
    if encrypted and _is_of_tls(error):
        return f"the scheduler at {address} and our certificates do not trust each other"
    return f"no Dask scheduler answers at {address} within {limit:g} s, but the port is open"


def _is_of_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError) or "SSL" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False
