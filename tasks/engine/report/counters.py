"""Counters of a running job, by worker: for the scheduler's dashboard and the history of the store.

The thread that runs the job adds each result once, even if two workers computed it.
"""

from __future__ import annotations

import inspect
import itertools
import logging
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, Protocol, TypeAlias, TypeVar

from gangsaw.tasks.engine.report.dry_run import DryRunEnd

log = logging.getLogger(__name__)
P = ParamSpec("P")
R = TypeVar("R")

SEND_SECONDS = 0.5  # between two messages; a page cannot show more
MOST_CELLS = 2000  # of the map of chunks
MOST_FAILURES = 20  # messages that wait to be sent
HERE = "this process"  # name of the worker without a client

Key: TypeAlias = tuple[str, str, str]  # codec, backend, worker
Message: TypeAlias = dict[str, object]
Send: TypeAlias = Callable[[Message, bool], None]  # the message; whether it is the last one
CHUNKS, DECODED, ENCODED, SECONDS, FAILED = range(5)  # columns of the counters of a key


class ChunkProgress(Protocol):
    """Subset of `progress.Progress` that `JobCounters` reads."""

    @property
    def done(self) -> int:
        """Number of chunks done, earlier runs included."""

    @property
    def total(self) -> int:
        """Number of all chunks."""

    @property
    def resumed(self) -> int:
        """Number of chunks that earlier runs had done."""

    @property
    def raw_bytes(self) -> int:
        """Raw bytes of the chunks done."""

    @property
    def stored_bytes(self) -> int:
        """Stored bytes of the chunks done."""

    @property
    def run_bytes(self) -> int:
        """Raw bytes of this run."""

    @property
    def step(self) -> str:
        """Name of the preparatory step in progress, "" while the chunks are done."""


class JobCounters:
    """Counters of one job, sent as messages to the dashboard of the scheduler.

    Parameters
    ----------
    kind : command of the job, such as "compress"
    store : path or address of the store, as the user wrote it

    Attributes
    ----------
    job : unique identifier of the job
    began : time of the begin, in seconds since 1970
    progress : progress of its chunks; None before the first report
    workers : addresses of the workers that did something
    spent : seconds of tasks, by codec, backend and worker
    source_bytes : bytes of the input files; 0 if unknown
    """

    def __init__(self, kind: str, store: str) -> None:
        self.kind, self.store = kind, store
        self.job, self.began = uuid.uuid4().hex, time.time()
        self.progress: ChunkProgress | None = None
        self.workers: set[str] = set()
        self.source_bytes = 0
        self._send: Send | None = None
        self._sent = 0.0  # time.monotonic() of the last message
        self._codec, self._backend, self._worker = "", "cpu", HERE
        self._place = range(0)
        self._seconds = 0.0  # of the last task, until something of it is added
        self._parts: dict[Key, list[float]] = defaultdict(lambda: [0, 0, 0, 0.0, 0])  # not sent
        self._failures: list[str] = []  # not sent
        self._tasks = [0, 0]  # done and to do, for a job that reports no chunks
        self._map = _ChunkCells()
        self.spent: dict[Key, float] = defaultdict(float)

    @property
    def is_reported(self) -> bool:
        """True if the counters are sent somewhere."""
        return self._send is not None

    def send_with(self, send: Send) -> None:
        """Send the counters with this function from now on, unless another one was set before."""
        if self._send is None:
            self._send = send
            self._send_now()

    def expect(self, tasks: int | None) -> None:
        """Add a number of batches to the total, if it is known."""
        self._tasks[1] += tasks or 0

    def expect_chunks(self, total: int, left: Iterable[range]) -> None:
        """Start the map of chunks 0 .. total - 1; those outside the ranges `left` are done."""
        self._map.begin(total, left)

    def attribute_to_worker(self, worker: str, backend: str, seconds: float) -> None:
        """Attribute the next amounts to a task of this worker and backend ("cpu" or "gpu").

        `seconds` is the duration of the task.
        """
        self._worker, self._backend = worker or HERE, backend
        self.workers.add(self._worker)
        self._add(())  # seconds of a last task that added no amounts
        self._seconds = seconds

    def attribute_to_chunks(self, codec: str, chunks: range | None = None) -> None:
        """Attribute the next amounts to this codec, and mark `chunks` as done in the map."""
        self._codec, self._place = codec, chunks or range(0)
        if chunks is not None and self._send is not None:
            self._map.add(chunks)

    def add_progress(self, before: ChunkProgress, after: ChunkProgress) -> None:
        """Add the amounts by which the progress of the job has increased."""
        self.progress = after
        if not after.step and after.resumed == before.resumed:
            self.workers.add(self._worker)
            self._add(
                [
                    after.done - before.done,
                    after.raw_bytes - before.raw_bytes,
                    after.stored_bytes - before.stored_bytes,
                ]
            )
        self._send_in_time()

    def count_batch(self) -> None:
        """Count a batch that is done."""
        self._tasks[0] += 1
        if self.progress is None:
            self._send_in_time()

    def record_failures(self, messages: Sequence[str]) -> None:
        """Record the messages of chunks that failed or are damaged."""
        if messages:
            self._part[FAILED] += len(messages)
            self._failures = [*self._failures, *messages][-MOST_FAILURES:]
            self._map.add_bad(self._place)

    def end(self, outcome: str, why: str = "") -> None:
        """Send the last message, with the outcome: "done", "failed" or "interrupted"."""
        self._log(outcome)
        if self._send is not None:
            self._failures += [why] if why and why not in self._failures else []
            self._send({**self._message(), "outcome": outcome}, True)

    def _log(self, outcome: str) -> None:
        """Log the seconds spent by codec, worker and backend."""
        self._add(())
        log.info("%s %s after %.1f s", self.kind, outcome, time.time() - self.began)
        for (codec, backend, worker), seconds in sorted(self.spent.items()):
            if seconds:
                what = codec or self.kind
                log.info("%.1f s in tasks of %s on %s (%s)", seconds, what, worker, backend)

    @property
    def _part(self) -> list[float]:
        return self._parts[self._codec, self._backend, self._worker]

    def _add(self, amounts: Sequence[float]) -> None:
        part = self._part
        self.spent[self._codec, self._backend, self._worker] += self._seconds
        part[SECONDS] += self._seconds  # of a task, with the first amounts that it added
        self._seconds = 0.0
        for column, amount in enumerate(amounts):
            part[column] += amount

    def _send_in_time(self) -> None:
        if self._send is not None and time.monotonic() - self._sent >= SEND_SECONDS:
            self._send_now()

    def _send_now(self) -> None:
        if self._send is not None:
            self._send(self._message(), False)
            self._sent = time.monotonic()

    def _message(self) -> Message:
        """Return the changes since the last message to the dashboard."""
        self._add(())
        parts = [[*key, *part] for key, part in self._parts.items() if any(part)]
        message = {
            "job": self.job,
            "kind": self.kind,
            "store": self.store,
            **(self._chunks() if self.progress is not None else _of_tasks(*self._tasks)),
            "parts": parts,
            "failures": self._failures,
            **self._map.take_changes(),
        }
        self._parts.clear()
        self._failures = []
        return message

    def _chunks(self) -> Message:
        assert self.progress is not None
        now = self.progress
        return {
            "done": now.done,
            "total": now.total,
            "resumed": now.resumed,
            "step": now.step,
            "decoded": now.raw_bytes,
            "encoded": now.stored_bytes,
            "run_bytes": now.run_bytes,
        }


