"""Execution on blocks of Dask arrays: one graph for all arrays of a job, with their own tasks.

So no block leaves the worker that computed it, and tasks that several blocks need run once. The
graph of an array is the caller's; it gets one more task for each batch.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar, cast

import numpy as np

from gangsaw.cluster.interrupts import DeferredInterrupts, defer_interrupts
from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import JobFailed, first_line
from gangsaw.codecs.core.memory.threads import thread_limit
from gangsaw.tasks.engine.distributed.task_paths import paths_of_work
from gangsaw.tasks.engine.report.counters import JobCounters, count_job
from gangsaw.tasks.engine.report.failure import ChunkFailed
from gangsaw.tasks.engine.run.run import Options
from gangsaw.tasks.engine.scheduling.batches import TaskResult, do_batches
from gangsaw.tasks.engine.scheduling.memory import (
    check_memory,
    describe_this_process,
    threads_that_fit,
)
from gangsaw.tasks.engine.scheduling.work import Task

if TYPE_CHECKING:
    from dask.array import Array
    from dask.delayed import Delayed
    from dask.highlevelgraph import HighLevelGraph
    from distributed import Client, Future

    from gangsaw.tasks.engine.distributed.watch import ClusterWatch

BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")
KeyT = TypeVar("KeyT")
Key = tuple[str, int]
Cut: TypeAlias = "tuple[slice[int, int, int | None], ...]"
IN_MEMORY = {"Future"}
AttachSamples: TypeAlias = "Callable[[BatchT, list[NumpyArray]], BatchT]"


@dataclass(frozen=True)
class BatchOnBlocks(Generic[BatchT]):
    """Batch with the blocks of a Dask array that it needs.

    Attributes
    ----------
    batch : batch without its samples
    array : array that the blocks belong to
    positions : block index along each axis, for each block
    """

    batch: BatchT
    array: Array
    positions: Sequence[tuple[int, ...]]

    @property
    def keys(self) -> list[tuple[object, ...]]:
        """Keys of the blocks in the graph of the array."""
        return [(self.array.name, *position) for position in self.positions]


def compute_region(array: Array, region: Cut, client: Client | None) -> NumpyArray:
    """Compute a region of a Dask array, on the client's workers or else in this process.

    It is meant for small regions: samples, coordinates.
    """
    part = array[region]
    if client is None:
        return _to_numpy(part.compute(scheduler="threads"))
    from gangsaw.tasks.engine.distributed.handshake import Handshake
    from gangsaw.tasks.engine.distributed.watch import ClusterWatch

    watch = ClusterWatch(Handshake(client), Options().worker_seconds)
    with defer_interrupts() as interrupts:
        future = client.compute(part)
        ((_, found),) = _results({future: part.name}, watch, interrupts)
    return _to_numpy(cast("NumpyArray", found))


def client_of(array: Array) -> Client | None:
    """Return the client whose workers have blocks of a Dask array in memory; None for none."""
    if "distributed" not in sys.modules:
        return None
    from distributed import futures_of

    futures: Sequence[Future] = futures_of(array)
    return futures[0].client if futures else None


def scheduler_id(client: Client) -> str:
    """Return the identifier of the run of a client's scheduler.

    Raises JobFailed if the scheduler does not answer for long.
    """
    from gangsaw.tasks.engine.distributed.handshake import Handshake
    from gangsaw.tasks.engine.distributed.watch import ClusterWatch

    with defer_interrupts() as interrupts:
        return ClusterWatch(Handshake(client), Options().worker_seconds).scheduler_id(interrupts)


def is_persisted(array: Array) -> bool:
    """Return True if all blocks of an array are in the memory of workers."""
    from dask.core import flatten

    graph = dict(array.__dask_graph__())
    keys = flatten(array.__dask_keys__())  # type: ignore[no-untyped-call]
    return all(type(graph.get(key)).__name__ in IN_MEMORY for key in keys)


def run_on_blocks(
    task: Task[BatchT, ResultT],
    items: Sequence[BatchOnBlocks[BatchT]],
    attach_samples: AttachSamples[BatchT],
    on_done: Callable[[BatchT, ResultT], None],
    *,
    client: Client | None = None,
    options: Options | None = None,
) -> None:
    """Run the task on every batch, on the worker with its blocks; return when all are done.

    Parameters
    ----------
    task : the chunk function
    items : batches and their blocks
    attach_samples : returns a batch with the samples of its blocks
    on_done : called in this thread with each batch and its result
    client : Dask client; None computes the blocks in threads of this process
    options : options of the run on Dask

    Raises as `run.run`; also JobFailed for a block that cannot be computed.
    """
    if not items:
        return
    graph, keys = _graph(task, items, attach_samples)
    batches = {key: item.batch for key, item in zip(keys, items, strict=True)}
    with defer_interrupts() as interrupts, count_job(task.name, "") as counters:
        counters.expect(len(items))
        landed = _ResultReceiver(batches, on_done, interrupts, counters)
        if client is None:
            _in_threads(task, graph, keys, landed)
        else:
            paths = paths_of_work(task, list(batches.values()))
            options = (options or Options()).with_paths(*paths)
            _on_workers(task, graph, keys, landed, client, options)


class _ResultReceiver(Generic[BatchT, ResultT]):
    """Receiver of the results of graph tasks, which finds their batches by Dask key."""

    def __init__(
        self,
        batches: dict[Key, BatchT],
        on_done: Callable[[BatchT, ResultT], None],
        interrupts: DeferredInterrupts,
        counters: JobCounters,
    ) -> None:
        self.batches, self.on_done = batches, on_done
        self.interrupts, self.counters = interrupts, counters

    def take(self, key: object, done: TaskResult[ResultT]) -> None:
        """Report a batch that is done; raise JobFailed if it failed."""
        if (batch := self.batches.get(key)) is None:  # type: ignore[call-overload]
            return  # the key of a block
        self.interrupts.raise_deferred()
        if done.error is not None:
            self.counters.record_failures([str(done.error)])
            raise JobFailed(str(done.error)) from done.error
        self.counters.attribute_to_worker(done.worker, "cpu", done.seconds)
        for result in done.results:
            self.on_done(batch, result)
        self.counters.count_batch()


def _graph(
    task: Task[BatchT, ResultT],
    items: Sequence[BatchOnBlocks[BatchT]],
    attach_samples: AttachSamples[BatchT],
) -> tuple[HighLevelGraph, list[Key]]:
    """Return one Dask graph for the blocks and batches of all arrays, and the batches' keys."""
    from dask.base import optimize
    from dask.highlevelgraph import HighLevelGraph

    name = f"{task.name}-{uuid.uuid4().hex[:12]}"
    work = partial(_run_batch, task, attach_samples)
    tasks = {(name, i): (work, item.batch, item.keys) for i, item in enumerate(items)}
    arrays = list({item.array.name: item.array for item in items}.values())
    lazy = [array for array in arrays if not is_persisted(array)]
    persisted = [array for array in arrays if is_persisted(array)]  # optimised, nothing is left
    needs = [*persisted, *optimize(*lazy)]  # type: ignore[no-untyped-call]
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=needs)  # type: ignore[arg-type]
    return graph, list(tasks)


