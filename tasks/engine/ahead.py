"""Batches in order, with the reads of the next ones begun."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar, cast

from gangsaw.tasks.engine.work import ReadingTask

BatchT = TypeVar("BatchT")

MOST_AHEAD = 64  # batches whose reads are begun


@dataclass
class ReadAhead(Generic[BatchT]):
    """Gives batches when what they read is there.

    Attributes
    ----------
    task : that does them; any other than a `ReadingTask` gets its batches as they come
    waited : seconds for reads so far
    """

    task: object
    waited: float = 0.0

    def of(self, batches: Iterable[BatchT], *, keeps: bool = False) -> Generator[BatchT]:
        """Yield the batches; when it is closed, nothing of those to come stays begun.

        Parameters
        ----------
        keeps : leave it to the caller to `forget` what it was given, which it does meanwhile
        """
        if not hasattr(self.task, "begin"):
            yield from batches
            return
        task, source = cast("ReadingTask[BatchT]", self.task), iter(batches)
        coming: deque[BatchT] = deque()
        begun = 0  # of those that are coming
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
        """Let go of what was begun for a batch that is done, or never will be."""
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
    """Begin the reads of further batches; return for how many of them they are begun."""
    for batch in islice(coming, begun, None):
        if not task.begin(batch):
            break
        begun += 1
    return begun
