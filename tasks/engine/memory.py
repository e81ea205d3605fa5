"""The memory promise: a job says what a task needs, and is refused where a worker has less."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Iterable, Mapping
from typing import TypedDict

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.errors import BadParams

log = logging.getLogger(__name__)

# of a worker with Numba kernels: loaded from a cache 222 MiB, compiled 258 to 302 by processor
BASE_BYTES = 384 << 20
USABLE = 0.8  # of the limit: there Dask pauses a worker
COPIES = 4  # of a chunk: samples read, Zarr's padded copy, codec's work, stored bytes
# of a batch with its samples, in the client: held for a retry, sent, in a scheduler of the same
# process, sent on to a worker; and as much again waits to be cut
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
    shape, chunks, dtype : of the target array
    source_chunks : pieces that the source must read whole, or None
    """
    chunk = dtype.itemsize * math.prod(map(min, chunks, shape))
    if source_chunks is None:
        return COPIES * chunk
    touched = zip(chunks, source_chunks, shape, strict=True)
    read = math.prod(min(n, most_touched(c, s) * s) for c, s, n in touched)
    return COPIES * chunk + dtype.itemsize * read


def most_touched(chunk: int, piece: int) -> int:
    """Return how many pieces of the source one chunk can touch along an axis."""
    if piece % chunk == 0 or chunk % piece == 0:
        return max(1, chunk // piece)
    return -(-chunk // piece) + 1


class Worker(TypedDict, total=False):
    """What the scheduler says of a worker, as far as jobs ask.

    Attributes
    ----------
    name : as the cluster numbers it, or an address
    memory_limit : bytes; 0 or None is none
    nthreads : that run tasks at once
    resources : such as {"GPU": 1}
    """

    name: object
    memory_limit: int | None
    nthreads: int
    resources: Mapping[str, float]


def this_process() -> Worker:
    """Describe this process as a worker of one thread with all memory of the machine."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"name": "of this machine", "memory_limit": total, "nthreads": 1}


def check_memory(peak_bytes: int, workers: Iterable[Worker]) -> None:
    """Raise BadParams where a worker's limit is below what its threads may need at once.

    Parameters
    ----------
    peak_bytes : of one task
    workers : of each worker `memory_limit`, `nthreads` and `name`
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
    """Return how many threads of this process may each need so much, at least 1, at most `threads`.

    Raises BadParams where not even one may.
    """
    here = this_process()
    check_memory(peak_bytes, [here])
    room = int(USABLE * (here["memory_limit"] or 0)) - BASE_BYTES
    fit = min(threads, max(1, room // peak_bytes)) if peak_bytes else threads
    if fit < threads:
        log.warning("memory for %d of %d threads: each may need %s", fit, threads, _mib(peak_bytes))
    return fit


def _mib(n: int) -> str:
    return f"{n / (1 << 20):,.0f} MiB"
