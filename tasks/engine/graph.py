"""Dask arrays: what is done with their blocks goes into their graph, one for all arrays of a job.

So no block leaves the place where it is computed, and what several blocks need is computed once.
The graph of an array is the caller's; it has one task more for each batch.
"""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

import numpy as np

from gangsaw.cluster.interrupts import Waiting, interrupts_wait
from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import JobFailed, first_line
from gangsaw.codecs.core.memory.threads import thread_limit
from gangsaw.tasks.engine.batches import Done, do_batches
from gangsaw.tasks.engine.failure import ChunkFailed
from gangsaw.tasks.engine.memory import check_memory, this_process, threads_that_fit
from gangsaw.tasks.engine.tally import Tally, job
from gangsaw.tasks.engine.window import POLL_SECONDS, TICK_SECONDS, Options
from gangsaw.tasks.engine.work import Task

if TYPE_CHECKING:
    from dask.array import Array
    from dask.delayed import Delayed
    from dask.highlevelgraph import HighLevelGraph
    from distributed import Client, Future

BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")
Key = tuple[str, int]
Cut: TypeAlias = "tuple[slice[int, int, int | None], ...]"
HELD = {"Future"}
Given: TypeAlias = "Callable[[BatchT, list[NumpyArray]], BatchT]"


@dataclass(frozen=True)
class OnBlocks(Generic[BatchT]):
    """A batch with the blocks that it needs.

    Attributes
    ----------
    batch : without its samples
    array : whose blocks they are
    positions : of the blocks along each axis
    """

    batch: BatchT
    array: Array
    positions: Sequence[tuple[int, ...]]

    @property
    def keys(self) -> list[tuple[object, ...]]:
        """Of the blocks in the graph."""
        return [(self.array.name, *position) for position in self.positions]


def computed(array: Array, region: Cut, client: Client | None) -> NumpyArray:
    """Return a part of an array, computed on the client's workers, or without one in this process.

    It is for what is small: samples, coordinates.
    """
    part = array[region].compute(scheduler=client or "threads")
    return _plain(part)


def client_of(array: Array) -> Client | None:
    """Return the client whose workers hold blocks of an array, None where none does."""
    if "distributed" not in sys.modules:
        return None
    from distributed import futures_of

    held: Sequence[Future] = futures_of(array)
    return held[0].client if held else None


def is_held_by_workers(array: Array) -> bool:
    """Return whether all blocks of an array are there, on workers."""
    from dask.core import flatten

    graph = dict(array.__dask_graph__())
    keys = flatten(array.__dask_keys__())  # type: ignore[no-untyped-call]
    return all(type(graph.get(key)).__name__ in HELD for key in keys)


def run_on_blocks(
    task: Task[BatchT, ResultT],
    items: Sequence[OnBlocks[BatchT]],
    given: Given[BatchT],
    on_done: Callable[[BatchT, ResultT], None],
    *,
    client: Client | None = None,
    options: Options | None = None,
) -> None:
    """Run the task on every batch, where its blocks are; return when all are done.

    Parameters
    ----------
    task : the chunk function
    items : batches and their blocks
    given : returns a batch with the samples of its blocks
    on_done : called in this thread with each batch and its result
    client : Dask client; None computes the blocks in threads of this process
    options : how to run it on Dask

    Raises as `window.run`; JobFailed also for a block that cannot be computed.
    """
    if not items:
        return
    graph, keys = _graph(task, items, given)
    batches = {key: item.batch for key, item in zip(keys, items, strict=True)}
    with interrupts_wait() as interrupts, job(task.name, "") as tally:
        tally.expect(len(items))
        landed = _Landed(batches, on_done, interrupts, tally)
        if client is None:
            _in_threads(task, graph, keys, landed)
        else:
            _on_workers(task, graph, keys, landed, client, options or Options())


class _Landed(Generic[BatchT, ResultT]):
    """Takes results of tasks by their keys."""

    def __init__(
        self,
        batches: dict[Key, BatchT],
        on_done: Callable[[BatchT, ResultT], None],
        interrupts: Waiting,
        tally: Tally,
    ) -> None:
        self.batches, self.on_done = batches, on_done
        self.interrupts, self.tally = interrupts, tally

    def take(self, key: object, done: Done[ResultT]) -> None:
        """Tell of a batch that is done; raise JobFailed where it failed."""
        if (batch := self.batches.get(key)) is None:  # type: ignore[call-overload]
            return  # a block
        self.interrupts.let_in()
        if done.error is not None:
            self.tally.failed([str(done.error)])
            raise JobFailed(str(done.error)) from done.error
        self.tally.by(done.worker, "cpu", done.seconds)
        for result in done.results:
            self.on_done(batch, result)
        self.tally.landed()


