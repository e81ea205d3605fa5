"""Dask workers and the status of a scheduler, with cluster errors converted to Gangsaw's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import BadParams, DeviceError, GangsawError, JobFailed
from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.tasks.engine.scheduling.worker_pools import check_device
from gangsaw.tasks.jobs.chunks.device import require_device

if TYPE_CHECKING:
    from distributed import Client


def status(
    address: str = "", *, scheduler_file: str = "", tls: tuple[str, str, str] = ("", "", "")
) -> dict[str, object]:
    """Return the jobs and workers of a scheduler, as in its page /gangsaw.json.

    Parameters
    ----------
    address : address of the scheduler or its dashboard
    tls : see `workers`

    Raises
    ------
    JobFailed : there is no reply
    BadParams : the address is invalid
    """
    with _convert_cluster_errors("cpu"), extras_named():
        from gangsaw.cluster.config import Certificates, ClusterConfig
        from gangsaw.cluster.dashboard.queries import query_scheduler

        config = ClusterConfig(
            scheduler=address,
            scheduler_file=scheduler_file,
            certificates=Certificates(*tls),
            silent=True,
        )
        return query_scheduler(config)


def page_of(client: Client) -> str:
    """Return the address of the dashboard page with a client's jobs; "" if there is none."""
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
    """Yield a Dask client of a running scheduler, or of workers that are started.

    Parameters
    ----------
    workers : int, default 0
        Number of workers; with `device` "gpu" the largest number. 0 leaves it to the machine.
    threads : int, default 0
        Threads of a worker. 0 leaves them to the machine.
    cluster : str, default ""
        Kind of cluster, or a scheduler's address. "" is this machine.
    scheduler : str, default ""
        Address of a running scheduler.
    scheduler_file : str, default ""
        File in which a running scheduler wrote its address.
    wait_workers : int, default 0
        Number of workers to wait for.
    tls : tuple of str, default ("", "", "")
        Files of the certificate authority, the certificate and its key.
    device : {"cpu", "gpu"}, default "cpu"
        "gpu" starts one worker per GPU.
    dashboard : bool, default False
        True serves Dask's dashboard, with the page of `page_of`.
    silent : bool, default False
        True hides the log lines of these workers.

    Yields
    ------
    distributed.Client
        Client for the parameter `client` of other functions.

    Raises
    ------
    JobFailed
        No scheduler answers, no cluster starts or no workers arrive.
    BadParams
        An address, kind or setting is invalid.
    DeviceError
        Something is missing for GPUs.

    See Also
    --------
    gangsaw.cluster.connect : Yield a client, with errors of Dask's own.

    Examples
    --------
    >>> import gangsaw
    >>> import numpy as np
    >>> with gangsaw.workers(workers=1, threads=1) as client:
    ...     gangsaw.compress(np.ones((2, 8, 8), "uint16"), "cube.zarr", client=client).chunks
    1
    """
    check_device(device)
    with _convert_cluster_errors(device), extras_named(), ExitStack() as stack:
        from gangsaw.cluster.config import Certificates, ClusterConfig
        from gangsaw.cluster.kinds import complete_config, start

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
        config = complete_config(cluster, config)
        if config.is_here:
            require_device(config.device)
        client = stack.enter_context(start(config))
        later = stack.pop_all()
    with later:
        yield client


@contextmanager
def _convert_cluster_errors(device: str) -> Iterator[None]:
    """Convert exceptions of a starting cluster to Gangsaw's own."""
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
