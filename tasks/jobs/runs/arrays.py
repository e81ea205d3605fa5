"""One job over the batches of many arrays: small arrays share the tasks that are in flight.

`compress` and `verify` define the batch function and the memory need of each array. This module
joins the batches of all arrays into one sequence and derives the needs of the job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.engine.run.graph import BatchOnBlocks, run_on_blocks
from gangsaw.tasks.engine.run.run import Options, run_batches
from gangsaw.tasks.engine.scheduling.lazy import LazyBatches, find_overlaps
from gangsaw.tasks.jobs.chunks import in_memory
from gangsaw.tasks.jobs.chunks.device import share_of_device
from gangsaw.tasks.jobs.chunks.in_memory import select_needed_samples
from gangsaw.tasks.jobs.runs.counters import Labels

if TYPE_CHECKING:
    from distributed import Client

BatchIn = TypeVar("BatchIn", contravariant=True)
BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")
T = TypeVar("T")


class BatchFunction(Protocol[BatchIn, ResultT]):
    """Function that a job applies to each batch of one array: frozen, picklable, small."""

    def address(self, batch: BatchIn, /) -> str:
        """Return the name of the batch used in messages."""

    def __call__(self, batch: BatchIn, /) -> ResultT:
        """Process the batch; raise ChunkFailed if one of its chunks fails.

        The call is idempotent: a batch may be processed twice.
        """

    def on_device(self, batches: Sequence[BatchIn], /) -> Sequence[ResultT]:
        """Process the batches on the GPU of this process, with the same results as `__call__`."""

    def commit(self, results: Sequence[ResultT], /) -> None:
        """Wait until the results are durable."""


@runtime_checkable
class ReadingFunction(Protocol[BatchIn]):
    """Batch function that can prefetch the input of later batches: see `ReadingTask`."""

    def begin(self, batch: BatchIn, /) -> bool:
        """Start the reads of a batch; return False if too many are in flight or none would help."""

    def ready(self, batch: BatchIn, /) -> None:
        """Wait for the reads that `begin` started."""

    def forget(self, batch: BatchIn, /) -> None:
        """Discard the reads that `begin` started."""


@dataclass(frozen=True)
class ArrayWork(Generic[BatchT, ResultT]):
    """Work of a job on one array: the batch function, the remaining batches and their needs.

    Attributes
    ----------
    function : function applied to each batch
    batches : remaining batches
    batch_bytes : raw bytes of the largest batch, padding included
    peak_bytes : upper bound of the memory of one call, in bytes
    launch_batches : number of batches that fill a device in one launch; None for the CPU only
    n_chunks : number of chunks of the array, finished ones included
    """

    function: BatchFunction[BatchT, ResultT]
    batches: Sequence[BatchT]
    batch_bytes: int
    peak_bytes: int
    launch_batches: int | None = None
    n_chunks: int = 0


@dataclass(frozen=True)
class ArrayBatch(Generic[BatchT, ResultT]):
    """Batch of one array with its batch function, as one item of work for the engine.

    Attributes
    ----------
    array : index of the array in the job
    function : batch function of the array
    batch : batch to process
    """

    array: int
    function: BatchFunction[BatchT, ResultT]
    batch: BatchT

    def __str__(self) -> str:
        """Return the name of the batch used in messages."""
        return self.function.address(self.batch)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle only the part of an in-memory array that the batch needs."""
        return ArrayBatch, (
            self.array,
            select_needed_samples(self.function, [self.batch]),
            self.batch,
        )


Part: TypeAlias = "tuple[int, BatchFunction[BatchT, ResultT], Sequence[BatchT]]"


