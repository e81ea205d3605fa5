"""How work is submitted to Dask: batches in a sliding window of futures, no graph over the chunks.
Of tasks only this file, `batches.py` and `bags.py` import Dask. A graph over a million chunks would
have to be optimised before the first one runs, and each future has its messages. So a future takes
several batches where they are short.
"""

from __future__ import annotations

import logging
import math
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from gangsaw.cluster.interrupts import Waiting, interrupts_wait
from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.engine.batches import Done, do_batches
from gangsaw.tasks.engine.failure import ChunkFailed
from gangsaw.tasks.engine.here import in_threads, on_device, one_by_one, taken
from gangsaw.tasks.engine.memory import CARRIED_COPIES, Worker, check_memory, this_process
from gangsaw.tasks.engine.pools import (
    CARRIED_BYTES,
    SLOTS,
    TASKS_PER_THREAD,
    Device,
    Pool,
    Workers,
    checked_device,
    gpu_slots,
    make_pools,
    most_carried,
    with_gpu,
)
from gangsaw.tasks.engine.work import DeviceTask, Task, carried_bytes

if TYPE_CHECKING:
    from distributed import Client, Future

log = logging.getLogger(__name__)

POLL_SECONDS = 2.0  # between two checks for lost workers while nothing finishes
TICK_SECONDS = 0.002  # between two checks for results; most find several

BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Options:
    """How to run a job on Dask.

    Attributes
    ----------
    resources : what each task takes of a worker's resources, such as {"SAW": 1}; with device "gpu"
        the tasks choose them
    retries : how often a single batch is tried again after a transient error
    worker_seconds : how long to wait for a first or a new worker
    device : "gpu" needs a DeviceTask; workers with the resource GPU=1 do many batches at once on
        it, workers without do theirs on the CPU
    """

    resources: Mapping[str, float] = field(default_factory=dict)
    retries: int = 3
    worker_seconds: float = 60.0
    device: Device = "cpu"

    def __post_init__(self) -> None:
        """Refuse unknown devices."""
        checked_device(self.device)


def run(
    task: Task[BatchT, ResultT],
    batches: Iterable[BatchT],
    on_done: Callable[[BatchT, ResultT], None],
    *,
    client: Client | None = None,
    options: Options | None = None,
) -> None:
    """Run the task on every batch, in any order; return when all are done.

    Parameters
    ----------
    task : the chunk function
    batches : what to run it on; where their number is known, workers end together
    on_done : called in this thread with each batch and its result
    client : Dask client; None runs everything in this thread, or batches that carry their samples
        in as many threads as this process may use
    options : how to run it on Dask

    Raises
    ------
    JobFailed
        The first batch that failed for good, or the scheduler or all workers are gone.
    BadParams
        A worker has less memory than the task promised to need.
    KeyboardInterrupt
        After Ctrl-C, between two results, when the batches in flight were cancelled; a second
        Ctrl-C does not wait.
    """
    options = options or Options()
    with interrupts_wait() as interrupts:
        if client is not None:
            _on_workers(task, batches, on_done, client, options, interrupts)
        elif options.device == "gpu":
            on_device(cast("DeviceTask[BatchT, ResultT]", task), batches, on_done, interrupts)
        elif carried_bytes(task):
            in_threads(task, batches, on_done, interrupts)
        else:
            one_by_one(task, batches, on_done, interrupts)


def on_every_worker(function: Callable[[], None], client: Client | None) -> None:
    """Call the function once in every worker, or here without a client, to compile beforehand."""
    if client is None:
        function()
    else:
        client.run(function)


def _is_host(worker: Worker, options: Options) -> bool:
    return options.device == "cpu" or not gpu_slots(worker)


def _check_gpus(task: DeviceTask[BatchT, ResultT], workers: Workers) -> None:
    found = with_gpu(workers.values())
    if workers and not found:
        raise JobFailed(
            f"none of the {len(workers)} workers has a GPU: start one with --resources GPU=1 "
            f"--nthreads {SLOTS}, or leave --device gpu out"
        )
    check_memory(task.device_peak_bytes, found)