def _run_batch(
    task: Task[BatchT, ResultT],
    attach_samples: AttachSamples[BatchT],
    batch: BatchT,
    blocks: list[NumpyArray],
) -> TaskResult[ResultT]:
    return do_batches(task, "cpu", [attach_samples(batch, list(map(_to_numpy, blocks)))])


def _to_numpy(block: NumpyArray) -> NumpyArray:
    """Return a block as a NumPy array; raise JobFailed if samples are masked."""
    if np.ma.is_masked(block):
        raise JobFailed(
            "a block has masked samples, which have no form in a store: fill them first"
        )
    return np.asarray(block)


def _delayed(graph: HighLevelGraph, keys: Sequence[Key]) -> list[Delayed]:
    from dask.delayed import Delayed

    return [Delayed(key, graph, layer=key[0]) for key in keys]  # type: ignore[no-untyped-call]


def _in_threads(
    task: Task[BatchT, ResultT],
    graph: HighLevelGraph,
    keys: Sequence[Key],
    landed: _ResultReceiver[BatchT, ResultT],
) -> None:
    from dask.base import compute
    from dask.callbacks import Callback

    check_memory(task.peak_bytes, [describe_this_process()])
    threads = threads_that_fit(task.peak_bytes, thread_limit())

    def on_task(key: object, result: object, *_: object) -> None:
        if isinstance(result, TaskResult):
            landed.take(key, result)

    with Callback(posttask=on_task):  # type: ignore[no-untyped-call]
        try:
            compute(  # type: ignore[no-untyped-call]
                _delayed(graph, keys),
                scheduler="threads",
                num_workers=threads,
                optimize_graph=False,
            )
        except (JobFailed, KeyboardInterrupt):
            raise
        except Exception as error:
            raise JobFailed(_cause(error)) from error


