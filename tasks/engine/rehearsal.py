"""A job that is rehearsed: it opens, chooses and checks as always, and ends before it touches
anything, with what it would do. So mistakes are found before a cluster starts, by the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum


@dataclass(frozen=True)
class ArrayPlan:
    """What would be done with an array.

    Attributes
    ----------
    name, dtype : of the array
    shape, chunks : samples along each axis; of a stream the first extent is 0
    codec, parameters : as the array's metadata would name them
    n_chunks : that the array has; 0 of a stream
    chunk_bytes : of the samples of a chunk
    task_bytes : memory that one task needs at most
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
    """What a job would do.

    Attributes
    ----------
    source : what would be read
    targets : what would be written
    arrays : of the source; none where they are known only when it is read
    format : of a target that is no Zarr store, by its title
    raw_bytes : of all samples, as far as known
    lost : what the target has no place for, in words
    notes : what else a user should know
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
        """Memory that one task needs at most."""
        return max((array.task_bytes for array in self.arrays), default=0)

    @property
    def n_chunks(self) -> int:
        """Of all arrays."""
        return sum(array.n_chunks for array in self.arrays)


class Planned(BaseException):
    """Ends a rehearsal; no error, so that nothing takes it for one."""

    def __init__(self, plan: JobPlan) -> None:
        super().__init__()
        self.plan = plan


class Depth(Enum):
    """How far a rehearsal goes."""

    CHECK = "what is found at once"
    WHOLE = "all that the choice of a codec reads, scans of all samples included"


_depth: ContextVar[Depth | None] = ContextVar("gangsaw_rehearsal", default=None)


def is_on() -> bool:
    """Whether nothing may be written or removed, and no workers are there."""
    return _depth.get() is not None


def is_quick() -> bool:
    """Whether nothing may be read whole."""
    return _depth.get() is Depth.CHECK


def stop(plan: Callable[[], JobPlan]) -> None:
    """End a rehearsal here, where the job would begin to write; do nothing in a job that runs."""
    if is_on():
        raise Planned(plan())


def forbid(target: object) -> None:
    """Raise where a rehearsal is about to write: the job does not call `stop` before that."""
    if is_on():
        raise RuntimeError(f"{target} would have been written by a rehearsal: stop it before")


def rehearsed(job: Callable[[], object], depth: Depth = Depth.WHOLE) -> JobPlan | None:
    """Run a job up to where it would begin to write; return what it would do.

    Raises what the job raises before that; None where it ends without anything to write.
    """
    with _rehearsing(depth):
        try:
            job()
        except Planned as planned:
            return planned.plan
    return None


@contextmanager
def _rehearsing(depth: Depth) -> Iterator[None]:
    token = _depth.set(depth)
    try:
        yield
    finally:
        _depth.reset(token)
