"""A real SLURM on this machine: a controller, three nodes and munge, in a folder, on own ports.

No systemd and no cgroups are needed; root and the packages slurm-wlm and munge are.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from helpers.hang import wait_until

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "scontrol", "munged")
NODES = ("n1", "n2", "n3")
STOP_SECONDS = 30.0  # in which daemons end by themselves; then they are killed

# nodes of one host need `config_overrides`; what has ended is seen at once, not after minutes
SETTINGS = """
ClusterName=gangsaw
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmdSpoolDir={folder}/spool/%n
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,defer_batch
ReturnToService=2
SlurmdParameters=config_overrides
SlurmctldTimeout=10
SlurmdTimeout=10
KillWait=3
MessageTimeout=10
JobRequeue=1
"""
NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=7000\n"
PARTITION = "PartitionName=main Nodes=n[1-3] Default=YES MaxTime=01:00:00 State=UP\n"


def missing() -> str:
    """What a SLURM here would need, "" for nothing."""
    if os.name != "posix" or os.geteuid() != 0:
        return "only root can start SLURM's daemons"
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    return f"{absent[0]} is missing: apt-get install slurm-wlm munge" if absent else ""


@dataclass(frozen=True)
class Slurm:
    """A cluster that runs.

    Attributes
    ----------
    folder : holds its configuration, state, logs and files of process ids
    """

    folder: Path

    def call(self, *command: str) -> str:
        """Return what one of SLURM's commands says."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (command, done.stderr)
        return done.stdout.strip()

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def jobs(self) -> dict[str, str]:
        """Nodes of the jobs that run, by job."""
        lines = self.call("squeue", "-h", "-t", "R", "-o", "%i %N").splitlines()
        return dict(line.split() for line in lines)  # type: ignore[misc]

    def start_controller(self) -> None:
        self.call("slurmctld", "-f", str(self.folder / "slurm.conf"))

    def start_node(self, name: str) -> None:
        (self.folder / "spool" / name).mkdir(parents=True, exist_ok=True)
        self.call("slurmd", "-f", str(self.folder / "slurm.conf"), "-N", name)

    def pid(self, name: str) -> int:
        """The process of "slurmctld", or of a node's daemon."""
        return int((self.folder / f"{name}.pid").read_text())

    def kill_controller(self) -> None:
        kill(self.pid("slurmctld"))

    def kill_node(self, name: str) -> None:
        """Kill the daemon of a node and all that it started, as when its power fails."""
        steps = [pid for pid in children(1) | descendants(self.pid(name)) if self.is_of(pid, name)]
        victims = {self.pid(name), *steps}.union(*(descendants(pid) for pid in steps))
        for pid in victims:
            kill(pid)
        (self.folder / f"{name}.pid").unlink()

    def is_of(self, pid: int, name: str) -> bool:
        """Whether a process manages a job that runs on this node."""
        title = command_line(pid)
        jobs = [job for job, node in self.jobs().items() if node == name]
        return any(f"slurmstepd: [{job}." in title for job in jobs)

    def up(self) -> bool:
        idle = self.call("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").split()
        return sorted(set(idle)) == list(NODES)


@contextmanager
def slurm(folder: Path) -> Iterator[Slurm]:
    """Start SLURM in a folder with a short path; at the end nothing of it is left."""
    cluster = Slurm(folder)
    try:
        configure(folder)
        munge = folder / "munge"
        named = {"key-file": "key", "socket": "socket", "pid-file": "pid", "seed-file": "seed"}
        files = [f"--{option}={munge / name}" for option, name in named.items()]
        cluster.call("munged", "--force", *files, f"--log-file={munge / 'log'}")
        cluster.start_controller()
        for name in NODES:
            cluster.start_node(name)
        wait_until(cluster.up)
        yield cluster
    finally:
        stop(cluster)


def configure(folder: Path) -> None:
    """Write the configuration, the key of munge and the folders of state."""
    for name in ("munge", "state", "spool"):
        (folder / name).mkdir(parents=True)
    key = folder / "munge" / "key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    host, ports = socket.gethostname().partition(".")[0], free_ports(1 + len(NODES))
    nodes = [NODE.format(name=n, host=host, port=p) for n, p in zip(NODES, ports[1:], strict=True)]
    settings = SETTINGS.format(host=host, port=ports[0], folder=folder)
    (folder / "slurm.conf").write_text("".join([settings, *nodes, PARTITION]))


def free_ports(n: int) -> list[int]:
    """Ports of the loopback that nothing listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def stop(cluster: Slurm) -> None:
    """End the jobs, then the daemons, by the ids in their files; wait until they are gone."""
    with suppress(AssertionError):
        cluster.call("scancel", "--user=root", "--full")
        until = time.monotonic() + STOP_SECONDS
        while cluster.call("squeue", "-h", "-t", "R,CG,PD") and time.monotonic() < until:
            time.sleep(0.1)
    files = [*cluster.folder.glob("*.pid"), cluster.folder / "munge" / "pid"]
    pids = [int(file.read_text()) for file in files if file.exists()]
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + STOP_SECONDS
    while any(is_alive(pid) for pid in pids):
        if time.monotonic() > until:
            for pid in pids:
                kill(pid)
        time.sleep(0.05)


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def is_alive(pid: int) -> bool:
    """Whether a process runs, or ended without anyone that waits for it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(parent: int) -> set[int]:
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError, ValueError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == parent:
                found.add(int(stat.parent.name))
    return found


def descendants(pid: int) -> set[int]:
    own = children(pid)
    return own.union(*(descendants(child) for child in own))


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def answers_at(port: int) -> bool:
    """Whether something listens there on the loopback."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