def _of_tasks(done: int, total: int) -> Message:
    return {"done": done, "total": max(done, total)}


class _ChunkCells:
    """Map of the chunks that are done, as on the dashboard.

    A cell counts the finished ones of some consecutive chunks.
    """

    def __init__(self) -> None:
        self.total = self.cells = 0
        self.sizes: list[int] = []  # chunks per cell, not sent
        self.new: Counter[int] = Counter()  # chunks done by cell, not sent
        self.bad: set[int] = set()  # cells with a failed or damaged chunk, not sent

    def begin(self, total: int, left: Iterable[range]) -> None:
        """Start a new map of `total` chunks; those outside `left` are done."""
        self.total, self.cells = total, min(total, MOST_CELLS)
        edges = [-(-i * total // max(1, self.cells)) for i in range(self.cells + 1)]
        self.sizes = [b - a for a, b in itertools.pairwise(edges)]
        self.new = Counter(dict(enumerate(self.sizes)))
        for chunks in left:
            self.add(chunks, -1)

    def add(self, chunks: range, sign: int = 1) -> None:
        """Count these chunks as done, or as not done with `sign` -1."""
        at, stop = chunks.start, min(chunks.stop, self.total)
        while at < stop:
            cell = at * self.cells // self.total
            end = min(stop, -(-(cell + 1) * self.total // self.cells))
            self.new[cell] += sign * (end - at)
            at = end

    def add_bad(self, chunks: range) -> None:
        """Mark the cells of these chunks as bad: one of the chunks failed or is damaged."""
        if (stop := min(chunks.stop, self.total)) > chunks.start:
            first, last = (at * self.cells // self.total for at in (chunks.start, stop - 1))
            self.bad.update(range(first, last + 1))

    def take_changes(self) -> Message:
        """Return the changes since the last call, and clear them."""
        cells = [[cell, n] for cell, n in self.new.items() if n]
        changes = {"room": self.sizes, "cells": cells, "bad": sorted(self.bad)}
        self.sizes, self.new, self.bad = [], Counter(), set()
        return {name: new for name, new in changes.items() if new}


_current: ContextVar[JobCounters | None] = ContextVar("gangsaw_job", default=None)


def current_counters() -> JobCounters | None:
    """Return the counters of the job that runs in this context."""
    return _current.get()


def attribute_to_codec(codec: str) -> None:
    """Attribute the next amounts of the job in this context to this codec."""
    if (counters := _current.get()) is not None:
        counters.attribute_to_chunks(codec)


@contextmanager
def count_job(kind: str, store: object) -> Iterator[JobCounters]:
    """Yield the counters of a job of this kind; a job within a job shares the outer counters."""
    if (outer := _current.get()) is not None:
        yield outer
        return
    counters = JobCounters(kind, str(store))
    before = _current.set(counters)
    try:
        yield counters
    except DryRunEnd:  # a dry run, which is not reported
        raise
    except BaseException as error:
        counters.end(
            "interrupted" if isinstance(error, KeyboardInterrupt) else "failed", str(error)
        )
        raise
    else:
        counters.end("done")
    finally:
        _current.reset(before)


def count_as_job(kind: str, store: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that runs a function as a job; `store` is the parameter with its store."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            with count_job(kind, signature.bind(*args, **kwargs).arguments[store]):
                return function(*args, **kwargs)

        return run

    return decorated
