"""One job over the batches of many arrays: small arrays share the tasks that are in flight.

`compress` and `verify` say for each array what a batch does and needs. Here the batches of all
arrays become one sequence, and the needs of the job follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.engine.graph import OnBlocks, run_on_blocks
from gangsaw.tasks.engine.lazy import Lazy, overlaps
from gangsaw.tasks.engine.window import Options, run
from gangsaw.tasks.jobs import given
from gangsaw.tasks.jobs.device import share_of_device
from gangsaw.tasks.jobs.given import narrowed
from gangsaw.tasks.jobs.tallied import Labels

if TYPE_CHECKING:
    from distributed import Client

BatchIn = TypeVar("BatchIn", contravariant=True)
BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")
T = TypeVar("T")


class BatchFunction(Protocol[BatchIn, ResultT]):
    """What a job does with a batch of one array: frozen, picklable, small."""

    def address(self, batch: BatchIn, /) -> str:
        """Return what messages call the batch."""

    def __call__(self, batch: BatchIn, /) -> ResultT:
        """Do the batch; raise ChunkFailed for one of its chunks. Doing it twice is harmless."""

    def on_device(self, batches: Sequence[BatchIn], /) -> Sequence[ResultT]:
        """Do the batches on the GPU of this process, with the same results as `__call__`."""

    def commit(self, results: Sequence[ResultT], /) -> None:
        """Return when the results are safe."""


@runtime_checkable
class ReadingFunction(Protocol[BatchIn]):
    """A function that can read for batches that are still to be done: see `ReadingTask`."""

    def begin(self, batch: BatchIn, /) -> bool:
        """Begin to read for a batch; False where too much is on its way, or nothing is gained."""

    def ready(self, batch: BatchIn, /) -> None:
        """Wait for what `begin` began."""

    def forget(self, batch: BatchIn, /) -> None:
        """Let go of what `begin` began."""


@dataclass(frozen=True)
class ArrayWork(Generic[BatchT, ResultT]):
    """What a job does with one array.

    Attributes
    ----------
    function : what is done with a batch
    batches : that remain
    batch_bytes : raw bytes of the largest batch, padding included
    peak_bytes : memory that one call of the function needs at most
    launch_batches : that fill a device with one launch; None where no device does them
    n_chunks : of the array, those that are done included
    """

    function: BatchFunction[BatchT, ResultT]
    batches: Sequence[BatchT]
    batch_bytes: int
    peak_bytes: int
    launch_batches: int | None = None
    n_chunks: int = 0


@dataclass(frozen=True)
class ArrayBatch(Generic[BatchT, ResultT]):
    """A batch of one of the arrays, with what is done with it.

    Attributes
    ----------
    array : number of the array in the job
    function : that of its work
    batch : the batch
    """

    array: int
    function: BatchFunction[BatchT, ResultT]
    batch: BatchT

    def __str__(self) -> str:
        """Return what messages call it."""
        return self.function.address(self.batch)

    def __reduce__(self) -> tuple[object, ...]:
        """Travel with no more of an array in memory than the batch needs."""
        return ArrayBatch, (self.array, narrowed(self.function, [self.batch]), self.batch)


Part: TypeAlias = "tuple[int, BatchFunction[BatchT, ResultT], Sequence[BatchT]]"


@dataclass(frozen=True)
class ArrayBatches(Lazy[ArrayBatch[BatchT, ResultT]], Generic[BatchT, ResultT]):
    """The batches of several arrays, one array after the other: a sequence that holds none.

    Attributes
    ----------
    parts : of each array its number in the job, what is done with a batch, and the batches
    """

    parts: tuple[Part[BatchT, ResultT], ...]

    @cached_property
    def ends(self) -> list[int]:
        """Number of batches up to the end of each array."""
        return list(accumulate(len(batches) for _, _, batches in self.parts))

    def __len__(self) -> int:
        """Number of batches."""
        return self.ends[-1] if self.parts else 0

    def between(self, start: int, stop: int) -> ArrayBatches[BatchT, ResultT]:
        """Return some of the batches."""
        found = overlaps(self.ends, start, stop)
        return ArrayBatches(tuple(self._some(*one) for one in found))

    def __iter__(self) -> Iterator[ArrayBatch[BatchT, ResultT]]:
        """Yield the batches."""
        for number, function, batches in self.parts:
            for batch in batches:
                yield ArrayBatch(number, function, batch)

    def __reduce__(self) -> tuple[object, ...]:
        """Travel with no more of arrays in memory than the batches need."""
        parts = ((n, narrowed(function, own), own) for n, function, own in self.parts)
        return ArrayBatches, (tuple(parts),)

    def _some(self, part: int, start: int, stop: int) -> Part[BatchT, ResultT]:
        number, function, batches = self.parts[part]
        return number, function, batches[start:stop]


@dataclass(frozen=True)
class ArraysTask(Generic[BatchT, ResultT]):
    """The engine's task over batches of several arrays; it needs what the largest of them needs.

    Attributes
    ----------
    name : what the dashboard and messages call it
    peak_bytes : memory that one batch needs at most
    device_batches : that one task does at once on a GPU
    device_peak_bytes : host memory that such a task needs at most
    waits : whether a commit takes time, as on a disk
    carried_bytes : samples that a batch carries at most; 0 where it names what is to be read
    side_by_side : whether a batch may leave threads of a process idle: it reads and writes in one
        thread, and a chunk may have but one block
    """

    name: str
    peak_bytes: int
    device_batches: int
    device_peak_bytes: int
    waits: bool
    carried_bytes: int = 0
    side_by_side: bool = False

    def __call__(self, item: ArrayBatch[BatchT, ResultT]) -> ResultT:
        """Do the batch."""
        return item.function(item.batch)

    def begin(self, item: ArrayBatch[BatchT, ResultT]) -> bool:
        """Begin to read for a batch; False where too much is on its way, or nothing is gained."""
        function = item.function
        return isinstance(function, ReadingFunction) and function.begin(item.batch)

    def ready(self, item: ArrayBatch[BatchT, ResultT]) -> None:
        """Wait for what `begin` began."""
        if isinstance(item.function, ReadingFunction):
            item.function.ready(item.batch)

    def forget(self, item: ArrayBatch[BatchT, ResultT]) -> None:
        """Let go of what `begin` began."""
        if isinstance(item.function, ReadingFunction):
            item.function.forget(item.batch)

    def on_device(self, items: Sequence[ArrayBatch[BatchT, ResultT]]) -> list[ResultT]:
        """Do the batches on the GPU of this process, those of an array at once."""
        results: list[ResultT] = []
        for of_array in _runs(items, lambda item: item.array):
            results += of_array[0].function.on_device([item.batch for item in of_array])
        return results

    def commit(
        self, items: Sequence[ArrayBatch[BatchT, ResultT]], results: Sequence[ResultT]
    ) -> None:
        """Return when the results are safe."""
        pairs = list(zip(items, results, strict=True))
        for of_array in _runs(pairs, lambda pair: pair[0].array):
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
    """Do all batches of all arrays.

    Parameters
    ----------
    name : of the task
    works : one for each array
    on_done : called in this thread with the number of an array and the result of one of its batches
    waits : whether a commit takes time
    client, options : see `engine.window.run`, which says what is raised
    """

    labels = Labels.of(works)

    def done(item: ArrayBatch[BatchT, ResultT], result: ResultT) -> None:
        labels.tell(item.array, item.batch, result)
        on_done(item.array, result)

    numbered = list(enumerate(works))
    on_blocks = [one for one in numbered if given.blocks(one[1].function) is not None]
    _run_on_blocks(name, on_blocks, done, waits=waits, client=client, options=options)
    others = [one for one in numbered if one not in on_blocks]
    for own, how in _by_device(others, options):
        items = ArrayBatches(tuple((number, w.function, w.batches) for number, w in own))
        task = _task(name, [work for _, work in own], waits, client)
        run(task, items, done, client=client, options=how)


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
    """Do the batches of Dask arrays in the graph of all of them."""
    if not works:
        return
    items = [item for number, work in works for item in _items(number, work)]
    own = given.blocks(works[0][1].function)
    assert own is not None
    task = _task(name, [work for _, work in works], waits)
    run_on_blocks(task, items, _given, done, client=client or own.client, options=options)


def _items(
    number: int, work: ArrayWork[BatchT, ResultT]
) -> Iterator[OnBlocks[ArrayBatch[BatchT, ResultT]]]:
    function = given.without_blocks(work.function)
    pairs = ((batch, ArrayBatch(number, function, batch)) for batch in work.batches)
    return given.on_blocks(work.function, pairs)


def _given(
    item: ArrayBatch[BatchT, ResultT], samples: list[NumpyArray]
) -> ArrayBatch[BatchT, ResultT]:
    return replace(item, function=given.given(item.function, item.batch, samples))


def _by_device(
    works: Numbered[BatchT, ResultT], options: Options | None
) -> list[tuple[Numbered[BatchT, ResultT], Options | None]]:
    """Return works with how to do them: those that a device cannot, after those that it can.

    On the few threads that share a GPU they would leave the machine's cores idle.
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
    goes_along = client is not None and any(given.held(work.function) for work in works)
    peak = max((work.peak_bytes for work in works), default=0)
    n_batches = sum(len(work.batches) for work in works)
    largest = max((work.batch_bytes for work in works), default=0)
    answers = [work.launch_batches for work in works if work.launch_batches is not None]
    share = share_of_device(n_batches, largest, min(answers, default=None))
    # requests to a store far away are in flight already, many for one thread
    is_near = not any(getattr(work.function, "is_far", False) for work in works)
    return ArraysTask(
        name,
        peak,
        share.batches,
        peak + share.peak_bytes,
        waits,
        carried_bytes=largest if goes_along else 0,
        side_by_side=is_near,
    )


def _runs(items: Iterable[T], array: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield the items of each array together, in their order."""
    return (list(of_array) for _, of_array in groupby(items, key=array))
