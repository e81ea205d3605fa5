"""Execution of the batches of one Dask task, on a worker."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from gangsaw.tasks.engine.report.failure import ChunkFailed
from gangsaw.tasks.engine.scheduling.batch_size import TASK_SECONDS
from gangsaw.tasks.engine.scheduling.read_ahead import ReadAhead
from gangsaw.tasks.engine.scheduling.work import CommittingTask, DeviceTask, Task
from gangsaw.tasks.engine.scheduling.worker_pools import GPU, Device

BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class TaskResult(Generic[ResultT]):
    """Result of a task: the results of its first batches, until time ran out or a batch failed.

    Attributes
    ----------
    results : results of the first batches, in order
    seconds : seconds that they took, without waiting for a disk or a network
    error : error of the next batch; a value, so that Dask does not repeat the others
    worker : address of the worker that did them, "" outside a worker
    """

    results: Sequence[ResultT]
    seconds: float
    error: ChunkFailed | None
    worker: str = ""


def do_batches(
    task: Task[BatchT, ResultT],
    device: Device,
    batches: Sequence[BatchT],
    most_seconds: float = 2 * TASK_SECONDS,
) -> TaskResult[ResultT]:
    """Run the task on the batches; stop early if time runs out or a batch fails.

    Raises ChunkFailed, so that Dask retries, for a transient error of a single batch.
    """
    results: list[ResultT] = []
    began, failed, ahead = time.perf_counter(), None, ReadAhead[BatchT](task)
    try:
        if device == "gpu":
            results += cast("DeviceTask[BatchT, ResultT]", task).on_device(batches)
        else:
            _do_in_time(task, ahead.iterate(batches), results, most_seconds)
    except ChunkFailed as error:
        failed = error
    seconds = time.perf_counter() - began - ahead.waited
    if results and getattr(task, "waits", False):
        _only_waits_now()  # so that the next batch does not wait for the sync
    try:
        commit(task, batches[: len(results)], results)
    except ChunkFailed as error:
        failed, results = error, []
    if failed is not None and failed.passing and (len(batches) == 1 or device == "gpu"):
        raise failed
    return TaskResult(results, seconds, failed, _worker())


def _do_in_time(
    task: Task[BatchT, ResultT],
    batches: Generator[BatchT],
    results: list[ResultT],
    most_seconds: float,
) -> None:
    """Process batches until `most_seconds` have passed; append each result to `results`.

    Results before an error remain there.
    """
    end = time.perf_counter() + most_seconds
    with closing(batches):  # releases what was read for the other batches
        for batch in batches:
            results.append(task(batch))
            if time.perf_counter() > end:
                return


def commit(
    task: Task[BatchT, ResultT], batches: Sequence[BatchT], results: Sequence[ResultT]
) -> None:
    """Commit the results and wait until they are durable, if the task has a `commit` method."""
    if results and hasattr(task, "commit"):
        cast("CommittingTask[BatchT, ResultT]", task).commit(batches, results)


def process_on_device(
    task: DeviceTask[BatchT, ResultT], batches: Sequence[BatchT]
) -> Sequence[ResultT]:
    """Process the batches on the GPU of this process, commit the results and return them."""
    results = task.on_device(batches)
    commit(task, batches, results)
    return results


def _worker() -> str:
    """Return the address of the Dask worker that this process is, "" if it is none."""
    if "distributed" not in sys.modules:
        return ""
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:
        return ""


def _only_waits_now() -> None:
    """Release this task's slot in the worker's thread pool, since it now only waits for a disk."""
    if "distributed" not in sys.modules:
        return
    from distributed import secede

    with suppress(ValueError):  # there is no worker
        secede()


def may_use_gpu() -> bool:
    """Return True if this process may use a GPU; a worker declares it as a resource."""
    if "distributed" not in sys.modules:
        return True
    from distributed import get_worker

    try:
        return bool(get_worker().state.total_resources.get(GPU, 0))
    except ValueError:  # not inside a task of a worker
        return True
