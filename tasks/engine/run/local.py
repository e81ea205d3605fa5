"""Execution of batches in this process: one after the other, in threads, or on its GPU."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from itertools import islice
from typing import Generic, Self, TypeVar

from gangsaw.cluster.interrupts import DeferredInterrupts
from gangsaw.codecs.core.errors import JobFailed
from gangsaw.codecs.core.memory.threads import thread_limit
from gangsaw.tasks.engine.report.failure import ChunkFailed
from gangsaw.tasks.engine.scheduling.batches import commit, process_on_device
from gangsaw.tasks.engine.scheduling.memory import (
    check_memory,
    describe_this_process,
    threads_that_fit,
)
from gangsaw.tasks.engine.scheduling.read_ahead import ReadAhead
from gangsaw.tasks.engine.scheduling.work import DeviceTask, Task
from gangsaw.tasks.engine.scheduling.worker_pools import SLOTS, TASKS_PER_THREAD

COMMITS = 16  # batches with a commit in progress: a remote store takes its time for each

BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")


class _Commits(Generic[BatchT, ResultT]):
    """Queue of commits that run in threads while further batches are processed.

    Batches are reported in order, each after its commit.
    """

    def __init__(
        self, task: Task[BatchT, ResultT], on_done: Callable[[BatchT, ResultT], None]
    ) -> None:
        self.task, self.on_done = task, on_done
        self.pool = ThreadPoolExecutor(COMMITS, "gangsaw-commit")
        self.waiting: deque[tuple[BatchT, ResultT, Future[None]]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown()

    def add(self, batch: BatchT, result: ResultT) -> None:
        """Start the commit of a result; report the batches with finished commits."""
        committed = self.pool.submit(commit, self.task, [batch], [result])
        self.waiting.append((batch, result, committed))
        self.finish(COMMITS)

    def finish(self, most: int = 0) -> None:
        """Wait until at most `most` commits are unfinished."""
        while self.waiting and (len(self.waiting) > most or self.waiting[0][2].done()):
            batch, result, committed = self.waiting.popleft()
            with _convert_failures():
                committed.result()
            self.on_done(batch, result)


def run_one_by_one(
    task: Task[BatchT, ResultT],
    batches: Iterable[BatchT],
    on_done: Callable[[BatchT, ResultT], None],
    interrupts: DeferredInterrupts,
) -> None:
    """Run the batches in this thread, while commits run in others."""
    check_memory(task.peak_bytes, [describe_this_process()])
    with _Commits(task, on_done) as commits:
        for batch in ReadAhead[BatchT](task).iterate(batches):
            interrupts.raise_deferred()
            with _convert_failures():
                result = task(batch)
            commits.add(batch, result)
        commits.finish()


def run_side_by_side(
    task: Task[BatchT, ResultT],
    batches: Iterable[BatchT],
    on_done: Callable[[BatchT, ResultT], None],
    interrupts: DeferredInterrupts,
) -> None:
    """Run the batches in as many threads as the limits of this process and its memory allow.

    A thread reads and writes while another encodes; a chunk may have a single block, which would
    leave threads idle meanwhile.
    """
    threads = threads_that_fit(task.peak_bytes, thread_limit())
    if threads == 1:
        run_one_by_one(task, batches, on_done, interrupts)
        return
    ahead = ReadAhead[BatchT](task)
    running: deque[tuple[BatchT, Future[ResultT]]] = deque()
    pool = ThreadPoolExecutor(threads, "gangsaw-job")

    def work(batch: BatchT) -> ResultT:
        try:
            return task(batch)
        finally:
            ahead.forget(batch)

    with _Commits(task, on_done) as commits, closing(ahead.iterate(batches, keeps=True)) as coming:
        try:
            for batch in coming:
                interrupts.raise_deferred()
                running.append((batch, pool.submit(work, batch)))
                if len(running) == TASKS_PER_THREAD * threads:
                    commits.add(*_first(running))
            while running:
                interrupts.raise_deferred()
                commits.add(*_first(running))
            commits.finish()
        finally:
            pool.shutdown(cancel_futures=True)
            for batch, _ in running:
                ahead.forget(batch)


def _first(running: deque[tuple[BatchT, Future[ResultT]]]) -> tuple[BatchT, ResultT]:
    """Wait for the result of the batch that started first.

    Batches that are done by then are not lost if it fails.
    """
    batch, future = running.popleft()
    with _convert_failures():
        return batch, future.result()


def run_in_threads(
    task: Task[BatchT, ResultT],
    batches: Iterable[BatchT],
    on_done: Callable[[BatchT, ResultT], None],
    interrupts: DeferredInterrupts,
) -> None:
    """Run batches with samples in threads, while this thread reads further ones.

    The number of threads follows the limits of this process and the memory bound of the task.
    """
    threads = threads_that_fit(task.peak_bytes, thread_limit())
    coming = ((batch,) for batch in batches)
    _work_ahead(lambda batch: _run_and_commit(task, batch), coming, on_done, interrupts, threads)


def run_on_device(
    task: DeviceTask[BatchT, ResultT],
    batches: Iterable[BatchT],
    on_done: Callable[[BatchT, ResultT], None],
    interrupts: DeferredInterrupts,
) -> None:
    """Run the batches in threads that share the GPU."""
    source = iter(batches)
    coming = iter(lambda: tuple(islice(source, task.device_batches)), ())
    _work_ahead(lambda batch: process_on_device(task, batch), coming, on_done, interrupts, SLOTS)


def take_batches(
    batches: Iterator[BatchT], n: int, interrupts: DeferredInterrupts
) -> tuple[BatchT, ...]:
    """Return the next n batches, fewer at the end; the iterator may block on a pipe."""
    with interrupts.allow_interrupts():
        return tuple(islice(batches, n))


def _work_ahead(
    work: Callable[[tuple[BatchT, ...]], Sequence[ResultT]],
    coming: Iterator[tuple[BatchT, ...]],
    on_done: Callable[[BatchT, ResultT], None],
    interrupts: DeferredInterrupts,
    threads: int,
) -> None:
    """Call `work` on groups of batches in threads; report each batch in this thread.

    Parameters
    ----------
    work : function of a group of batches that returns their results
    coming : groups of batches, of which a few are queued for each thread
    """
    running: dict[Future[Sequence[ResultT]], tuple[BatchT, ...]] = {}
    pool = ThreadPoolExecutor(threads, "gangsaw-job")
    try:
        while True:
            interrupts.raise_deferred()
            while len(running) < TASKS_PER_THREAD * threads:
                if not (some := take_batches(coming, 1, interrupts)):
                    break
                running[pool.submit(work, some[0])] = some[0]
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                with _convert_failures():
                    results = future.result()
                for batch, result in zip(running.pop(future), results, strict=True):
                    on_done(batch, result)
    finally:
        pool.shutdown(cancel_futures=True)


def _run_and_commit(task: Task[BatchT, ResultT], batches: Sequence[BatchT]) -> list[ResultT]:
    results = [task(batch) for batch in batches]
    commit(task, batches, results)
    return results


@contextmanager
def _convert_failures() -> Iterator[None]:
    """Convert ChunkFailed to JobFailed: without retries, the first failed chunk ends the job."""
    try:
        yield
    except ChunkFailed as error:
        raise JobFailed(str(error)) from error
