"""TLS: the user's certificates, or those of the moment for clusters that are started here.

Dask runs what it is sent, and any user of a shared machine reaches the ports of its loopback.
"""

from __future__ import annotations

import importlib.util
import socket
import ssl
from pathlib import Path

import dask
from distributed import Security

from gangsaw.cluster.config import Certificates, ClusterConfig
from gangsaw.cluster.settings import setting

ROLES = ("client", "scheduler", "worker")
FIELDS = ("tls_ca_file", *(f"tls_{role}_{what}" for role in ROLES for what in ("cert", "key")))
PROBE_SECONDS = 2.0


def security_of(config: ClusterConfig) -> Security | None:
    """Return how a cluster that is started here is encrypted; None leaves it open.

    Raises
    ------
    ModuleNotFoundError
        The settings ask for certificates of the moment, and what makes them is not installed.
    """
    if named := named_certificates(config.certificates):
        return named
    encrypt = setting("encrypt")
    has_maker = importlib.util.find_spec("cryptography") is not None
    if encrypt is False or (encrypt == "auto" and not has_maker):
        return None
    if not has_maker:
        line = "cryptography is missing for TLS: pip install 'gangsaw[tls]'"
        raise ModuleNotFoundError(line, name="cryptography")
    return Security.temporary()


def named_certificates(files: Certificates) -> Security | None:
    """Return the user's certificates: given files, else those of Dask's configuration, or None."""
    if files:
        key = files.key or files.cert
        pairs = {f"tls_{role}_{what}": file for role in ROLES for what, file in _pair(files, key)}
        return Security(require_encryption=True, tls_ca_file=files.ca_file, **pairs)
    if dask.config.get("distributed.comm.tls.ca-file"):
        return Security(require_encryption=True)
    return None


def in_files(security: Security, folder: Path) -> Security:
    """Return certificates that are held in memory as files of this folder, which is the user's."""
    named = {}
    for field in FIELDS:
        text = getattr(security, field) or ""
        named[field] = str(_written(folder / field, text)) if "\n" in text else text or None
    return Security(require_encryption=True, **named)


def _written(file: Path, text: str) -> Path:
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8")
    return file


def _pair(files: Certificates, key: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("cert", files.cert), ("key", key)


def speaks_tls(host: str, port: int) -> bool:
    """Whether what answers there begins with TLS, whosever certificates it has."""
    anyone = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), PROBE_SECONDS) as plain,
            anyone.wrap_socket(plain),
        ):
            return True
    except (OSError, ValueError):
        return False


def answers(host: str, port: int) -> bool:
    """Whether anything listens there."""
    try:
        with socket.create_connection((host, port), PROBE_SECONDS):
            return True
    except OSError:
        return False
