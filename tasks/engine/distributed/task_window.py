"""Tasks in flight: batches in a sliding window of futures, without a graph over the chunks.

A graph over a million chunks would have to be optimised before the first one runs. Each future has
its messages, so a future takes several short batches.
"""

from __future__ import annotations

import logging
import math
import time
import uuid
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from distributed import KilledWorker, as_completed
from distributed.protocol.pickle import loads

from gangsaw.cluster.interrupts import DeferredInterrupts
from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.engine.distributed.calls import pack_call
from gangsaw.tasks.engine.distributed.stragglers import Turnaround, workers_for_copy
from gangsaw.tasks.engine.distributed.watch import (
    HEARD_SECONDS,
    POLL_SECONDS,
    ClusterWatch,
    lost_scheduler,
)
from gangsaw.tasks.engine.report.counters import JobCounters
from gangsaw.tasks.engine.report.failure import ChunkFailed
from gangsaw.tasks.engine.scheduling.batch_size import Pace
from gangsaw.tasks.engine.scheduling.batches import TaskResult, do_batches
from gangsaw.tasks.engine.scheduling.lazy import BatchSupply
from gangsaw.tasks.engine.scheduling.work import Task, carried_bytes
from gangsaw.tasks.engine.scheduling.worker_pools import (
    Device,
    Pool,
    Workers,
    make_pools,
    most_carried,
)

if TYPE_CHECKING:
    from distributed import Client, Future

log = logging.getLogger(__name__)

MOST_FAILED = 100  # failed chunks before the job ends
MOST_INCOMPATIBLE = 1000  # tasks that incompatible workers may get before they are detected

Key = tuple[str, int]
BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")


class WindowOptions(Protocol):
    """Subset of `run.Options` that `TaskWindow` reads."""

    @property
    def resources(self) -> Mapping[str, float]:
        """Worker resources that each task occupies."""

    @property
    def retries(self) -> int:
        """Number of retries of a single batch after a transient error."""

    @property
    def device(self) -> Device:
        """Device on which batches run."""


@dataclass(eq=False)
class _Submission(Generic[BatchT]):
    """Task that is in flight on the cluster, with its copies.

    Attributes
    ----------
    pool : pool in which the task is counted
    batches : batches of the task
    since : time.monotonic() at its submission
    futures : futures of the task, and of its copies if it is a straggler
    attempts : 1 plus the number of times that it was found to be a straggler
    """

    pool: Pool
    batches: Sequence[BatchT]
    since: float = field(default_factory=time.monotonic)
    futures: list[Future] = field(default_factory=list)
    attempts: int = 1

    def __str__(self) -> str:
        first, last = str(self.batches[0]), str(self.batches[-1])
        return first if len(self.batches) == 1 else f"{first} .. {last}"


