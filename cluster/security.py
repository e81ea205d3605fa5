"""TLS: certificates of the user, or temporary ones for clusters that are started here.

Dask runs any code that it receives, and any user of a shared machine reaches the ports of its
loopback.
"""

from __future__ import annotations

import fcntl
import importlib.util
import shutil
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import dask
from distributed import Security

from gangsaw.cluster.config import Certificates, ClusterConfig
from gangsaw.cluster.settings import setting

ROLES = ("client", "scheduler", "worker")
FIELDS = ("tls_ca_file", *(f"tls_{role}_{what}" for role in ROLES for what in ("cert", "key")))
PROBE_SECONDS = 2.0
KEYS = "tls-"  # prefix of the names of key folders
IN_USE = "in-use"  # file that the run locks
OLD_SECONDS = 30 * 86400.0  # time limit of a run on a file system without locks


def security_of(config: ClusterConfig) -> Security | None:
    """Return the TLS settings of a cluster that is started here; None without encryption.

    Raises
    ------
    ModuleNotFoundError
        The settings require temporary certificates, and `cryptography` is not installed.
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
    """Return the user's certificates: given files, else Dask's configuration, else None."""
    if files:
        key = files.key or files.cert
        pairs = {f"tls_{role}_{what}": file for role in ROLES for what, file in _pair(files, key)}
        return Security(require_encryption=True, tls_ca_file=files.ca_file, **pairs)
    if dask.config.get("distributed.comm.tls.ca-file"):
        return Security(require_encryption=True)
    return None


def write_to_files(security: Security, folder: Path) -> Security:
    """Write certificates that are in memory to files of this private folder; return their paths."""
    named = {}
    for field in FIELDS:
        text = getattr(security, field) or ""
        named[field] = str(_write(folder / field, text)) if "\n" in text else text or None
    return Security(require_encryption=True, **named)


@contextmanager
def key_folder(parent: Path) -> Iterator[Path]:
    """Yield a new folder for certificates, removed at the end; remove folders of killed runs.

    The run locks a file in its folder. The lock ends with the process, even if that is killed.
    """
    for folder in parent.glob(f"{KEYS}*"):
        _sweep(folder)
    with TemporaryDirectory("", KEYS, parent) as made, _lock(Path(made)):
        yield Path(made)


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    with (folder / f"{IN_USE}.new").open("wb") as file:
        with suppress(OSError):  # without locks the folder counts as used until it is old
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            Path(file.name).rename(folder / IN_USE)
        yield


def _sweep(folder: Path) -> None:
    """Remove a folder of certificates that no run uses; one without a lock file after a month."""
    with suppress(OSError):
        if (folder / IN_USE).exists():
            with (folder / IN_USE).open("rb+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError: its run has not ended
                shutil.rmtree(folder)
        elif time.time() - folder.stat().st_mtime > OLD_SECONDS:
            shutil.rmtree(folder)


def _write(file: Path, text: str) -> Path:
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8")
    return file


def _pair(files: Certificates, key: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("cert", files.cert), ("key", key)


def speaks_tls(host: str, port: int) -> bool:
    """Return True if the server at this port speaks TLS, with any certificate."""
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


def accepts_connections(host: str, port: int) -> bool:
    """Return True if a server accepts connections on this port."""
    try:
        with socket.create_connection((host, port), PROBE_SECONDS):
            return True
    except OSError:
        return False
