"""Configuration of a cluster."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from gangsaw.codecs.core.memory.limits import cores, memory_bytes

ADDRESS = "://"  # part of every scheduler address, and of no kind
HERE = {"local", "cuda"}  # kinds with workers on this machine
QUEUED = {"slurm", "kubernetes"}  # kinds with workers that wait in a queue


@dataclass(frozen=True)
class Certificates:
    """TLS files of the user, in PEM; "" leaves each to Dask's configuration.

    Parameters
    ----------
    ca_file : str, default ""
        Certificate of the authority that signed all certificates of the cluster.
    cert : str, default ""
        Certificate of this client.
    key : str, default ""
        Private key of `cert`; "" reads it from the file `cert`.

    See Also
    --------
    connect : Yield a client, also with certificates.

    Examples
    --------
    >>> from gangsaw.cluster import Certificates
    >>> Certificates() == Certificates("", "", "")
    True
    >>> Certificates("missing.pem", "client.pem")
    Traceback (most recent call last):
        ...
    ValueError: missing.pem: no such file of certificates
    """

    ca_file: str = ""
    cert: str = ""
    key: str = ""

    def __post_init__(self) -> None:
        """Check that authority and certificate are given together, and that the files exist."""
        if (self.ca_file == "") != (self.cert == "") or (self.key and not self.cert):
            raise ValueError("TLS needs both: --tls-ca-file and --tls-cert")
        for file in filter(None, (self.ca_file, self.cert, self.key)):
            if not os.path.isfile(file):  # noqa: PTH113  # Dask keeps paths as text
                raise ValueError(f"{file}: no such file of certificates")

    def __bool__(self) -> bool:
        """Return True if files are given."""
        return bool(self.ca_file)


@dataclass(frozen=True)
class ClusterConfig:
    """Configuration of a Dask cluster; 0 leaves a number to the machine, or to its kind's settings.

    Attributes
    ----------
    kind : kind of cluster, a name in `kinds.KINDS`
    workers : number of processes; 0 with a thread each makes one per core
    threads : threads of each process; 0 shares the cores among the workers
    memory_limit : bytes of each worker; 0 shares the machine's memory
    dashboard : True serves Dask's dashboard, by default on a free port of the loopback
    processes : False runs the workers as threads of this process
    scheduler : address of a running scheduler; "" starts a cluster
    scheduler_file : file in which a running scheduler wrote its address
    connect_seconds : time limit of the connection to that scheduler; 0 leaves it to the settings
    wait_workers : number of workers to wait for before the client is yielded
    silent : hide all log lines of scheduler and workers; jobs raise the errors that matter
    device : "gpu" requests GPUs from the batch system
    certificates : TLS certificates of the user
    resources : Dask resources of each worker, such as {"GPU": 1}
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
        """Check that counts are not negative and that the options agree."""
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
        """True if the scheduler runs already."""
        return bool(self.scheduler or self.scheduler_file)

    @property
    def is_here(self) -> bool:
        """True if the workers are started on this machine."""
        return self.kind in HERE and not self.is_running

    @property
    def is_queued(self) -> bool:
        """True if the workers may have to wait in a queue."""
        return self.kind in QUEUED and not self.is_running

    @property
    def size(self) -> tuple[int, int]:
        """Number of workers, and threads per worker; zeros are replaced by the machine's cores."""
        n = cores()
        workers = self.workers or max(1, n // max(1, self.threads))
        return workers, self.threads or max(1, n // workers)

    @property
    def worker_memory(self) -> int:
        """Memory limit of each worker on this machine, in bytes.

        Dask would read only the limits of the root control group, and divide them by all cores.
        """
        workers, threads = self.size
        share = min(1 / workers, threads / cores())
        return self.memory_limit or int(memory_bytes() * share)
