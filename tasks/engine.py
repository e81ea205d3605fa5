"""How work is handed to Dask: batches in a sliding window of futures, no graph over the chunks.

The only file of tasks that knows Dask. One graph over a million chunks took two minutes to optimise
and single futures 3.4 ms each; batches in a window of 64 futures cost minutes for a million chunks.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.failure import ChunkFailed
from gangsaw.tasks.memory import check_memory

if TYPE_CHECKING:
    from distributed import Client, Future

log = logging.getLogger(__name__)

WINDOW = 64  # futures in flight at least: hides the scheduler's round trip
TASKS_PER_THREAD = 2  # one runs, one waits
POLL_SECONDS = 2.0  # between two looks for lost workers while nothing finishes
TICK_SECONDS = 0.002  # between two looks for results; most looks find several

BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")
BatchIn = TypeVar("BatchIn", contravariant=True)
ResultOut = TypeVar("ResultOut", covariant=True)


class Task(Protocol[BatchIn, ResultOut]):
    """A chunk function over a batch: frozen, picklable, small (it travels with every batch)."""

    @property
    def name(self) -> str:
        """What the dashboard and messages call it, such as "compress"."""

    @property
    def peak_bytes(self) -> int:
        """Memory that one call needs at most; 0 where nobody promised."""

    def __call__(self, batch: BatchIn, /) -> ResultOut:
        """Do the batch; raise ChunkFailed for one of its chunks. Doing it twice is harmless."""


@dataclass(frozen=True)
class Options:
    """How to run a job on Dask.

    Attributes
    ----------
    resources : what each task takes of a worker's resources, such as {"GPU": 1}
    retries : how often a batch is tried again after an error that may pass
    worker_seconds : how long to wait for a first or a new worker
    """

    resources: Mapping[str, float] = field(default_factory=dict)
    retries: int = 3
    worker_seconds: float = 60.0


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
    batches : what to run it on
    on_done : called in this thread with each batch and its result
    client : Dask client; None runs everything in this thread
    options : how to run it on Dask

    Raises
    ------
    JobFailed
        The first batch that failed for good, or the scheduler or all workers are gone.
    BadParams
        A worker has less memory than the task promised to need.
    KeyboardInterrupt
        After the batches in flight were cancelled.
    """
    if client is None:
        for batch in batches:
            on_done(batch, _run_here(task, batch))
        return
    check_memory(task.peak_bytes, _workers(client).values())
    _Window(client, task, options or Options()).run(iter(batches), on_done)


def on_every_worker(function: Callable[[], None], client: Client | None) -> None:
    """Call the function once in every worker, or here without a client: to compile beforehand."""
    if client is None:
        function()
    else:
        client.run(function)


def _run_here(task: Task[BatchT, ResultT], batch: BatchT) -> ResultT:
    try:
        return task(batch)
    except ChunkFailed as error:
        raise JobFailed(str(error)) from error


def _run_on_worker(task: Task[BatchT, ResultT], batch: BatchT) -> ResultT | ChunkFailed:
    """Return an error that is final as a value, so that Dask does not retry it."""
    try:
        return task(batch)
    except ChunkFailed as error:
        if error.passing:
            raise
        return error