class TaskWindow(Generic[BatchT, ResultT]):
    """Runner of a job's batches on Dask, with a bounded number of tasks in flight.

    Results are fetched in the background, many at once.
    """

    def __init__(
        self,
        watch: ClusterWatch,
        task: Task[BatchT, ResultT],
        options: WindowOptions,
        supply: BatchSupply[BatchT],
        interrupts: DeferredInterrupts,
        counters: JobCounters,
    ) -> None:
        self.counters = counters
        self.watch, self.task, self.options = watch, task, options
        self.handshake, self.client = watch.handshake, watch.client
        self.interrupts = interrupts
        self.supply = supply
        self.left = supply.total  # batches not yet assigned, None if unknown
        self.again: deque[Sequence[BatchT]] = deque()  # that tasks returned undone
        self.alone: deque[BatchT] = deque()  # that had a transient error
        self.token = uuid.uuid4().hex[:12]
        self.in_flight: dict[Future, _Submission[BatchT]] = {}
        self.arriving = as_completed(loop=self.client.loop, with_results=True, raise_errors=False)
        n_batches = getattr(task, "device_batches", 1)
        carried = most_carried(carried_bytes(task))
        self.pools = make_pools(options.device, n_batches, options.resources, carried)
        self.submitted = 0
        self.looked = -math.inf  # time.monotonic() of the last update of the workers
        self.missing: Pool | None = None  # pool with tasks in flight and no worker
        self.workers: Workers = {}  # admitted at the last update
        self.is_drained = False  # all batches are in flight
        self.turnaround = Turnaround()
        self.failed: list[ChunkFailed] = []  # failed for good, while other chunks continue
        self.n_incompatible = 0  # tasks that workers could not load

    def run(self, on_done: Callable[[BatchT, ResultT], None]) -> None:
        """Run all batches; see `run.run`."""
        try:
            while self.fill():
                for future, done in self.wait_for_results():
                    if (submission := self.in_flight.get(future)) is None:
                        continue  # the result of a copy came before
                    if self.found_incompatible_worker(done):
                        self.end_task(submission)
                        self.requeue(submission.batches, None)
                        continue
                    self.counters.record_failures(_failures(done))
                    self.check(future, done)
                    self.end_task(submission)
                    n = len(done.results)
                    submission.pool.pace.record(n, done.seconds)
                    self.counters.attribute_to_worker(
                        done.worker, submission.pool.device, done.seconds
                    )
                    for batch, result in zip(submission.batches[:n], done.results, strict=True):
                        self.interrupts.raise_deferred()  # short batches arrive by the hundred
                        on_done(batch, result)
                        self.counters.count_batch()
                    self.requeue(submission.batches[n:], done.error)
            self.check_failed()
        finally:
            self.cancel()

    def fill(self) -> bool:
        """Submit in turn to each pool until all are full; return True if a task is in flight."""
        if time.monotonic() - self.looked > POLL_SECONDS:
            self.has_workers()
        while free := [pool for pool in self.pools if pool.has_capacity]:
            for pool in free:
                batches_of_task = self.next(pool.share(self.left))
                self.is_drained = not batches_of_task
                if self.is_drained:
                    return bool(self.in_flight)
                self.submit(_Submission(pool, batches_of_task))
        return bool(self.in_flight)

    def next(self, n: int) -> Sequence[BatchT]:
        """Return the next n batches for a task; batches that another task did not do come first."""
        if self.alone:
            return (self.alone.popleft(),)
        if self.again:
            some = self.again.popleft()
            if len(some) > n:
                self.again.appendleft(some[n:])
            return some[:n]
        with self.interrupts.allow_interrupts():
            return self.supply.take(n)

    def requeue(self, undone: Sequence[BatchT], error: ChunkFailed | None) -> None:
        """Queue again the batches that a task did not do.

        A batch with a transient error goes alone, so that Dask retries it. One that failed for good
        is recorded.
        """
        if error is not None:
            failed, undone = undone[0], undone[1:]
            if error.passing:
                log.info("tried again: %s", error)
                self.alone.append(failed)
            else:
                self.failed.append(error)
        if self.left is not None:
            self.left += len(undone) + (error is not None and error.passing)
        if undone:
            self.again.append(undone)

    def submit(self, submission: _Submission[BatchT]) -> None:
        """Submit a new task."""
        self.left = None if self.left is None else self.left - len(submission.batches)
        pool = submission.pool
        own = pool.addresses or (tuple(self.workers) if self.handshake.left_out else ())
        # other workers run it if these are lost, unless some are incompatible
        self.start(
            submission, own, allow_others=bool(pool.addresses) and not self.handshake.left_out
        )

    def start(
        self, submission: _Submission[BatchT], workers: Collection[str], allow_others: bool
    ) -> None:
        """Submit a task or a copy of one to Dask, restricted to these workers; () allows all."""
        pool = submission.pool
        most_seconds = 2 * Pace.task_seconds(pool.threads)
        work = partial(do_batches, self.task, pool.device, submission.batches, most_seconds)
        call, buffers = pack_call(work)
        future = self.client.submit(
            loads,
            call,
            buffers=buffers,
            key=(f"{self.task.name}-{self.token}", self.submitted),
            pure=False,
            retries=self.options.retries,
            resources=dict(pool.resources) or None,
            workers=list(workers) or None,
            allow_other_workers=allow_others,
        )
        self.submitted += 1
        pool.n_in_flight += 1
        submission.futures.append(future)
        self.in_flight[future] = submission
        self.arriving.add(future)

    def end_task(self, submission: _Submission[BatchT]) -> None:
        """Record that a task ended; cancel its copies."""
        if submission.attempts == 1:  # else the time is the wait for a hung worker
            self.turnaround.record(time.monotonic() - submission.since)
        submission.pool.n_in_flight -= len(submission.futures)
        for future in submission.futures:
            del self.in_flight[future]
        if unfinished := [future for future in submission.futures if not future.done()]:
            self.client.cancel(unfinished, force=True)

    def wait_for_results(self) -> list[tuple[Future, TaskResult[ResultT]]]:
        """Wait for a result; return all that have arrived by then."""
        self.watch.wait(self.arriving, self.interrupts, self.check_cluster)
        found: list[tuple[Future, TaskResult[ResultT]]] = self.arriving.next_batch(block=False)
        return found

    def check_cluster(self) -> None:
        """Check workers, submit copies of stragglers; raise JobFailed if no worker will come."""
        if not self.has_workers():
            self.watch.wait_policy.check(f"no {self.missing}")
            return
        if self.watch.unheard is None:
            self.watch.wait_policy.end()
            self.watch.log_silence(len(set(self.in_flight.values())), self.workers)
            self.copy_stragglers()

    def copy_stragglers(self) -> None:
        """Submit copies of stragglers to other workers if no other task is left for these."""
        now, submissions = time.monotonic(), set(self.in_flight.values())
        is_straggler = self.turnaround.is_straggler
        stragglers = [s for s in submissions if is_straggler(now - s.since, s.attempts)]
        if not stragglers or not (self.is_drained or len(stragglers) == len(submissions)):
            return
        having = _workers_with(self.client, [f.key for one in stragglers for f in one.futures])
        for straggler in stragglers:
            straggler.attempts += 1
            own = set().union(*(having[f.key] for f in straggler.futures))
            able = [a for a, w in self.workers.items() if straggler.pool.fits(w)]
            others = workers_for_copy(able, own, self.watch.heartbeats.silent_workers())
            what = "another one gets it, too" if others else "there is no other one"
            if others and own & set(others):
                what = "it is sent again"
            log.warning(
                "no result of %s from %s for %.0f s, %s: %s",
                *(straggler, " and ".join(sorted(own)) or "any worker"),
                *(now - straggler.since, self.turnaround, what),
            )
            if others:
                self.start(straggler, others, allow_others=False)

    def found_incompatible_worker(self, result: object) -> bool:
        """Return True if a result is an import error of a worker without this version of gangsaw.

        Such a worker is left out from now on. If it or the scheduler does not answer yet, it may
        only be busy; then the task is submitted again, too.
        """
        error = result[1] if isinstance(result, tuple) else None
        if not isinstance(error, (ImportError, AttributeError)):
            return False
        self.handshake.query_again()
        self.has_workers()
        self.n_incompatible += 1
        is_known = self.watch.unheard is None and self.handshake.is_complete
        is_explained = bool(self.handshake.left_out) or not is_known
        return is_explained and self.n_incompatible < MOST_INCOMPATIBLE

    def check(self, future: Future, result: object) -> None:
        """Raise JobFailed if a future or one of its batches failed for good."""
        if (
            isinstance(result, TaskResult)
            and result.error is not None
            and self.ends_job(result.error)
        ):
            raise JobFailed(str(result.error)) from result.error
        if future.status == "error":
            error = result[1] if isinstance(result, tuple) else None  # it is sys.exc_info()
            raise JobFailed(_cause(error, self.in_flight[future]))
        if future.status == "cancelled" or isinstance(result, BaseException):
            raise lost_scheduler(self.watch.address)

    def ends_job(self, error: ChunkFailed) -> bool:
        """Return True if the error of a chunk ends the job at once.

        A job that commits results continues with other chunks, which `resume` need not repeat.
        """
        if error.passing:
            return False
        goes_on = error.is_its_own and self.options.device == "cpu" and hasattr(self.task, "commit")
        return not goes_on or len(self.failed) >= MOST_FAILED

    def check_failed(self) -> None:
        """Raise JobFailed if chunks failed while the others continued."""
        if self.failed:
            more = f", and {len(self.failed) - 1} more" if len(self.failed) > 1 else ""
            raise JobFailed(f"{self.failed[0]}{more}") from self.failed[0]

    def has_workers(self) -> bool:
        """Update the workers; return True if each pool with tasks in flight has one."""
        if any(future.status == "cancelled" for future in self.in_flight):
            raise lost_scheduler(self.watch.address)
        if (workers := self.watch.workers()) is None:
            return True
        self.workers, self.looked = workers, time.monotonic()
        for pool in self.pools:
            pool.update(workers)
        self.missing = next(
            (p for p in self.pools if p.n_in_flight and not p.can_run(workers)), None
        )
        return self.missing is None

    def cancel(self) -> None:
        """Cancel all tasks in flight; batches that already run finish harmlessly."""
        if self.in_flight and self.client.status == "running":
            with suppress(Exception):
                self.client.cancel(list(self.in_flight), force=True)
        self.in_flight.clear()


