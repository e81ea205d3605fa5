"""Protocols of the tasks that the engine runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

BatchIn = TypeVar("BatchIn", contravariant=True)
ResultIn = TypeVar("ResultIn", contravariant=True)
ResultOut = TypeVar("ResultOut", covariant=True)


class Task(Protocol[BatchIn, ResultOut]):
    """Chunk function over a batch: frozen, picklable and small, since it is sent with each task."""

    @property
    def name(self) -> str:
        """Display name on the dashboard and in messages, such as "compress"."""

    @property
    def peak_bytes(self) -> int:
        """Upper bound of the memory that one call needs, in bytes; 0 if unknown."""

    def __call__(self, batch: BatchIn, /) -> ResultOut:
        """Run the batch; raise ChunkFailed for a chunk that fails. Repeated calls are harmless."""


class CommittingTask(Protocol[BatchIn, ResultIn]):
    """Task whose results must be committed, for example flushed to a disk."""

    @property
    def waits(self) -> bool:
        """True if a commit takes time."""

    def commit(self, batches: Sequence[BatchIn], results: Sequence[ResultIn], /) -> None:
        """Wait until the results are durable. The worker runs other tasks meanwhile: save memory.

        As many calls may wait as the window has futures.
        """


class ReadingTask(Protocol[BatchIn]):
    """Task that can start the reads of later batches, for sources over a network."""

    def begin(self, batch: BatchIn, /) -> bool:
        """Start to read for a batch; return False if too much is in flight or nothing is gained."""

    def ready(self, batch: BatchIn, /) -> None:
        """Wait for the reads that `begin` started; errors are raised when the batch is run."""

    def forget(self, batch: BatchIn, /) -> None:
        """Release the reads that `begin` started: the batch is done, or is not done here."""


class SharingTask(Protocol):
    """Task whose batches may run in parallel threads of a process without a client."""

    @property
    def side_by_side(self) -> bool:
        """True if a single batch may leave some of its threads idle."""


class CarryingTask(Protocol):
    """Task whose batches contain their samples, so that only a few may be in flight."""

    @property
    def carried_bytes(self) -> int:
        """Upper bound of the bytes in a batch; 0 if it only describes what to read."""


class DeviceTask(Task[BatchIn, ResultOut], Protocol[BatchIn, ResultOut]):
    """Task that can also run on a GPU, on many batches at once."""

    @property
    def device_batches(self) -> int:
        """Number of batches per call of `on_device`."""

    @property
    def device_peak_bytes(self) -> int:
        """Upper bound of the host memory that one call of `on_device` needs; 0 if unknown."""

    def on_device(self, batches: Sequence[BatchIn], /) -> Sequence[ResultOut]:
        """Run the batches on the GPU of this process, with the same results as `__call__`."""


def carried_bytes(task: object) -> int:
    """Return the bytes of samples that each batch of a task contains; see `CarryingTask`."""
    return int(getattr(task, "carried_bytes", 0))