@dataclass(frozen=True)
class ArrayBatches(LazyBatches[ArrayBatch[BatchT, ResultT]], Generic[BatchT, ResultT]):
    """Lazy sequence of the batches of several arrays, one array after the other.

    Attributes
    ----------
    parts : index in the job, batch function and batches of each array, in order
    """

    parts: tuple[Part[BatchT, ResultT], ...]

    @cached_property
    def ends(self) -> list[int]:
        """Cumulative number of batches at the end of each array."""
        return list(accumulate(len(batches) for _, _, batches in self.parts))

    def __len__(self) -> int:
        """Return the number of batches."""
        return self.ends[-1] if self.parts else 0

    def between(self, start: int, stop: int) -> ArrayBatches[BatchT, ResultT]:
        """Return the batches `start` to `stop` - 1."""
        found = find_overlaps(self.ends, start, stop)
        return ArrayBatches(tuple(self._slice(*one) for one in found))

    def __iter__(self) -> Iterator[ArrayBatch[BatchT, ResultT]]:
        """Yield the batches in order."""
        for number, function, batches in self.parts:
            for batch in batches:
                yield ArrayBatch(number, function, batch)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle only the parts of in-memory arrays that the batches need."""
        parts = ((n, select_needed_samples(function, own), own) for n, function, own in self.parts)
        return ArrayBatches, (tuple(parts),)

    def _slice(self, part: int, start: int, stop: int) -> Part[BatchT, ResultT]:
        number, function, batches = self.parts[part]
        return number, function, batches[start:stop]


@dataclass(frozen=True)
class ArraysTask(Generic[BatchT, ResultT]):
    """Engine task over batches of several arrays, with the memory bounds of the largest batch.

    Attributes
    ----------
    name : name on the dashboard and in messages
    peak_bytes : upper bound of the memory of one batch, in bytes
    device_batches : number of batches that one task processes at once on a GPU
    device_peak_bytes : upper bound of the host memory of such a task, in bytes
    waits : True if a commit takes time, such as a sync to disk
    carried_bytes : upper bound of the sample bytes sent with a batch; 0 if the worker reads them
    side_by_side : True if one batch may leave threads of a process idle. A batch reads and writes
        in one thread, and a chunk may have only one block.
    """

    name: str
    peak_bytes: int
    device_batches: int
    device_peak_bytes: int
    waits: bool
    carried_bytes: int = 0
    side_by_side: bool = False

    def __call__(self, item: ArrayBatch[BatchT, ResultT]) -> ResultT:
        """Process the batch."""
        return item.function(item.batch)

    def begin(self, item: ArrayBatch[BatchT, ResultT]) -> bool:
        """Start the reads of a batch; return False if too many are in flight or none would help."""
        function = item.function
        return isinstance(function, ReadingFunction) and function.begin(item.batch)

    def ready(self, item: ArrayBatch[BatchT, ResultT]) -> None:
        """Wait for the reads that `begin` started."""
        if isinstance(item.function, ReadingFunction):
            item.function.ready(item.batch)

    def forget(self, item: ArrayBatch[BatchT, ResultT]) -> None:
        """Discard the reads that `begin` started."""
        if isinstance(item.function, ReadingFunction):
            item.function.forget(item.batch)

    def on_device(self, items: Sequence[ArrayBatch[BatchT, ResultT]]) -> list[ResultT]:
        """Process the batches on the GPU of this process, one launch per array."""
        results: list[ResultT] = []
        for of_array in _group_by_array(items, lambda item: item.array):
            results += of_array[0].function.on_device([item.batch for item in of_array])
        return results

    def commit(
        self, items: Sequence[ArrayBatch[BatchT, ResultT]], results: Sequence[ResultT]
    ) -> None:
        """Wait until the results are durable."""
        pairs = list(zip(items, results, strict=True))
        for of_array in _group_by_array(pairs, lambda pair: pair[0].array):
            of_array[0][0].function.commit([result for _, result in of_array])


def run_arrays(
    name: str,
    works: Sequence[ArrayWork[BatchT, ResultT]],
    on_done: Callable[[int, ResultT], None],
    *,
    waits: bool = False,
    client: Client | None = None,
    options: Options | None = None,
) -> None:
    """Process all batches of all arrays.

    Parameters
    ----------
    name : name of the task
    works : work of each array
    on_done : called in this thread with the index of an array and the result of one of its batches
    waits : True if a commit takes time
    client, options : see `engine.window.run`, which also lists the exceptions
    """

    labels = Labels.for_works(works)

    def done(item: ArrayBatch[BatchT, ResultT], result: ResultT) -> None:
        labels.attribute_next(item.array, item.batch, result)
        on_done(item.array, result)

    numbered = list(enumerate(works))
    on_blocks = [one for one in numbered if in_memory.dask_array(one[1].function) is not None]
    _run_on_blocks(name, on_blocks, done, waits=waits, client=client, options=options)
    others = [one for one in numbered if one not in on_blocks]
    for own, how in _split_by_device(others, options):
        items = ArrayBatches(tuple((number, w.function, w.batches) for number, w in own))
        task = _task(name, [work for _, work in own], waits, client)
        run_batches(task, items, done, client=client, options=how)


Numbered: TypeAlias = list[tuple[int, ArrayWork[BatchT, ResultT]]]


def _run_on_blocks(
    name: str,
    works: Numbered[BatchT, ResultT],
    done: Callable[[ArrayBatch[BatchT, ResultT], ResultT], None],
    *,
    waits: bool,
    client: Client | None,
    options: Options | None,
) -> None:
    """Process the batches of Dask arrays in one graph of all arrays."""
    if not works:
        return
    items = [item for number, work in works for item in _items(number, work)]
    own = in_memory.dask_array(works[0][1].function)
    assert own is not None
    task = _task(name, [work for _, work in works], waits)
    run_on_blocks(task, items, _with_samples, done, client=client or own.client, options=options)


def _items(
    number: int, work: ArrayWork[BatchT, ResultT]
) -> Iterator[BatchOnBlocks[ArrayBatch[BatchT, ResultT]]]:
    function = in_memory.detach_blocks(work.function)
    pairs = ((batch, ArrayBatch(number, function, batch)) for batch in work.batches)
    return in_memory.pair_with_blocks(work.function, pairs)


def _with_samples(
    item: ArrayBatch[BatchT, ResultT], samples: list[NumpyArray]
) -> ArrayBatch[BatchT, ResultT]:
    return replace(item, function=in_memory.attach_samples(item.function, item.batch, samples))


def _split_by_device(
    works: Numbered[BatchT, ResultT], options: Options | None
) -> list[tuple[Numbered[BatchT, ResultT], Options | None]]:
    """Split works by device: GPU works first, then works without a GPU kernel, with CPU options.

    On the few threads that share a GPU, CPU works would leave most cores of the machine idle.
    """
    if options is None or options.device != "gpu":
        return [(works, options)]
    there = [one for one in works if one[1].launch_batches is not None]
    here = [one for one in works if one[1].launch_batches is None]
    parts = [(there, options), (here, replace(options, device="cpu"))]
    return [part for part in parts if part[0]]


def _task(
    name: str,
    works: Sequence[ArrayWork[BatchT, ResultT]],
    waits: bool,
    client: Client | None = None,
) -> ArraysTask[BatchT, ResultT]:
    goes_along = client is not None and any(
        in_memory.array_in_process(work.function) for work in works
    )
    peak = max((work.peak_bytes for work in works), default=0)
    n_batches = sum(len(work.batches) for work in works)
    largest = max((work.batch_bytes for work in works), default=0)
    answers = [work.launch_batches for work in works if work.launch_batches is not None]
    share = share_of_device(n_batches, largest, min(answers, default=None))
    # a thread has many requests to a remote store in flight anyway
    is_near = not any(getattr(work.function, "is_remote", False) for work in works)
    return ArraysTask(
        name,
        peak,
        share.batches,
        peak + share.peak_bytes,
        waits,
        carried_bytes=largest if goes_along else 0,
        side_by_side=is_near,
    )


def _group_by_array(items: Iterable[T], array: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield one list per group of adjacent items of the same array.

    Parameters
    ----------
    array : returns the index of an item's array
    """
    return (list(of_array) for _, of_array in groupby(items, key=array))
