"""What a cluster should be."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

ADDRESS = "://"  # what a scheduler's address has, and no kind
HERE = {"local", "cuda"}  # kinds whose workers run on this machine
QUEUED = {"slurm", "kubernetes"}  # whose workers come when there is room for them


@dataclass(frozen=True)
class Certificates:
    """Files of the user's TLS, in PEM; "" leaves each to Dask's configuration.

    Attributes
    ----------
    ca_file : of the authority that signed all certificates of the cluster
    cert : our certificate
    key : its key; "" takes the one in `cert`
    """

    ca_file: str = ""
    cert: str = ""
    key: str = ""

    def __post_init__(self) -> None:
        """Refuse a certificate without authority, and the other way round."""
        if (self.ca_file == "") != (self.cert == "") or (self.key and not self.cert):
            raise ValueError("TLS needs both: --tls-ca-file and --tls-cert")
        for file in filter(None, (self.ca_file, self.cert, self.key)):
            if not os.path.isfile(file):  # noqa: PTH113  # Dask keeps paths as text
                raise ValueError(f"{file}: no such file of certificates")

    def __bool__(self) -> bool:
        """Whether any is given."""
        return bool(self.ca_file)


@dataclass(frozen=True)
class ClusterConfig:
    """A cluster of workers; 0 chooses by the machine, or by the settings of its kind.

    Attributes
    ----------
    kind : a name of `kinds.KINDS`
    workers : processes; 0 with a thread each makes one per core
    threads : threads of each process; 0 shares the cores among the workers
    memory_limit : bytes of each worker; 0 shares the machine's memory
    dashboard : whether to serve Dask's dashboard, by default on a free port of the loopback
    processes : False runs the workers as threads of this process
    scheduler : address of a running scheduler; "" starts a cluster
    scheduler_file : file in which a running scheduler wrote its address
    connect_seconds : how long to wait for that scheduler; 0 leaves it to the settings
    wait_workers : how many workers have to be there before the client is yielded
    silent : hide all log lines of scheduler and workers; jobs raise what matters
    device : "gpu" asks the batch system for GPUs
    certificates : of TLS
    resources : what each worker offers, such as {"GPU": 1}
    """

    kind: str = "local"
    workers: int = 0
    threads: int = 0
    memory_limit: int = 0
    dashboard: bool = True
    processes: bool = True
    scheduler: str = ""
    scheduler_file: str = ""
    connect_seconds: float = 0.0
    wait_workers: int = 0
    silent: bool = False
    device: str = "cpu"
    certificates: Certificates = Certificates()
    resources: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse negative counts, and options that contradict each other."""
        for name in ("workers", "threads", "memory_limit", "wait_workers"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be 0 or more, got {getattr(self, name)}")
        if self.scheduler and self.scheduler_file:
            raise ValueError("a scheduler is named by its address or by its file, not by both")
        if self.is_running and (self.workers or self.threads):
            raise ValueError(
                "a running scheduler has its workers: leave --workers and --threads out"
            )
        if self.scheduler.startswith("tcp://") and self.certificates:
            raise ValueError(
                f"{self.scheduler} is not encrypted: certificates need tls://HOST:PORT"
            )
        if 0 < self.workers < self.wait_workers:
            raise ValueError(f"{self.wait_workers} of {self.workers} workers will never be there")

    @property
    def is_running(self) -> bool:
        """Whether the scheduler runs already."""
        return bool(self.scheduler or self.scheduler_file)

    @property
    def is_here(self) -> bool:
        """Whether its workers are started on this machine."""
        return self.kind in HERE and not self.is_running

    @property
    def is_queued(self) -> bool:
        """Whether its workers come when there is room for them."""
        return self.kind in QUEUED and not self.is_running

    @property
    def size(self) -> tuple[int, int]:
        """(workers, threads of each), those that are 0 chosen by the machine."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        workers = self.workers or max(1, (cores or 1) // max(1, self.threads))
        return workers, self.threads or max(1, (cores or 1) // workers)