class _Window(Generic[BatchT, ResultT]):
    """The futures in flight. Results are fetched in the background, many round trips at once."""

    def __init__(self, client: Client, task: Task[BatchT, ResultT], options: Options) -> None:
        from distributed import as_completed

        self.client, self.task, self.options = client, task, options
        self.token = uuid.uuid4().hex[:12]
        self.flying: dict[Future, BatchT] = {}
        self.arriving = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        self.size = max(WINDOW, TASKS_PER_THREAD * sum(client.nthreads().values()))
        self.submitted = 0
        self.alone_since: float | None = None  # without a worker

    def run(self, batches: Iterator[BatchT], on_done: Callable[[BatchT, ResultT], None]) -> None:
        try:
            while self.fill(batches):
                for future, result in self.arrived():
                    self.check(future, result)
                    on_done(self.flying.pop(future), result)
        finally:
            self.cancel()

    def fill(self, batches: Iterator[BatchT]) -> bool:
        """Submit until the window is full; return whether anything is in flight."""
        for batch in islice(batches, self.size - len(self.flying)):
            self.submit(batch)
        return bool(self.flying)

    def submit(self, batch: BatchT) -> None:
        future = self.client.submit(
            _run_on_worker,
            self.task,
            batch,
            key=(f"{self.task.name}-{self.token}", self.submitted),
            pure=False,
            retries=self.options.retries,
            resources=dict(self.options.resources) or None,
        )
        self.submitted += 1
        self.flying[future] = batch
        self.arriving.add(future)

    def arrived(self) -> list[tuple[Future, Any]]:
        """Wait for a result; return all that are there by then.

        No call of Dask may block here: it would block for ever when the last worker goes.
        """
        polled = time.monotonic()
        while not self.arriving.has_ready():
            time.sleep(TICK_SECONDS)
            if time.monotonic() - polled >= POLL_SECONDS:
                self.look_for_workers()
                polled = time.monotonic()
        found: list[tuple[Future, Any]] = self.arriving.next_batch(block=False)
        return found

    def look_for_workers(self) -> None:
        """Say it once when there is none; raise JobFailed where none comes in time."""
        limit = self.options.worker_seconds
        if self.has_workers():
            self.alone_since = None
        elif self.alone_since is None:
            self.alone_since = time.monotonic()
            where = self.client.scheduler.address
            log.warning("%s at %s: waiting up to %g s for one", self.no_worker(), where, limit)
        elif time.monotonic() - self.alone_since > limit:
            raise JobFailed(f"{self.no_worker()} for {limit:g} s: start one")

    def check(self, future: Future, result: Any) -> None:
        """Raise JobFailed unless the future has its result."""
        if isinstance(result, ChunkFailed):
            raise JobFailed(str(result)) from result
        if future.status == "error":
            raise JobFailed(_cause(result[1], self.flying[future]))  # the result is sys.exc_info()
        if future.status == "cancelled" or isinstance(result, BaseException):
            raise self.lost()

    def has_workers(self) -> bool:
        if any(future.status == "cancelled" for future in self.flying):
            raise self.lost()
        try:
            workers = _workers(self.client)
        except (OSError, RuntimeError, ValueError):  # broken, closing and closed client
            raise self.lost() from None
        return any(self.is_fit(worker) for worker in workers.values())

    def is_fit(self, worker: Mapping[str, Any]) -> bool:
        has = worker.get("resources", {})
        return all(has.get(name, 0) >= need for name, need in self.options.resources.items())

    def no_worker(self) -> str:
        what = ", ".join(f"{name}={need:g}" for name, need in self.options.resources.items())
        return f"no worker{f' with {what}' if what else ''}"

    def lost(self) -> JobFailed:
        address = getattr(self.client.scheduler, "address", "?")
        return JobFailed(f"lost the scheduler at {address}: start one")

    def cancel(self) -> None:
        """Give up what is in flight; batches that already run end on their own, harmlessly."""
        if self.flying and self.client.status == "running":
            with suppress(Exception):
                self.client.cancel(list(self.flying), force=True)
        self.flying.clear()


def _workers(client: Client) -> dict[str, Any]:
    # all of them: the default of some versions is the first five
    return dict(client.scheduler_info(n_workers=-1)["workers"])


def _cause(error: BaseException | None, batch: object) -> str:
    """Say in one line why a batch failed in the hands of Dask."""
    from distributed import KilledWorker

    if isinstance(error, ChunkFailed):
        return str(error)
    if isinstance(error, KilledWorker):
        return f"chunks {batch}: killed {error.allowed_failures + 1} workers: out of memory?"
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, ImportError) or "deserializ" in text:
        return f"a worker or the scheduler cannot load gangsaw, install the same version: {text}"
    return f"chunks {batch}: {text}"
