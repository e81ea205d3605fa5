"""Dry run of a job: it opens, chooses and checks as always, and ends before it writes.

The result is a plan. Mistakes are found before a cluster starts, by the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum


@dataclass(frozen=True)
class ArrayPlan:
    """Plan for one array of a dry run.

    Attributes
    ----------
    name, dtype : name and dtype of the array
    shape, chunks : samples along each axis; the first extent of a stream is 0
    codec, parameters : as the array's metadata would name them
    n_chunks : number of chunks; 0 for a stream
    chunk_bytes : bytes of the samples of a chunk
    task_bytes : upper bound of the memory that one task needs
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    chunks: tuple[int, ...] = ()
    codec: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    n_chunks: int = 0
    chunk_bytes: int = 0
    task_bytes: int = 0


@dataclass(frozen=True)
class JobPlan:
    """Plan of a job: result of a dry run.

    Attributes
    ----------
    source : input that would be read
    targets : outputs that would be written
    arrays : plans of the arrays of the source; () if they are known only when it is read
    format : title of the target's format, if it is no Zarr store
    raw_bytes : bytes of all samples, as far as known
    lost : descriptions of items that the target cannot represent
    notes : further notes for the user
    """

    source: str
    targets: tuple[str, ...]
    arrays: tuple[ArrayPlan, ...] = ()
    format: str = "Zarr"
    raw_bytes: int = 0
    lost: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def task_bytes(self) -> int:
        """Upper bound of the memory that one task needs, in bytes."""
        return max((array.task_bytes for array in self.arrays), default=0)

    @property
    def n_chunks(self) -> int:
        """Number of chunks of all arrays."""
        return sum(array.n_chunks for array in self.arrays)


class DryRunEnd(BaseException):
    """Exception that ends a dry run and has its plan.

    It is no `Exception`, so that no error handler catches it.
    """

    def __init__(self, plan: JobPlan) -> None:
        super().__init__()
        self.plan = plan


class Depth(Enum):
    """Amount of input that a dry run reads."""

    CHECK = "what is found at once"
    WHOLE = "all that the choice of a codec reads, scans of all samples included"


_depth: ContextVar[Depth | None] = ContextVar("gangsaw_dry_run", default=None)


def is_on() -> bool:
    """Return True in a dry run, where nothing may be written or removed and no workers exist."""
    return _depth.get() is not None


def is_quick() -> bool:
    """Return True in a dry run that may read only metadata, not all samples of its inputs."""
    return _depth.get() is Depth.CHECK


def stop(plan: Callable[[], JobPlan]) -> None:
    """End a dry run where the job would begin to write; do nothing in a real job."""
    if is_on():
        raise DryRunEnd(plan())


def forbid(target: object) -> None:
    """Raise RuntimeError if a dry run is about to write because the job did not call `stop`."""
    if is_on():
        raise RuntimeError(f"{target} would have been written by a rehearsal: stop it before")


def plan_job(job: Callable[[], object], depth: Depth = Depth.WHOLE) -> JobPlan | None:
    """Run a job as a dry run and return its plan; None if it ends without anything to write.

    Raises the errors that the job raises before it would begin to write.
    """
    with _dry_run(depth):
        try:
            job()
        except DryRunEnd as planned:
            return planned.plan
    return None


@contextmanager
def _dry_run(depth: Depth) -> Iterator[None]:
    token = _depth.set(depth)
    try:
        yield
    finally:
        _depth.reset(token)
