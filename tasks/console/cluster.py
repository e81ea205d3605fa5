"""Options for the place of execution: this process, local workers or a cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from gangsaw.cluster.config import ADDRESS, ClusterConfig
from gangsaw.cluster.kinds import KINDS
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.choices import choice

if TYPE_CHECKING:
    from distributed import Client

WorkersAbove = Annotated[
    int,
    typer.Option("--wait-workers", min=0, help="Start once this many workers are connected."),
]
Kind = Annotated[
    str,
    choice(
        "--cluster",
        of=KINDS,
        help="Where workers run, or the address of a scheduler such as tcp://HOST:8786:",
        default="local",
        others=lambda value: ADDRESS in value,
    ),
]
SchedulerFile = Annotated[
    str, typer.Option(help="File in which a running Dask scheduler wrote its address.")
]
TlsCaFile = Annotated[
    str, typer.Option(help="PEM file of the authority that signed the cluster's certificates.")
]
TlsCert = Annotated[str, typer.Option(help="PEM file of the client's certificate.")]
Dashboard = Annotated[
    bool, typer.Option("--dashboard", help="Print the address of the Dask dashboard.")
]
TlsKey = Annotated[
    str, typer.Option(help="PEM file of the client's key, unless it is in the certificate's file.")
]


Oversubscribe = Annotated[
    bool,
    typer.Option(
        "--oversubscribe", help="Allow more workers than this machine has cores and memory for."
    ),
]
PER_CORE, FEW = 2, 4  # most workers per core; number of workers that any machine may start


def check_workers(workers: int) -> None:
    """Raise BadParams for more workers than this machine's cores or memory allow."""
    from gangsaw.tasks.engine.scheduling.memory import BASE_BYTES, describe_this_process

    cores, _ = ClusterConfig(threads=1).size
    most = max(FEW, PER_CORE * cores)
    room = (describe_this_process()["memory_limit"] or 0) // BASE_BYTES
    advice = "--oversubscribe starts them all the same, --cluster uses other machines"
    if workers > most:
        raise BadParams(
            f"--workers {workers}: this machine has {cores} cores: set {cores}, or {most} at most; "
            f"{advice}"
        )
    if workers > max(1, room):
        raise BadParams(
            f"--workers {workers}: each needs {BASE_BYTES >> 20} MiB before its first chunk, and "
            f"this machine has memory for {room}: set {room} or fewer; {advice}"
        )


@dataclass(frozen=True)
class Workers:
    """Options for Dask workers on this machine, one per core by default."""

    PANEL: ClassVar[str] = opt.CLUSTER
    workers: opt.Workers = None
    threads: opt.Threads = 0
    oversubscribe: Oversubscribe = False
    dashboard: Dashboard = False

    @property
    def is_here(self) -> bool:
        """True if the command works in this process, without Dask."""
        return self.workers == 0

    @property
    def cluster_or_address(self) -> str:
        """Kind of cluster, or address of a scheduler."""
        return "local"

    @contextmanager
    def session(self, job: Callable[[], object] | None = None) -> Iterator[Client | None]:
        """Yield a Dask client of the requested workers, or None to work in this process.

        A dry run of the job comes first: mistakes are reported before a cluster starts.
        """
        self.check()
        if self.is_here:
            from gangsaw.codecs.core.memory.threads import set_thread_limit

            set_thread_limit(self.threads or None)
            yield None
            return
        from gangsaw.tasks.api import functions
        from gangsaw.tasks.engine.report.dry_run import Depth, plan_job

        if job is not None:
            plan_job(job, Depth.CHECK)
        settings = {
            "workers": self.workers or 0,
            "threads": self.threads,
            **self.cluster_arguments(),
        }
        settings["dashboard"] = self.dashboard
        with functions.workers(**settings, silent=True) as client:  # type: ignore[arg-type]
            if self.dashboard:
                sys.stderr.write(f"dashboard: {functions.page_of(client) or 'none there'}\n")
            yield client

    def check(self) -> None:
        """Raise BadParams for options that contradict each other."""
        if self.is_here and self.dashboard:
            raise BadParams("--dashboard shows workers: without --workers 0, or with --cluster")
        if self.cluster_or_address == "local" and not self.oversubscribe:
            check_workers(self.workers or 0)

    def describe(self) -> dict[str, object]:
        """Return the workers, threads and cluster as shown by --dry-run."""
        self.check()
        if self.is_here:
            return {"place": "here", "words": "threads of this process"}
        if self.cluster_or_address != "local":
            return {
                "place": self.cluster_or_address,
                "words": f"workers of {self.cluster_or_address}",
            }
        workers, threads = ClusterConfig(workers=self.workers or 0, threads=self.threads).size
        words = f"{workers} workers of this machine, {threads} threads each"
        return {"place": "local", "workers": workers, "threads": threads, "words": words}

    def cluster_arguments(self) -> dict[str, object]:
        """Return the arguments of `api.workers` that name a cluster or device."""
        return {}


