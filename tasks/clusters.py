"""Workers by a few numbers, and what a running scheduler tells: errors of clusters as ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import BadParams, DeviceError, GangsawError, JobFailed
from gangsaw.codecs.core.extras import extras_named
from gangsaw.tasks.engine.pools import checked_device
from gangsaw.tasks.jobs.device import check_here

if TYPE_CHECKING:
    from distributed import Client


def status(
    address: str = "", *, scheduler_file: str = "", tls: tuple[str, str, str] = ("", "", "")
) -> dict[str, object]:
    """Return what a scheduler tells of jobs and workers, as its page /gangsaw.json does.

    `address` is the scheduler's or its dashboard's; `tls` as of `workers`. Raises JobFailed where
    nothing answers, BadParams for what is no address.
    """
    with _as_ours("cpu"), extras_named():
        from gangsaw.cluster.config import Certificates, ClusterConfig
        from gangsaw.cluster.dashboard.asking import ask

        config = ClusterConfig(
            scheduler=address,
            scheduler_file=scheduler_file,
            certificates=Certificates(*tls),
            silent=True,
        )
        return ask(config)


def page_of(client: Client) -> str:
    """Return the address of the page that shows the jobs of a client; "" where there is none."""
    from gangsaw.cluster.dashboard.install import page_of as found

    return found(client)


@contextmanager
def workers(
    *,
    workers: int = 0,
    threads: int = 0,
    cluster: str = "",
    scheduler: str = "",
    scheduler_file: str = "",
    wait_workers: int = 0,
    tls: tuple[str, str, str] = ("", "", ""),
    device: str = "cpu",
    dashboard: bool = False,
    silent: bool = False,
) -> Iterator[Client]:
    """Yield a Dask client: of a scheduler's address or file, or of workers that are started.

    `dashboard` serves Dask's, with the page that `page_of` names.
    `cluster` is a kind, by default this machine, or a scheduler's address. `device` "gpu" starts
    one worker per GPU, `workers` of them at most. `tls` are files of the authority, the certificate
    and its key. `silent` hides the log lines of these workers. Raises JobFailed where no scheduler
    answers, no cluster starts or no workers come, BadParams for what is no address, kind or
    setting, DeviceError for what is missing for GPUs.
    """
    checked_device(device)
    with _as_ours(device), extras_named(), ExitStack() as stack:
        from gangsaw.cluster.config import Certificates, ClusterConfig
        from gangsaw.cluster.kinds import configured, start

        config = ClusterConfig(
            workers=workers,
            threads=threads,
            scheduler=scheduler,
            scheduler_file=scheduler_file,
            wait_workers=wait_workers,
            certificates=Certificates(*tls),
            device=device,
            dashboard=dashboard,
            silent=silent,
        )
        config = configured(cluster, config)
        if config.is_here:
            check_here(config.device)
        client = stack.enter_context(start(config))
        later = stack.pop_all()
    with later:
        yield client


@contextmanager
def _as_ours(device: str) -> Iterator[None]:
    """Raise what a cluster raises before it is there as errors of ours."""
    try:
        yield
    except ConnectionError as error:
        raise JobFailed(str(error)) from error
    except ValueError as error:
        raise BadParams(str(error)) from error
    except (ModuleNotFoundError, RuntimeError) as error:
        if isinstance(error, GangsawError):
            raise
        raise (DeviceError if device == "gpu" else JobFailed)(str(error)) from error
