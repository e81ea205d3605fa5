"""Iteration over batches with reads started ahead of their use."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar, cast

from gangsaw.tasks.engine.scheduling.work import ReadingTask

BatchT = TypeVar("BatchT")

MOST_AHEAD = 64  # batches with started reads


@dataclass
class ReadAhead(Generic[BatchT]):
    """Iterator over batches that starts their reads in advance and waits for them.

    Attributes
    ----------
    task : task that processes the batches; no reads are started unless it is a `ReadingTask`
    waited : seconds spent waiting for reads so far
    """

    task: object
    waited: float = 0.0

    def iterate(self, batches: Iterable[BatchT], *, keeps: bool = False) -> Generator[BatchT]:
        """Yield the batches in order; on close, cancel the reads of those not yet yielded.

        Parameters
        ----------
        keeps : True if the caller calls `forget` itself for each batch that it received
        """
        if not hasattr(self.task, "begin"):
            yield from batches
            return
        task, source = cast("ReadingTask[BatchT]", self.task), iter(batches)
        coming: deque[BatchT] = deque()
        begun = 0  # batches at the front of `coming` with started reads
        try:
            while coming := _filled(coming, source):
                begun = _begun(task, coming, begun)
                if begun:
                    self._wait(task, coming[0])
                batch = coming[0] if not keeps else coming.popleft()
                yield batch
                begun = max(0, begun - 1)
                if not keeps:
                    task.forget(coming.popleft())
        finally:
            for batch in coming:
                task.forget(batch)

    def forget(self, batch: BatchT) -> None:
        """Release the reads of a batch that is done or never will be."""
        if hasattr(self.task, "begin"):
            cast("ReadingTask[BatchT]", self.task).forget(batch)

    def _wait(self, task: ReadingTask[BatchT], batch: BatchT) -> None:
        began = time.perf_counter()
        task.ready(batch)
        self.waited += time.perf_counter() - began


def _filled(coming: deque[BatchT], source: Iterator[BatchT]) -> deque[BatchT]:
    coming.extend(islice(source, MOST_AHEAD - len(coming)))
    return coming


def _begun(task: ReadingTask[BatchT], coming: deque[BatchT], begun: int) -> int:
    """Start reads of further batches; return the number of batches whose reads have been started.

    Parameters
    ----------
    coming : next batches, in order
    begun : number of them whose reads have been started before
    """
    for batch in islice(coming, begun, None):
        if not task.begin(batch):
            break
        begun += 1
    return begun