def _on_workers(
    task: Task[BatchT, ResultT],
    graph: HighLevelGraph,
    keys: Sequence[Key],
    landed: _ResultReceiver[BatchT, ResultT],
    client: Client,
    options: Options,
) -> None:
    from dask.base import annotate

    from gangsaw.tasks.engine.distributed.events import report_to_scheduler
    from gangsaw.tasks.engine.distributed.handshake import Handshake
    from gangsaw.tasks.engine.distributed.watch import ClusterWatch

    handshake = Handshake(client, options.paths)
    watch = ClusterWatch(handshake, options.worker_seconds)
    workers = handshake.admit(watch.begin(landed.interrupts))
    check_memory(task.peak_bytes, workers.values())
    report_to_scheduler(landed.counters, client)
    only = {"workers": list(workers)} if handshake.left_out else {}
    with annotate(**only) if only else nullcontext():
        futures: list[Future] = client.compute(
            _delayed(graph, keys), optimize_graph=False, retries=options.retries
        )
    pending = dict(zip(futures, keys, strict=True))
    for key, done in _results(pending, watch, landed.interrupts):
        landed.take(key, cast("TaskResult[ResultT]", done))


def _results(
    pending: dict[Future, KeyT], watch: ClusterWatch, interrupts: DeferredInterrupts
) -> Iterator[tuple[KeyT, object]]:
    """Yield the key and the result of each future as it arrives; raise JobFailed for lost ones."""
    from distributed import as_completed

    client = watch.client
    arriving = as_completed(pending, loop=client.loop, with_results=True, raise_errors=False)
    try:
        while pending:
            watch.wait(arriving, interrupts, lambda: watch.check_cluster(len(pending)))
            for future, result in arriving.next_batch(block=False):
                key = pending.pop(future)
                if future.status != "finished":
                    raise _failure(future, result, watch.address)
                yield key, result
    finally:
        if pending and client.status == "running":
            client.cancel(list(pending), force=True)


def _failure(future: Future, result: object, address: str) -> JobFailed:
    error = result[1] if isinstance(result, tuple) else None  # it is sys.exc_info()
    if future.status == "error" and isinstance(error, Exception):
        failed = JobFailed(_cause(error))
        failed.__cause__ = error
        return failed
    from gangsaw.tasks.engine.distributed.watch import lost_scheduler

    return JobFailed(f"{lost_scheduler(address)}, or what was computed there is lost")


def _cause(error: Exception) -> str:
    if isinstance(error, ChunkFailed):
        return str(error)
    return f"a block cannot be computed: {type(error).__name__}: {first_line(error)}"
