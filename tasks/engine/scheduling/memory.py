"""Memory check before a job: tasks state their peak memory, and workers with less are refused."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping
from typing import TypedDict

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.memory.limits import memory_bytes

log = logging.getLogger(__name__)

# of a worker with Numba kernels: 222 MiB if cached, 258 to 302 MiB (by processor) if compiled
BASE_BYTES = 384 << 20
USABLE = 0.8  # fraction of the memory limit at which Dask pauses a worker
COPIES = 4  # of a chunk: samples, Zarr's padded copy, work space of the codec, stored bytes
# copies of a batch with samples in the client: one for a retry, one sent, one in a scheduler of
# the same process, one sent on to a worker; as many samples again wait to be cut
CARRIED_COPIES = 5


def transcode_bytes(
    shape: tuple[int, ...],
    chunks: tuple[int, ...],
    dtype: Dtype,
    source_chunks: tuple[int, ...] | None,
) -> int:
    """Return the peak bytes of one task that reads, encodes and stores one chunk at a time.

    Parameters
    ----------
    shape, chunks, dtype : extents, chunk extents and dtype of the target array
    source_chunks : chunk shape of the source, whose chunks are read whole, or None
    """
    chunk = dtype.itemsize * math.prod(map(min, chunks, shape))
    if source_chunks is None:
        return COPIES * chunk
    touched = zip(chunks, source_chunks, shape, strict=True)
    read = math.prod(min(n, count_overlaps(c, s) * s) for c, s, n in touched)
    return COPIES * chunk + dtype.itemsize * read


def count_overlaps(chunk: int, piece: int) -> int:
    """Return the largest number of source chunks that a target chunk overlaps along one axis.

    Parameters
    ----------
    chunk, piece : extents of a target chunk and of a source chunk along the axis
    """
    if piece % chunk == 0 or chunk % piece == 0:
        return max(1, chunk // piece)
    return -(-chunk // piece) + 1


class Worker(TypedDict, total=False):
    """Description of a worker by the scheduler, restricted to the fields that jobs use.

    Attributes
    ----------
    name : number in its cluster, or an address
    memory_limit : bytes; 0 or None if there is no limit
    nthreads : number of threads that run tasks
    resources : such as {"GPU": 1}
    """

    name: object
    memory_limit: int | None
    nthreads: int
    resources: Mapping[str, float]


def describe_this_process() -> Worker:
    """Describe this process as a worker with one thread and all memory that it may use."""
    return {"name": "of this machine", "memory_limit": memory_bytes(), "nthreads": 1}


def check_memory(peak_bytes: int, workers: Iterable[Worker]) -> None:
    """Raise BadParams if a worker's memory limit is below the need of all its threads.

    Parameters
    ----------
    peak_bytes : upper bound of the memory of one task
    workers : each with `memory_limit`, `nthreads` and `name`
    """
    for worker in workers:
        limit, threads = worker["memory_limit"] or 0, worker["nthreads"]
        need = int((BASE_BYTES + threads * peak_bytes) / USABLE)
        if peak_bytes and limit and need > limit:
            raise BadParams(
                f"worker {worker['name']} has {_mib(limit)} for {threads} threads, which need "
                f"{_mib(need)} ({_mib(peak_bytes)} per task): use smaller chunks, fewer threads "
                f"per worker or a higher memory limit"
            )


def threads_that_fit(peak_bytes: int, threads: int) -> int:
    """Return the number of threads, 1 to `threads`, that may use `peak_bytes` each in this process.

    Raises BadParams if the memory does not suffice for one thread.
    """
    here = describe_this_process()
    check_memory(peak_bytes, [here])
    room = int(USABLE * (here["memory_limit"] or 0)) - BASE_BYTES
    fit = min(threads, max(1, room // peak_bytes)) if peak_bytes else threads
    if fit < threads:
        log.warning("memory for %d of %d threads: each may need %s", fit, threads, _mib(peak_bytes))
    return fit


def _mib(n: int) -> str:
    return f"{n / (1 << 20):,.0f} MiB"
