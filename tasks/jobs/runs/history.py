"""Entries of jobs in the history of a store, written at success, failure and interruption."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version

from gangsaw.tasks.engine.report.counters import JobCounters, count_job
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.state.history import PastJob, append_entry
from gangsaw.tasks.store.state.job_folder import JobFolder
from gangsaw.tasks.store.state.lease import LeaseLost
from gangsaw.tasks.store.state.target import Target


@contextmanager
def publish_and_record(kind: str, target: Target, arrays: Collection[str]) -> Iterator[None]:
    """Publish a store at its final address and extend its history, at the end of the block.

    See `record_job`.
    """
    with record_job(kind, target, arrays):
        yield
        target.publish()


@contextmanager
def record_job(kind: str, target: Target, arrays: Iterable[str]) -> Iterator[None]:
    """Add an entry on the job to the history of the store at the end of the block.

    Parameters
    ----------
    kind : command of the job, unless the job is part of another one
    target : target of the store; after success, the store is at its final address
    arrays : names of the arrays of the store, some of which the block may remove
    """
    with count_job(kind, target.final) as counters:
        try:
            yield
        except LeaseLost:  # another job owns the history now
            raise
        except BaseException as error:
            is_interrupt = isinstance(error, KeyboardInterrupt)
            _append_entry(
                target.work, arrays, counters, "interrupted" if is_interrupt else "failed"
            )
            raise
        _append_entry(target.final, arrays, counters, "done")


def _append_entry(
    store: Prefix, arrays: Iterable[str], counters: JobCounters, outcome: str
) -> None:
    with suppress(OSError):
        first = min(arrays, default="")
        array = store / first if first else store
        if JobFolder(array).has_job:  # a failed job may have moved its store away
            append_entry(array, _entry(counters, outcome))


def _entry(counters: JobCounters, outcome: str) -> PastJob:
    done = counters.progress
    return PastJob(
        command=counters.kind,
        version=version("gangsaw"),
        began=_iso(counters.began),
        ended=_iso(time.time()),
        outcome=outcome,
        chunks=done.done if done else 0,
        resumed=done.resumed if done else 0,
        raw_bytes=done.raw_bytes if done else 0,
        stored_bytes=done.stored_bytes if done else 0,
        workers=len(counters.workers),
        source_bytes=counters.source_bytes,
    )


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
