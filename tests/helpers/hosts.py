"""Hosts of their own on this machine: network namespaces on a bridge, whose cables can be cut.

The bridge lies in a namespace, too: nothing here touches the network of the machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

SUBNET = "10.77.0"  # of the namespaces alone
SCHEDULER, FIRST, SECOND, CLIENT = range(4)


@dataclass(frozen=True)
class Network:
    """Four hosts that run.

    Attributes
    ----------
    prefix : of the names of their namespaces
    """

    prefix: str

    def name(self, host: int) -> str:
        return f"{self.prefix}-h{host}"

    @property
    def bridge(self) -> str:
        return f"{self.prefix}-bridge"

    @staticmethod
    def address(host: int) -> str:
        return f"{SUBNET}.{10 + host}"

    def on(self, host: int, *command: str) -> list[str]:
        """The command line that runs a command on a host."""
        return ["ip", "netns", "exec", self.name(host), *command]

    def cut(self, host: int) -> None:
        """Pull its cable: nobody is told."""
        ip("-n", self.bridge, "link", "set", f"v{host}", "down")

    def mend(self, host: int) -> None:
        ip("-n", self.bridge, "link", "set", f"v{host}", "up")


def ip(*words: str) -> None:
    subprocess.run(("ip", *words), check=True, capture_output=True)


def missing() -> str:
    """What hosts here would need, "" for nothing."""
    if os.name != "posix" or os.geteuid() != 0:
        return "only root can make network namespaces"
    if shutil.which("ip") is None:
        return "ip is missing: apt-get install iproute2"
    probe = f"gangsaw{os.getpid()}-probe"
    try:
        ip("netns", "add", probe)
        ip("netns", "delete", probe)
    except subprocess.CalledProcessError as error:
        return f"this system makes no network namespaces: {error.stderr.decode().strip()}"
    return ""


@contextmanager
def network() -> Iterator[Network]:
    """Make the hosts and join them; at the end they are gone."""
    made = Network(f"gangsaw{os.getpid()}")
    hosts = (SCHEDULER, FIRST, SECOND, CLIENT)
    names = [made.bridge, *map(made.name, hosts)]
    try:
        for name in names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("-n", made.bridge, "link", "add", "bridge", "type", "bridge")
        ip("-n", made.bridge, "link", "set", "bridge", "up")
        for host in hosts:
            join(made, host)
        yield made
    finally:
        for name in names:
            subprocess.run(("ip", "netns", "delete", name), check=False, capture_output=True)


def join(made: Network, host: int) -> None:
    """Join a host to the bridge."""
    own, cable = made.name(host), f"v{host}"
    peer = ("peer", "name", "eth0", "netns", own)
    ip("-n", made.bridge, "link", "add", cable, "type", "veth", *peer)
    ip("-n", made.bridge, "link", "set", cable, "master", "bridge", "up")
    ip("-n", own, "address", "add", f"{made.address(host)}/24", "dev", "eth0")
    ip("-n", own, "link", "set", "eth0", "up")
