"""The panel of options for where a command runs."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from gangsaw.tasks.console import options as opt

if TYPE_CHECKING:
    from distributed import Client


@dataclass(frozen=True)
class Workers:
    """Workers of this machine, one per core unless said."""

    PANEL: ClassVar[str] = opt.CLUSTER
    workers: opt.Workers = None
    threads: opt.Threads = 0

    def session(self) -> AbstractContextManager[Client | None]:
        """Yield a Dask client of such workers, or None to work in this process."""
        return opt.session(self.workers, self.threads, "")


@dataclass(frozen=True)
class Hosts(Workers):
    """Workers of this machine or of a scheduler, on CPUs."""

    scheduler: opt.Scheduler = ""

    def session(self) -> AbstractContextManager[Client | None]:
        """Yield a Dask client of such workers, or None to work in this process."""
        return opt.session(self.workers, self.threads, self.scheduler)


@dataclass(frozen=True)
class Cluster(Workers):
    """Workers of this machine or of a scheduler, on CPUs or GPUs."""

    scheduler: opt.Scheduler = ""
    device: opt.Device = "cpu"

    def session(self) -> AbstractContextManager[Client | None]:
        """Yield a Dask client of such workers, or None to work in this process."""
        return opt.session(self.workers, self.threads, self.scheduler, self.device)


@dataclass(frozen=True)
class Near(Hosts):
    """This process unless workers are asked for: for short commands without kernels."""

    workers: opt.Workers = 0


@dataclass(frozen=True)
class NearOrDevice(Near):
    """As `Near`, on CPUs or GPUs."""

    device: opt.Device = "cpu"

    def session(self) -> AbstractContextManager[Client | None]:
        """Yield a Dask client of such workers, or None to work in this process."""
        return opt.session(self.workers, self.threads, self.scheduler, self.device)