def _graph(
    task: Task[BatchT, ResultT], items: Sequence[OnBlocks[BatchT]], given: Given[BatchT]
) -> tuple[HighLevelGraph, list[Key]]:
    """Return one graph of all arrays and batches, and the keys of the batches."""
    from dask.base import optimize
    from dask.highlevelgraph import HighLevelGraph

    name = f"{task.name}-{uuid.uuid4().hex[:12]}"
    work = partial(_do, task, given)
    tasks = {(name, i): (work, item.batch, item.keys) for i, item in enumerate(items)}
    arrays = list({item.array.name: item.array for item in items}.values())
    lazy = [array for array in arrays if not is_held_by_workers(array)]
    held = [array for array in arrays if is_held_by_workers(array)]  # optimised, nothing is left
    needs = [*held, *optimize(*lazy)]  # type: ignore[no-untyped-call]
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=needs)  # type: ignore[arg-type]
    return graph, list(tasks)


def _do(
    task: Task[BatchT, ResultT], given: Given[BatchT], batch: BatchT, blocks: list[NumpyArray]
) -> Done[ResultT]:
    return do_batches(task, "cpu", [given(batch, list(map(_plain, blocks)))])


def _plain(block: NumpyArray) -> NumpyArray:
    """Return a block as NumPy has it; JobFailed where samples are masked, seen only now."""
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
    landed: _Landed[BatchT, ResultT],
) -> None:
    from dask.base import compute
    from dask.callbacks import Callback

    check_memory(task.peak_bytes, [this_process()])
    threads = threads_that_fit(task.peak_bytes, thread_limit())

    def on_task(key: object, result: object, *_: object) -> None:
        if isinstance(result, Done):
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
    landed: _Landed[BatchT, ResultT],
    client: Client,
    options: Options,
) -> None:
    from dask.base import annotate

    from gangsaw.tasks.engine.flying.handshake import Handshake, workers_of
    from gangsaw.tasks.engine.flying.telling import tell

    handshake = Handshake(client, options.paths)
    workers = handshake.admitted(workers_of(client))
    check_memory(task.peak_bytes, workers.values())
    tell(landed.tally, client)
    only = {"workers": list(workers)} if handshake.left_out else {}
    with annotate(**only) if only else nullcontext():
        futures: list[Future] = client.compute(
            _delayed(graph, keys), optimize_graph=False, retries=options.retries
        )
    _take_all(dict(zip(futures, keys, strict=True)), landed, client, options)


def _take_all(
    flying: dict[Future, Key], landed: _Landed[BatchT, ResultT], client: Client, options: Options
) -> None:
    from distributed import as_completed

    from gangsaw.tasks.engine.flying.patience import Patience

    patience = Patience(client, options.worker_seconds)
    arriving = as_completed(flying, loop=client.loop, with_results=True, raise_errors=False)
    try:
        while flying:
            _wait(arriving, landed.interrupts, patience, client)
            for future, result in arriving.next_batch(block=False):
                key = flying.pop(future)
                if future.status != "finished":
                    raise _failure(future, result, client)
                landed.take(key, result)
    finally:
        if flying and client.status == "running":
            client.cancel(list(flying), force=True)


def _wait(arriving: object, interrupts: Waiting, patience: object, client: Client) -> None:
    """Return when a result is there; raise JobFailed where no worker comes."""
    from gangsaw.tasks.engine.flying.handshake import workers_of

    polled = time.monotonic()
    while not arriving.has_ready():  # type: ignore[attr-defined]
        time.sleep(TICK_SECONDS)
        interrupts.let_in()
        if time.monotonic() - polled >= POLL_SECONDS:
            if workers_of(client):
                patience.end()  # type: ignore[attr-defined]
            else:
                patience.ask("no worker")  # type: ignore[attr-defined]
            polled = time.monotonic()


def _failure(future: Future, result: object, client: Client) -> JobFailed:
    error = result[1] if isinstance(result, tuple) else None  # it is sys.exc_info()
    if future.status == "error" and isinstance(error, Exception):
        failed = JobFailed(_cause(error))
        failed.__cause__ = error
        return failed
    where = getattr(client.scheduler, "address", "?")
    return JobFailed(f"lost the scheduler at {where}, or what was computed there: start again")


def _cause(error: Exception) -> str:
    if isinstance(error, ChunkFailed):
        return str(error)
    return f"a block cannot be computed: {type(error).__name__}: {first_line(error)}"
