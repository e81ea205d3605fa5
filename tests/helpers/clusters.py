"""Dask workers inside the test's process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from distributed import Client, LocalCluster


@contextmanager
def in_process(
    workers: int = 2, threads: int = 1, memory: int | str = "auto", protocol: str = "inproc://"
) -> Iterator[Client]:
    """Workers of this process on the loopback; "tcp://" lets others reach their scheduler.

    The dashboard's default port is 8787 for every cluster: of two processes that test at the same
    time, the second gets a warning, which pytest turns into an error.
    """
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            memory_limit=memory,
            processes=False,
            protocol=protocol,
            host=None if protocol == "inproc://" else "127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
