"""TLS: certificates of the moment, those of the user, and what strangers are told."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dask
import pytest
from distributed import Client, LocalCluster, Security
from helpers.command_line import CommandLine
from helpers.envi_files import cube, write_envi
from helpers.hang import HANG

import gangsaw
from gangsaw.cluster import Certificates, security

trustme = pytest.importorskip("trustme", reason="trustme is not installed")


@dataclass(frozen=True)
class Authority:
    """Files of an authority, and of a certificate that it signed."""

    ca: Path
    cert: Path

    @property
    def files(self) -> Certificates:
        return Certificates(str(self.ca), str(self.cert))

    @property
    def options(self) -> tuple[str, ...]:
        return ("--tls-ca-file", str(self.ca), "--tls-cert", str(self.cert))


def authority(folder: Path, name: str) -> Authority:
    made, files = trustme.CA(), Authority(folder / f"{name}-ca.pem", folder / f"{name}.pem")
    made.cert_pem.write_to_path(str(files.ca))
    made.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(files.cert))
    return files


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("tls"), "ours")


@pytest.fixture(scope="module")
def encrypted(ours: Authority) -> Iterator[str]:
    """The address of a scheduler with our certificates, and one worker."""
    how = {"n_workers": 1, "threads_per_worker": 1, "host": "127.0.0.1", "processes": True}
    named = security.named_certificates(ours.files)
    quiet = {"dashboard_address": "127.0.0.1:0", "silence_logs": 60}
    with LocalCluster(**how, **quiet, security=named, protocol="tls") as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def plain() -> Iterator[str]:
    """The address of a scheduler without TLS or workers."""
    quiet = {"dashboard_address": "127.0.0.1:0", "silence_logs": 60}
    with LocalCluster(n_workers=0, host="127.0.0.1", protocol="tcp", **quiet) as cluster:
        yield cluster.scheduler_address


def as_told(address: str, stranger: Security | None) -> str:
    return address if stranger else address.replace("tls", "tcp")


@pytest.mark.full
def test_local_clusters_are_encrypted_where_that_is_possible() -> None:
    pytest.importorskip("cryptography", reason="cryptography is not installed")
    with gangsaw.cluster.connect(workers=1, threads=1) as client:
        address = client.scheduler.address
        assert address.startswith("tls://")
        for stranger in (None, Security.temporary()):
            with pytest.raises(OSError):  # noqa: PT011  # of several kinds
                Client(as_told(address, stranger), timeout=2, security=stranger)
    with (
        dask.config.set({"gangsaw.encrypt": False}),
        gangsaw.cluster.connect(workers=1, threads=1) as client,
    ):
        assert client.scheduler.address.startswith("tcp://")


def test_without_what_makes_certificates_a_cluster_is_open_or_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from gangsaw.cluster.config import ClusterConfig

    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert security.security_of(ClusterConfig()) is None
    message = r"cryptography is missing for TLS: pip install 'gangsaw\[tls\]'"
    with (
        dask.config.set({"gangsaw.encrypt": True}),
        pytest.raises(ModuleNotFoundError, match=message),
    ):
        security.security_of(ClusterConfig())


def test_the_users_certificates_reach_a_scheduler(encrypted: str, ours: Authority) -> None:
    with gangsaw.cluster.connect(encrypted, certificates=ours.files, wait_workers=1) as client:
        assert client.submit(abs, -2).result() == 2
    config = {
        "distributed.comm.tls.ca-file": str(ours.ca),
        "distributed.comm.tls.client.cert": str(ours.cert),
        "distributed.comm.tls.client.key": str(ours.cert),
    }
    with dask.config.set(config), gangsaw.cluster.connect(encrypted) as client:
        assert client.submit(abs, -2).result() == 2


def test_a_schedulers_file_leads_to_it(encrypted: str, ours: Authority, tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    timer = threading.Timer(0.3, lambda: file.write_text(json.dumps({"address": encrypted})))
    timer.start()  # it comes a little later
    with gangsaw.cluster.connect(scheduler_file=str(file), certificates=ours.files) as client:
        assert client.scheduler.address == encrypted
    file.write_text("{}")
    with (
        pytest.raises(ValueError, match="it names no address"),
        gangsaw.cluster.connect(scheduler_file=str(file)),
    ):
        pass


@dataclass(frozen=True)
class Told:
    """What a command says where a cluster cannot be used."""

    gangsaw: CommandLine
    scene: Path

    def __call__(self, *options: str) -> str:
        with dask.config.set({"gangsaw.connect-seconds": 2}):
            return self.gangsaw("compress", self.scene, f"{self.scene}.zarr", *options).failed(1)


@pytest.fixture
def told(gangsaw: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Told:
    monkeypatch.setattr(security, "PROBE_SECONDS", HANG)
    return Told(gangsaw, write_envi(tmp_path / "scene.hdr", cube("uint16", (2, 4, 4))))


def test_strangers_are_told_in_one_line(
    told: Told, encrypted: str, plain: str, ours: Authority, tmp_path: Path
) -> None:
    theirs = authority(tmp_path, "theirs")
    as_plain, as_tls = encrypted.replace("tls", "tcp"), plain.replace("tcp", "tls")
    wrong = "and our certificates do not trust each other"
    assert wrong in told("--cluster", encrypted, *theirs.options)
    assert f"is encrypted: use {encrypted}, with" in told("--cluster", as_plain)
    assert f"is not encrypted: use {plain}" in told("--scheduler", as_tls, *ours.options)
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = f"tls://127.0.0.1:{free.getsockname()[1]}"
    assert "no Dask scheduler answers" in told("--cluster", nobody, *ours.options)


@pytest.mark.full
def test_a_scheduler_file_that_does_not_come_is_told(told: Told, tmp_path: Path) -> None:
    said = told("--scheduler-file", str(tmp_path / "none.json"))
    assert "no scheduler wrote this file within 2 s" in said


def test_workers_that_do_not_come_are_told(told: Told, plain: str) -> None:
    with dask.config.set({"gangsaw.wait-seconds": 0.5}):
        said = told("--scheduler", plain, "--wait-workers", "2")
    assert "0 of 2 workers came within 0.5 s" in said


def test_the_dashboard_listens_on_the_loopback() -> None:
    with gangsaw.cluster.connect(workers=1, threads=1, dashboard=True) as client:
        assert client.dashboard_link.startswith("http://127.0.0.1:")
