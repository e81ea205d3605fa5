"""A Dask cluster with TLS on the hosts of `helpers.hosts`, and a held command on one of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from gangsaw.tasks.api import functions
from helpers.faulty_jobs import N_CHUNKS, HeldJob, raw
from helpers.hang import HANG, wait_until
from helpers.hosts import CLIENT, FIRST, SCHEDULER, SECOND, Network, network
from helpers.job_script import SHAPE
from helpers.slurm import command_line, descendants

TESTS = Path(__file__).parents[1]
PORT, SLOW_PORT = 8786, 9786
DELAY = 0.1  # seconds, each way
NAMES = {SCHEDULER: "scheduler", FIRST: "first", SECOND: "second", CLIENT: "client"}
SERVICES = ("scheduler", "first", "second")  # programs that outlast a test


@dataclass(frozen=True)
class Files:
    """The certificates of who may take part.

    Attributes
    ----------
    authority, node : who signed it; certificate and key of every host
    """

    authority: str
    node: str

    @property
    def words(self) -> tuple[str, ...]:
        return ("--tls-ca-file", self.authority, "--tls-cert", self.node)


def certificates(folder: Path, name: str) -> Files:
    """Make an authority, and a certificate of it."""
    import trustme

    made = Files(str(folder / f"{name}-authority.pem"), str(folder / f"{name}.pem"))
    authority = trustme.CA()
    authority.cert_pem.write_to_path(made.authority)
    own = authority.issue_cert(*map(Network.address, NAMES))
    own.private_key_and_cert_chain_pem.write_to_path(made.node)
    return made


@dataclass(frozen=True)
class CommandJob(HeldJob):
    """A held command in a process.

    Attributes
    ----------
    process : of it
    """

    process: subprocess.Popen[str]

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def ended(self, code: int = 0) -> str:
        """Let it end; return what it said."""
        self.allow(N_CHUNKS)
        _, said = self.process.communicate(timeout=HANG)
        assert self.process.returncode == code, said
        return said

    def failed(self) -> str:
        """Let it fail; return the line that says so. Before, it may have said that it waits."""
        *before, said = self.ended(1).splitlines()
        assert said.startswith("gangsaw: "), said
        assert all("waiting" in line for line in before), before
        return said

    def check_outcome(self) -> None:
        """The result is that of an undisturbed run; nothing journalled was read again."""
        if not self.whole.exists():
            functions.compress(raw(self.folder), self.whole, codec="zstd", chunks={"y": 8, "x": 8})
        super().check_outcome()


@dataclass(frozen=True)
class Site:
    """The cluster.

    Attributes
    ----------
    network : of its hosts
    folder : all of them see it
    ours, strange : certificates of the cluster, and of nobody that it knows
    processes : by name
    """

    network: Network
    folder: Path
    ours: Files
    strange: Files
    processes: dict[str, subprocess.Popen[str]] = field(default_factory=dict)
    looks: list[set[int]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"tls://{self.network.address(SCHEDULER)}:{PORT}"

    def begin(self, name: str, host: int, *words: str, errors: int | None = None) -> None:
        """Begin a Python program on a host, in a session of its own."""
        with Path(self.folder, f"{name}.said").open("a") as said:
            self.processes[name] = subprocess.Popen(
                self.network.on(host, sys.executable, "-m", *words),
                cwd=self.folder,
                env=os.environ | {"PYTHONPATH": str(TESTS)},
                stdout=said,
                stderr=said if errors is None else errors,
                start_new_session=True,
                text=True,
            )

    def start_scheduler(self) -> None:
        where = ("--host", self.network.address(SCHEDULER), "--port", str(PORT))
        how = ("--protocol", "tls", "--no-dashboard", *self.tls)
        self.begin("scheduler", SCHEDULER, "distributed.cli.dask_scheduler", *where, *how)

    def start_worker(self, host: int, scheduler: str = "") -> None:
        """Start a worker and its nanny; it waits for the scheduler."""
        own = ("--host", self.network.address(host), "--nthreads", "1", "--memory-limit", "1GiB")
        local = ("--local-directory", str(self.folder / NAMES[host]), "--no-dashboard")
        words = ("distributed.cli.dask_worker", scheduler or self.address, *own, *local, *self.tls)
        self.begin(NAMES[host], host, *words)

    @property
    def tls(self) -> tuple[str, ...]:
        return (*self.ours.words, "--tls-key", self.ours.node)

    def restart(self) -> None:
        """Start what is missing, as a service of the system does."""
        self.start_scheduler()
        for host in (FIRST, SECOND):
            self.end(NAMES[host], signal.SIGTERM)
            self.start_worker(host)

    def worker_pid(self, host: int) -> int:
        """The process of a worker below its nanny, when it is there."""
        nanny, found = self.processes[NAMES[host]].pid, set[int]()

        def is_there() -> bool:
            found.update(pid for pid in descendants(nanny) if "spawn_main" in command_line(pid))
            return bool(found)

        wait_until(is_there)
        return found.pop()

    def end(self, name: str, how: signal.Signals) -> None:
        """End all processes of a session and wait for them."""
        process = self.processes[name]
        with suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        process.wait(HANG)
        with suppress(ProcessLookupError):  # workers of a nanny that ended by itself
            os.killpg(process.pid, signal.SIGKILL)

    def close(self, names: set[str]) -> None:
        """End these programs for good."""
        for name in names:
            self.end(name, signal.SIGKILL)
            process = self.processes.pop(name)
            for pipe in (process.stderr, process.stdout):
                if pipe is not None:
                    pipe.close()

    @contextmanager
    def stopped(self, pid: int) -> Iterator[None]:
        """Stop a process for a while."""
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def slow_link(self, host: int) -> str:
        """Return the address of the scheduler over a slow link, for programs of this host."""
        far = (self.network.address(SCHEDULER), str(PORT), str(DELAY))
        self.begin(f"link {host}", host, "helpers.slow_link", str(SLOW_PORT), *far)
        return f"tls://127.0.0.1:{SLOW_PORT}"

    @contextmanager
    def compress(
        self, *words: str, scheduler: str = "", certificates: Files | None = None
    ) -> Iterator[CommandJob]:
        """Run the command; it begins when allowed to. One after the other share a target."""
        where = scheduler or self.address
        tls = (certificates or self.ours).words if where.startswith("tls") else ()
        shape = ",".join(map(str, SHAPE))
        how = ("--shape", shape, "--dtype", "<u2", "--codec", "zstd", "--chunks", "y=8,x=8")
        own = ("compress", str(self.folder / "cube.raw"), str(self.folder / "a.zarr"), *how)
        module = ("helpers.held_command", str(self.folder))
        raw(self.folder)
        HeldJob(self.folder).allow(0)
        cluster = ("--scheduler", where, *tls, "--quiet")
        self.begin("client", CLIENT, *module, *own, *cluster, *words, errors=subprocess.PIPE)
        yield CommandJob(self.folder, self.processes["client"], journalled=self.looks)


@contextmanager
def site_of_hosts(folder: Path) -> Iterator[Site]:
    """Start the cluster; at the end nothing of it is left."""
    with network() as hosts, ExitStack() as stack:
        files = certificates(folder, "ours"), certificates(folder, "strange")
        site = Site(hosts, folder, *files)
        stack.callback(lambda: site.close(set(site.processes)))
        site.start_scheduler()
        for host in (FIRST, SECOND):
            site.start_worker(host)
        yield site
