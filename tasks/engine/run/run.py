"""Execution of a job in this process, or on the workers of a Dask client."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from gangsaw.cluster.interrupts import DeferredInterrupts, defer_interrupts
from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.engine.distributed.handshake import Handshake
from gangsaw.tasks.engine.distributed.task_paths import paths_of_work
from gangsaw.tasks.engine.distributed.watch import ClusterWatch
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.counters import count_job
from gangsaw.tasks.engine.run.local import (
    run_in_threads,
    run_on_device,
    run_one_by_one,
    run_side_by_side,
)
from gangsaw.tasks.engine.scheduling.lazy import BatchSupply
from gangsaw.tasks.engine.scheduling.memory import (
    CARRIED_COPIES,
    Worker,
    check_memory,
    describe_this_process,
)
from gangsaw.tasks.engine.scheduling.work import DeviceTask, Task, carried_bytes
from gangsaw.tasks.engine.scheduling.worker_pools import (
    CARRIED_BYTES,
    SLOTS,
    TASKS_PER_THREAD,
    Device,
    Workers,
    check_device,
    gpu_slots,
    most_carried,
    select_gpu_workers,
)

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger(__name__)

BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Options:
    """Options of a run on Dask.

    Attributes
    ----------
    resources : worker resources that each task occupies, such as {"SAW": 1}; with device "gpu"
        the tasks choose them
    retries : number of retries of a single batch after a transient error
    worker_seconds : time limit of the wait for a first or a new worker; it does not count while a
        batch system queues the job
    paths : files and folders of this machine that workers must see; no tasks go to other workers
    device : "gpu" needs a `DeviceTask`; workers with the resource GPU=1 process many batches at
        once on the GPU, workers without it use the CPU
    """

    resources: Mapping[str, float] = field(default_factory=dict)
    retries: int = 3
    worker_seconds: float = 60.0
    paths: tuple[str, ...] = ()
    device: Device = "cpu"

    def __post_init__(self) -> None:
        """Raise BadParams for an unknown device."""
        check_device(self.device)

    def with_paths(self, *paths: str | Path | None) -> Options:
        """Return the options with these files and folders added to `paths`, if they exist here."""
        here = [Path(path).absolute() for path in paths if path is not None]
        return replace(self, paths=(*self.paths, *(str(path) for path in here if path.exists())))


def run_batches(
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
    batches : a sequence or an iterator; a sequence is sliced so that all workers end together
    on_done : called in this thread with each batch and its result
    client : Dask client; None runs all batches in this thread, or in as many threads as this
        process may use for a `SharingTask` and for batches with samples
    options : options of the run on Dask

    Raises
    ------
    JobFailed
        The first batch failed for good, or the scheduler or all workers are gone, or none of
        them has this gangsaw and sees the paths.
    BadParams
        A worker has less memory than the bound of the task.
    KeyboardInterrupt
        After Ctrl-C, between two results, when the batches in flight were cancelled; a second
        Ctrl-C does not wait.
    """
    options = options or Options()
    with defer_interrupts() as interrupts:
        if client is not None:
            _on_workers(task, batches, on_done, client, options, interrupts)
        elif options.device == "gpu":
            run_on_device(cast("DeviceTask[BatchT, ResultT]", task), batches, on_done, interrupts)
        elif carried_bytes(task):
            run_in_threads(task, batches, on_done, interrupts)
        elif getattr(task, "side_by_side", False):
            run_side_by_side(task, batches, on_done, interrupts)
        else:
            run_one_by_one(task, batches, on_done, interrupts)


def call_on_every_worker(function: Callable[[], None], client: Client | None) -> None:
    """Call the function once in every worker, or here without a client, to compile beforehand.

    Raises
    ------
    JobFailed : the scheduler does not answer for long, or no worker can do it
    KeyboardInterrupt : after Ctrl-C, while the workers go on
    """
    if client is None:
        function()
        return
    with defer_interrupts() as interrupts:
        watch = ClusterWatch(Handshake(client), 0.0)
        workers = list(watch.handshake.admit(watch.begin(interrupts)))
        call = client.run(function, workers=workers, asynchronous=True)  # returns a coroutine
        answers = asyncio.run_coroutine_threadsafe(call, client.loop.asyncio_loop)
        try:
            watch.wait(
                _WorkerAnswers(answers), interrupts, lambda: watch.check_cluster(len(workers))
            )
            answers.result()
        finally:
            answers.cancel()


@dataclass(frozen=True)
class _WorkerAnswers:
    """Adapter by which `ClusterWatch` waits for the answers of all workers to one call."""

    answers: Future[object]

    def has_ready(self) -> bool:
        return self.answers.done()


def check_task_memory(
    peak_bytes: int, client: Client | None, options: Options | None = None
) -> None:
    """Raise BadParams, before a job starts, if its tasks need more memory than a worker has.

    Parameters
    ----------
    peak_bytes : upper bound of the memory of one task
    """
    if dry_run.is_on():  # a dry run has no workers
        return
    options = options or Options()
    known = [describe_this_process()] if client is None else _workers_of(client).values()
    check_memory(peak_bytes, (worker for worker in known if _is_host(worker, options)))


def _workers_of(client: Client) -> dict[str, Worker]:
    """Wait for an answer of the scheduler; return the descriptions of all workers by address."""
    with defer_interrupts() as interrupts:
        return ClusterWatch(Handshake(client), 0.0).begin(interrupts)


def _is_host(worker: Worker, options: Options) -> bool:
    return options.device == "cpu" or not gpu_slots(worker)


def _check_gpus(task: DeviceTask[BatchT, ResultT], workers: Workers) -> None:
    found = select_gpu_workers(workers.values())
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
    interrupts: DeferredInterrupts,
) -> None:
    from gangsaw.tasks.engine.distributed.events import report_to_scheduler
    from gangsaw.tasks.engine.distributed.task_window import TaskWindow

    paths = dict.fromkeys((*options.paths, *paths_of_work(task, batches)))
    watch = ClusterWatch(Handshake(client, tuple(paths)), options.worker_seconds)
    workers = watch.handshake.admit(watch.begin(interrupts))
    check_memory(task.peak_bytes, (w for w in workers.values() if _is_host(w, options)))
    if options.device == "gpu":
        _check_gpus(cast("DeviceTask[BatchT, ResultT]", task), workers)
    carried = carried_bytes(task)
    wanted = TASKS_PER_THREAD * sum(worker["nthreads"] for worker in workers.values())
    in_flight = min(most_carried(carried), wanted)
    check_memory(CARRIED_COPIES * carried * in_flight, [describe_this_process()])
    supply = BatchSupply(batches)
    with _large_graphs() if carried else nullcontext(), count_job(task.name, "") as counters:
        report_to_scheduler(counters, client)
        counters.expect(supply.total)
        TaskWindow(watch, task, options, supply, interrupts, counters).run(on_done)


def _large_graphs() -> AbstractContextManager[object]:
    """Raise the size at which Dask warns of large graphs, for batches with samples.

    They go through the scheduler, which assigns them to another worker when one is lost, as it does
    with all batches. To scatter them to workers directly takes half the client's processor time: 20
    ms instead of 40 for 32 MiB, for which the encoder needs a second. But the batches of a lost
    worker would be lost, and need a second mechanism.
    """
    import dask

    most = 2 * CARRIED_BYTES
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": most})
