"""What the engine asks of the work that it submits to Dask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

BatchIn = TypeVar("BatchIn", contravariant=True)
ResultIn = TypeVar("ResultIn", contravariant=True)
ResultOut = TypeVar("ResultOut", covariant=True)


class Task(Protocol[BatchIn, ResultOut]):
    """A chunk function over a batch: frozen, picklable, small (it travels with every batch)."""

    @property
    def name(self) -> str:
        """What the dashboard and messages call it, such as "compress"."""

    @property
    def peak_bytes(self) -> int:
        """Memory that one call needs at most; 0 where unknown."""

    def __call__(self, batch: BatchIn, /) -> ResultOut:
        """Do the batch; raise ChunkFailed for one of its chunks. Doing it twice is harmless."""


class CommittingTask(Protocol[BatchIn, ResultIn]):
    """A task whose results must be committed, as to a disk."""

    @property
    def waits(self) -> bool:
        """Whether that takes time."""

    def commit(self, batches: Sequence[BatchIn], results: Sequence[ResultIn], /) -> None:
        """Return when the results are safe. The worker begins other tasks meanwhile: hold little.

        As many may wait as the window has futures.
        """


class ReadingTask(Protocol[BatchIn]):
    """A task that can read for batches that are still to be done, where reading means to wait."""

    def begin(self, batch: BatchIn, /) -> bool:
        """Begin to read for a batch; False where too much is on its way, or nothing is gained."""

    def ready(self, batch: BatchIn, /) -> None:
        """Wait for what `begin` began; errors are raised where the batch is done."""

    def forget(self, batch: BatchIn, /) -> None:
        """Let go of what `begin` began: the batch is not done here, or is done."""


class SharingTask(Protocol):
    """A task whose batches may be done side by side in a process that has no client."""

    @property
    def side_by_side(self) -> bool:
        """Whether a batch alone may leave some of its threads idle."""


class CarryingTask(Protocol):
    """A task whose batches hold their samples: few of them may be on their way at once."""

    @property
    def carried_bytes(self) -> int:
        """Bytes that a batch holds at most; 0 where it says only what is to be read."""


class DeviceTask(Task[BatchIn, ResultOut], Protocol[BatchIn, ResultOut]):
    """A task that a GPU can do too, on many batches at once."""

    @property
    def device_batches(self) -> int:
        """How many batches make one call of `on_device`."""

    @property
    def device_peak_bytes(self) -> int:
        """Host memory that one call of `on_device` needs at most; 0 where unknown."""

    def on_device(self, batches: Sequence[BatchIn], /) -> Sequence[ResultOut]:
        """Do the batches on the GPU of this process, with the same results as `__call__`."""


def carried_bytes(task: object) -> int:
    """Return how much the batches of a task carry each; see `CarryingTask`."""
    return int(getattr(task, "carried_bytes", 0))
