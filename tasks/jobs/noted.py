"""A job that writes a store is noted in the history of the store, however it ends."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version

from gangsaw.tasks.engine.tally import Tally, job
from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.state.history import PastJob, note
from gangsaw.tasks.store.state.lease import Lease, leased
from gangsaw.tasks.store.state.target import JOB, Target


@contextmanager
def published(kind: str, target: Target, arrays: Collection[str]) -> Iterator[Lease]:
    """Hold the lease of a target while the block writes it, then put it in its place; note it all.

    BadParams where another job holds it.
    """
    with ExitStack() as held:
        lease = held.enter_context(leased(target.work, next(iter(arrays))))
        with noted(kind, target, arrays):
            yield lease
            held.close()  # it lies in what moves now
            target.publish()


@contextmanager
def noted(kind: str, target: Target, arrays: Iterable[str]) -> Iterator[None]:
    """Add an entry to the store's history at the end of the block.

    Parameters
    ----------
    kind : of the job, unless it is part of another one
    target : where the store is written; it has its final place if the block ends well
    arrays : names of its arrays, some of which may go while they are written
    """
    with job(kind, target.final) as tally:
        try:
            yield
        except BaseException as error:
            is_asked = isinstance(error, KeyboardInterrupt)
            _note(target.work, arrays, tally, "interrupted" if is_asked else "failed")
            raise
        _note(target.final, arrays, tally, "done")


def _note(store: Place, arrays: Iterable[str], tally: Tally, outcome: str) -> None:
    with suppress(OSError):
        first = min(arrays, default="")
        array = store / first if first else store
        if array.has(JOB):  # a failed job may have moved its store away
            note(array, _entry(tally, outcome))


def _entry(tally: Tally, outcome: str) -> PastJob:
    done = tally.progress
    return PastJob(
        command=tally.kind,
        version=version("gangsaw"),
        began=_iso(tally.began),
        ended=_iso(time.time()),
        outcome=outcome,
        chunks=done.done if done else 0,
        resumed=done.resumed if done else 0,
        raw_bytes=done.raw_bytes if done else 0,
        stored_bytes=done.stored_bytes if done else 0,
        workers=len(tally.workers),
    )


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
