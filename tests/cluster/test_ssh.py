"""Workers on a host that is reached by SSH: this one, by a server and keys of the test."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import dask
import pytest
from helpers.hang import wait_until
from helpers.slurm import answers_at, free_ports

import gangsaw

asyncssh = pytest.importorskip("asyncssh", reason="asyncssh is not installed")


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """A server of SSH on the loopback that lets in who has the key `user`."""
    sshd = shutil.which("sshd", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")
    if sshd is None or os.geteuid() != 0:
        pytest.skip("only root can start sshd (apt-get install openssh-server)")
    for name in ("host", "user"):
        key = asyncssh.generate_private_key("ssh-ed25519")
        key.write_private_key(str(tmp_path / name))
        (tmp_path / name).chmod(0o600)
        key.write_public_key(str(tmp_path / f"{name}.pub"))
    Path("/run/sshd").mkdir(exist_ok=True)  # where it goes before it knows who asks
    (port,) = free_ports(1)
    named = {
        "ListenAddress": f"127.0.0.1:{port}",
        "HostKey": tmp_path / "host",
        "AuthorizedKeysFile": tmp_path / "user.pub",
        "StrictModes": "no",
        "PidFile": "none",
        "UsePAM": "no",
    }
    (tmp_path / "sshd").write_text("".join(f"{name} {value}\n" for name, value in named.items()))
    command = [sshd, "-D", "-e", "-f", str(tmp_path / "sshd")]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
        wait_until(lambda: answers_at(port))
        yield port
        server.terminate()


def test_workers_start_on_hosts(port: int, tmp_path: Path) -> None:
    public = (tmp_path / "host.pub").read_text()
    (tmp_path / "known").write_text(f"[127.0.0.1]:{port} {public}")
    connect = {
        "port": port,
        "username": "root",
        "client_keys": [str(tmp_path / "user")],
        "known_hosts": str(tmp_path / "known"),
    }
    settings = {"gangsaw.ssh.hosts": ["127.0.0.1"], "gangsaw.ssh.connect-options": connect}
    with dask.config.set(settings), gangsaw.cluster.connect("ssh", threads=1) as client:
        client.wait_for_workers(1)
        assert client.submit(os.getppid).result() != os.getpid()
    settings |= {"gangsaw.ssh.python": "/no/such/python"}
    with (
        dask.config.set(settings),
        pytest.raises(
            RuntimeError, match=r"starts no cluster: .*; the host said: .*no/such/python"
        ),
        gangsaw.cluster.connect("ssh", silent=True),
    ):
        pass
    connect["client_keys"] = [str(tmp_path / "host")]
    with (
        dask.config.set(settings),
        pytest.raises(RuntimeError, match=r"SSH to 127\.0\.0\.1 starts no cluster"),
        gangsaw.cluster.connect("ssh", silent=True),
    ):
        pass