def _on_workers(
    task: Task[BatchT, ResultT],
    batches: Iterable[BatchT],
    on_done: Callable[[BatchT, ResultT], None],
    client: Client,
    options: Options,
    interrupts: Waiting,
) -> None:
    workers = _workers(client)
    check_memory(task.peak_bytes, (w for w in workers.values() if _is_host(w, options)))
    if options.device == "gpu":
        _check_gpus(cast("DeviceTask[BatchT, ResultT]", task), workers)
    carried = carried_bytes(task)
    wanted = TASKS_PER_THREAD * sum(worker["nthreads"] for worker in workers.values())
    in_flight = min(most_carried(carried), wanted)
    check_memory(CARRIED_COPIES * carried * in_flight, [this_process()])
    left = len(batches) if isinstance(batches, Sized) else None
    with _large_graphs() if carried else nullcontext():
        _InFlight(client, task, options, left, interrupts).run(iter(batches), on_done)


@dataclass(frozen=True)
class _Flight(Generic[BatchT]):
    """What a future does: the batches it was given, and the pool that it counts in."""

    pool: Pool
    batches: tuple[BatchT, ...]

    def __str__(self) -> str:
        names = [str(batch) for batch in self.batches]
        return names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]}"


class _InFlight(Generic[BatchT, ResultT]):
    """The futures in flight. Results are fetched in the background, many round trips at once."""

    def __init__(
        self,
        client: Client,
        task: Task[BatchT, ResultT],
        options: Options,
        left: int | None,
        interrupts: Waiting,
    ) -> None:
        from distributed import as_completed

        self.client, self.task, self.options = client, task, options
        self.interrupts = interrupts
        self.left = left  # batches that no task has, where that is known
        self.again: deque[BatchT] = deque()  # that a task gave back
        self.alone: deque[BatchT] = deque()  # the same after a transient error
        self.token = uuid.uuid4().hex[:12]
        self.flying: dict[Future, _Flight[BatchT]] = {}
        self.arriving = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        n_batches = getattr(task, "device_batches", 1)
        carried = most_carried(carried_bytes(task))
        self.pools = make_pools(options.device, n_batches, options.resources, carried)
        self.submitted = 0
        self.alone_since: float | None = None  # without a worker
        self.looked = -math.inf  # when it last saw the workers
        self.missing: Pool | None = None  # has something in flight, and no worker

    def run(self, batches: Iterator[BatchT], on_done: Callable[[BatchT, ResultT], None]) -> None:
        try:
            while self.fill(batches):
                for future, done in self.arrived():
                    self.check(future, done)
                    flight = self.flying.pop(future)
                    n = len(done.results)
                    flight.pool.landed(n, done.seconds)
                    for batch, result in zip(flight.batches[:n], done.results, strict=True):
                        self.interrupts.let_in()  # short batches come by the hundred
                        on_done(batch, result)
                    self.take_back(flight.batches[n:], done.error)
        finally:
            self.cancel()

    def fill(self, batches: Iterator[BatchT]) -> bool:
        """Submit in turn to each pool until all are full; return whether anything is in flight."""
        if time.monotonic() - self.looked > POLL_SECONDS:
            self.has_workers()
        while free := [pool for pool in self.pools if pool.has_room]:
            for pool in free:
                if not (batches_of_task := self.next(batches, pool.share(self.left))):
                    return bool(self.flying)
                self.submit(pool, batches_of_task)
        return bool(self.flying)

    def next(self, batches: Iterator[BatchT], n: int) -> tuple[BatchT, ...]:
        """Return what the next task gets: what was given back comes first."""
        if self.alone:
            return (self.alone.popleft(),)
        if self.again:
            return tuple(self.again.popleft() for _ in range(min(n, len(self.again))))
        return taken(batches, n, self.interrupts)

    def take_back(self, undone: Sequence[BatchT], error: ChunkFailed | None) -> None:
        """Take batches that a task did not do; the one that failed goes alone: Dask retries it."""
        if self.left is not None:
            self.left += len(undone)
        if error is not None:
            self.alone.append(undone[0])
        self.again.extend(undone if error is None else undone[1:])

    def submit(self, pool: Pool, batches: tuple[BatchT, ...]) -> None:
        future = self.client.submit(
            do_batches,
            self.task,
            pool.device,
            batches,
            key=(f"{self.task.name}-{self.token}", self.submitted),
            pure=False,
            retries=self.options.retries,
            resources=dict(pool.resources) or None,
            workers=list(pool.addresses) or None,
            allow_other_workers=bool(pool.addresses),  # used if these are gone before it has run
        )
        self.submitted += 1
        self.left = None if self.left is None else self.left - len(batches)
        pool.flying += 1
        self.flying[future] = _Flight(pool, batches)
        self.arriving.add(future)

    def arrived(self) -> list[tuple[Future, Done[ResultT]]]:
        """Wait for a result; return all that are there by then.

        No call of Dask may block here: it would block for ever when the last worker is lost.
        """
        polled = time.monotonic()
        while not self.arriving.has_ready():
            time.sleep(TICK_SECONDS)
            self.interrupts.let_in()
            if time.monotonic() - polled >= POLL_SECONDS:
                self.look_for_workers()
                polled = time.monotonic()
        self.alone_since = None  # a result means that there was a worker
        found: list[tuple[Future, Done[ResultT]]] = self.arriving.next_batch(block=False)
        return found

    def look_for_workers(self) -> None:
        """Log once that there is no worker; raise JobFailed where none comes in time."""
        limit = self.options.worker_seconds
        if self.has_workers():
            self.alone_since = None
        elif self.alone_since is None:
            self.alone_since = time.monotonic()
            where = self.client.scheduler.address
            log.warning("%s at %s: waiting up to %g s for one", self.no_worker(), where, limit)
        elif time.monotonic() - self.alone_since > limit:
            raise JobFailed(f"{self.no_worker()} for {limit:g} s: start one")

    def check(self, future: Future, result: object) -> None:
        """Raise JobFailed unless the future has its results."""
        if isinstance(result, Done) and result.error is not None and not result.error.passing:
            raise JobFailed(str(result.error)) from result.error
        if future.status == "error":
            error = result[1] if isinstance(result, tuple) else None  # it is sys.exc_info()
            raise JobFailed(_cause(error, self.flying[future]))
        if future.status == "cancelled" or isinstance(result, BaseException):
            raise self.lost()

    def has_workers(self) -> bool:
        """Follow the workers; return whether each pool with something in flight has one."""
        if any(future.status == "cancelled" for future in self.flying):
            raise self.lost()
        try:
            workers = _workers(self.client)
        except (OSError, RuntimeError, ValueError):  # broken, closing and closed client
            raise self.lost() from None
        self.looked = time.monotonic()
        for pool in self.pools:
            pool.update(workers)
        self.missing = next((p for p in self.pools if p.flying and not p.can_run(workers)), None)
        return self.missing is None

    def no_worker(self) -> str:
        return f"no {self.missing}"

    def lost(self) -> JobFailed:
        address = getattr(self.client.scheduler, "address", "?")
        return JobFailed(f"lost the scheduler at {address}: start one")

    def cancel(self) -> None:
        """Cancel what is in flight; batches that already run finish harmlessly."""
        if self.flying and self.client.status == "running":
            with suppress(Exception):
                self.client.cancel(list(self.flying), force=True)
        self.flying.clear()


def _large_graphs() -> AbstractContextManager[object]:
    """Let Dask take batches with their samples, of which it warns.

    They go through the scheduler, which gives them to another worker when one is lost, as it does
    with all batches. To scatter them to workers directly takes half the client's processor time (20
    ms instead of 40 for 32 MiB, of which the encoder needs a second), but those of a lost worker
    would be lost, and need a second mechanism.
    """
    import dask

    most = 2 * CARRIED_BYTES
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": most})


def _workers(client: Client) -> dict[str, Worker]:
    # all of them: the default of some versions is the first five
    return dict(client.scheduler_info(n_workers=-1)["workers"])


def _cause(error: BaseException | None, batch: object) -> str:
    """Say in one line why Dask lost a batch."""
    from distributed import KilledWorker

    if isinstance(error, ChunkFailed):
        return str(error)
    if isinstance(error, KilledWorker):
        return f"chunks {batch}: killed {error.allowed_failures + 1} workers: out of memory?"
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, ImportError) or "deserializ" in text:
        return f"a worker or the scheduler cannot load gangsaw, install the same version: {text}"
    return f"chunks {batch}: {text}"