@dataclass(frozen=True)
class Hosts(Workers):
    """Options for Dask workers on this machine or a cluster, on CPUs."""

    cluster: Kind = ""
    scheduler: opt.Scheduler = ""
    scheduler_file: SchedulerFile = ""
    wait_workers: WorkersAbove = 0
    tls_ca_file: TlsCaFile = ""
    tls_cert: TlsCert = ""
    tls_key: TlsKey = ""

    @property
    def cluster_or_address(self) -> str:
        """Kind of cluster, or address of a scheduler."""
        return self.cluster or self.scheduler or self.scheduler_file or "local"

    @property
    def is_named(self) -> bool:
        """True if a cluster or a scheduler is named."""
        return bool(self.cluster or self.scheduler or self.scheduler_file)

    @property
    def is_here(self) -> bool:
        """True if the command works in this process, without Dask."""
        return self.workers == 0 and not self.is_named

    def check(self) -> None:
        """Raise BadParams for options that contradict each other."""
        super().check()
        of_clusters = (self.wait_workers, self.tls_ca_file, self.tls_cert, self.tls_key)
        if self.is_here and any(of_clusters):
            raise BadParams(
                "--wait-workers and --tls-... are for workers: pass --cluster or --workers"
            )
        if self.is_named and self.workers == 0 and type(self).workers is None:
            raise BadParams(
                "--workers 0 works in this process, and a cluster is named: leave one out"
            )
        if self.cluster == "cuda" and not hasattr(self, "device"):
            raise BadParams("this command has no work for GPUs: pass --cluster local")

    def cluster_arguments(self) -> dict[str, object]:
        """Return the arguments of `api.workers` that name a cluster or device."""
        return {
            "cluster": self.cluster,
            "scheduler": self.scheduler,
            "scheduler_file": self.scheduler_file,
            "wait_workers": self.wait_workers,
            "tls": (self.tls_ca_file, self.tls_cert, self.tls_key),
        }


@dataclass(frozen=True)
class Cluster(Hosts):
    """Options for Dask workers on this machine or a cluster, on CPUs or GPUs."""

    device: opt.Device = "cpu"

    def __post_init__(self) -> None:
        """Set the device to "gpu" for `--cluster cuda`."""
        if self.cluster == "cuda":
            object.__setattr__(self, "device", "gpu")

    def check(self) -> None:
        """Raise BadParams for contradictions, DeviceError if this machine lacks the device."""
        super().check()
        if not self.is_named:
            from gangsaw.tasks.jobs.chunks.device import require_device

            require_device(self.device)

    @property
    def cluster_or_address(self) -> str:
        """Kind of cluster, or address of a scheduler; "cuda" starts one worker per local GPU."""
        found = super().cluster_or_address
        return "cuda" if found == "local" and self.device == "gpu" else found

    def cluster_arguments(self) -> dict[str, object]:
        """Return the arguments of `api.workers` that name a cluster or device."""
        return {**super().cluster_arguments(), "device": self.device}


@dataclass(frozen=True)
class LocalWorkers(Hosts):
    """Options for workers, none by default: for short commands without kernels."""

    workers: opt.FewWorkers = 0


@dataclass(frozen=True)
class LocalOrDeviceWorkers(Cluster):
    """Options for workers on CPUs or GPUs, none by default."""

    workers: opt.FewWorkers = 0
