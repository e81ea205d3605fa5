"""What a cluster should be."""

from __future__ import annotations

import os
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ClusterConfig:
    """A cluster of workers; 0 chooses by the machine.

    Attributes
    ----------
    workers : processes; 0 with a thread each makes one per core
    threads : threads of each process; 0 shares the cores among the workers
    memory_limit : bytes of each worker; 0 shares the machine's memory
    dashboard : whether to serve Dask's dashboard, on a free port of the loopback
    processes : False runs the workers as threads of this process
    scheduler : address of a running scheduler; "" starts a cluster on this machine
    connect_seconds : how long to wait for that scheduler
    silent : hide all log lines of scheduler and workers; jobs raise what matters
    resources : what each worker offers, such as {"GPU": 1}
    """

    workers: int = 0
    threads: int = 0
    memory_limit: int = 0
    dashboard: bool = True
    processes: bool = True
    scheduler: str = ""
    connect_seconds: float = 10.0
    silent: bool = False
    resources: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse negative counts."""
        for name in ("workers", "threads", "memory_limit"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be 0 or more, got {getattr(self, name)}")

    @property
    def size(self) -> tuple[int, int]:
        """(workers, threads of each), those that are 0 chosen by the machine."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        workers = self.workers or max(1, (cores or 1) // max(1, self.threads))
        return workers, self.threads or max(1, (cores or 1) // workers)
