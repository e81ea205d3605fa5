"""How work is handed to Dask: batches in a sliding window of futures, no graph over the chunks.

The only file of tasks that knows Dask. One graph over a million chunks took two minutes to optimise
and single futures 3.4 ms each; batches in a window of 64 futures cost minutes for a million chunks.
"""

from __future__ import annotations

import queue
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.failure import ChunkFailed
from gangsaw.tasks.memory import check_memory

if TYPE_CHECKING:
    from distributed import Client, Future

WINDOW = 64  # futures in flight at least: hides the scheduler's round trip
TASKS_PER_THREAD = 2  # one runs, one waits
POLL_SECONDS = 2.0  # between two looks for lost workers while nothing finishes

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
    """The futures in flight; each tells a queue when it is finished."""

    def __init__(self, client: Client, task: Task[BatchT, ResultT], options: Options) -> None:
        self.client, self.task, self.options = client, task, options
        self.token = uuid.uuid4().hex[:12]
        self.flying: dict[Future, BatchT] = {}
        self.finished: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self.size = max(WINDOW, TASKS_PER_THREAD * sum(client.nthreads().values()))
        self.submitted = 0

    def run(self, batches: Iterator[BatchT], on_done: Callable[[BatchT, ResultT], None]) -> None:
        try:
            while self.fill(batches):
                for batch, result in self.collect():
                    on_done(batch, result)
        finally:
            self.cancel()

    def fill(self, batches: Iterator[BatchT]) -> bool:
        """Submit until the window is full; return whether anything is in flight."""
        while len(self.flying) < self.size:
            for batch in batches:
                self.submit(batch)
                break
            else:
                break
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
        future.add_done_callback(self.finished.put)

    def collect(self) -> list[tuple[BatchT, ResultT]]:
        """Wait for a finished future; return the results of all that are finished by now."""
        futures = [self.first_finished()]
        with suppress(queue.Empty):
            while True:
                futures.append(self.finished.get_nowait())
        for future in futures:
            self.check(future)
        results = self.gather(futures)
        return [(self.flying.pop(f), r) for f, r in zip(futures, results, strict=True)]

    def first_finished(self) -> Future:
        waiting_since = time.monotonic()
        while True:
            with suppress(queue.Empty):
                return self.finished.get(timeout=POLL_SECONDS)
            if self.has_workers():
                waiting_since = time.monotonic()
            elif time.monotonic() - waiting_since > self.options.worker_seconds:
                raise JobFailed(f"{self.missing_workers()}: start one")

    def check(self, future: Future) -> None:
        """Raise JobFailed for a future that holds no result."""
        if future.status == "error":
            raise JobFailed(_cause(future.exception(), self.flying[future]))
        if future.status != "finished":
            raise self.lost()

    def gather(self, futures: list[Future]) -> list[Any]:
        from distributed.client import FutureCancelledError

        try:
            results = self.client.gather(futures)
        except (FutureCancelledError, OSError, TimeoutError):
            raise self.lost() from None
        for result in results:
            if isinstance(result, ChunkFailed):
                raise JobFailed(str(result)) from result
        return list(results)

    def has_workers(self) -> bool:
        try:
            workers = _workers(self.client)
        except OSError:
            raise self.lost() from None
        return any(self.is_fit(worker) for worker in workers.values())

    def is_fit(self, worker: Mapping[str, Any]) -> bool:
        has = worker.get("resources", {})
        return all(has.get(name, 0) >= need for name, need in self.options.resources.items())

    def missing_workers(self) -> str:
        what = ", ".join(f"{name}={need:g}" for name, need in self.options.resources.items())
        with_what = f" with {what}" if what else ""
        return f"no worker{with_what} for {self.options.worker_seconds:g} s"

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
    return dict(client.scheduler_info()["workers"])


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