def _workers_with(client: Client, keys: Sequence[Key]) -> dict[Key, set[str]]:
    """Return, for each task, the workers that run it or have its result; none without an answer."""
    found: dict[Key, set[str]] = {key: set() for key in keys}
    with suppress(Exception):
        running = client.sync(
            client.scheduler.processing, workers=None, callback_timeout=HEARD_SECONDS
        )
        holding = client.sync(client.scheduler.who_has, keys=keys, callback_timeout=HEARD_SECONDS)
        for address, own in running.items():
            for key in found.keys() & set(own):
                found[key].add(address)
        for key, addresses in holding.items():
            found[key] |= set(addresses)
    return found


def _failures(result: object) -> list[str]:
    """Return the error message of a task's failed chunk in a list, [] without one.

    Dask retries some of these tasks by itself.
    """
    error = result.error if isinstance(result, TaskResult) else None
    if isinstance(result, tuple) and isinstance(result[1], ChunkFailed):
        error = result[1]
    return [] if error is None else [str(error)]


def _cause(error: BaseException | None, batch: object) -> str:
    """Return the reason why Dask lost a batch, in one line."""
    if isinstance(error, ChunkFailed):
        return str(error)
    if isinstance(error, KilledWorker):
        return f"chunks {batch}: killed {error.allowed_failures + 1} workers: out of memory?"
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, ImportError) or "deserializ" in text:
        return f"a worker or the scheduler cannot load gangsaw, install the same version: {text}"
    return f"chunks {batch}: {text}"
