"""Job that finds all damaged blocks in the arrays of a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.engine.report.failure import ChunkFailed, name_failed_chunk
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.engine.run.run import Options
from gangsaw.tasks.engine.scheduling.lazy import BatchRanges
from gangsaw.tasks.engine.scheduling.memory import transcode_bytes
from gangsaw.tasks.jobs.runs.arrays import ArrayWork, run_arrays
from gangsaw.tasks.store.salvage import DamagedBlock
from gangsaw.tasks.store.source import ZarrArray, ZarrSource
from gangsaw.tasks.store.state.journal import unit_chunks

if TYPE_CHECKING:
    from distributed import Client

STEP = "damage"  # name of the step in progress reports


@dataclass(frozen=True)
class SurveyResult:
    """Result of a search for damage in a batch: its chunks, their raw bytes and damaged blocks."""

    chunks: int
    raw_bytes: int
    blocks: tuple[DamagedBlock, ...]


@dataclass(frozen=True)
class FindDamage:
    """Batch function that reads the chunks of one array and lists their damaged blocks.

    Attributes
    ----------
    array : array to read
    """

    array: ZarrArray

    def address(self, batch: range) -> str:
        """Return the name of the batch used in messages."""
        return f"{self.array.name}, {batch.start}..{batch.stop - 1}"

    def __call__(self, batch: range) -> SurveyResult:
        """Read the chunks of the batch; return their damaged blocks."""
        found = self.array.as_open_array()
        blocks: list[DamagedBlock] = []
        raw_bytes = 0
        for number in batch:
            with name_failed_chunk(f"{number} of {self.array.name}"):
                blocks += found.damage(number)
            raw_bytes += found.grid.n_samples(number) * self.array.dtype.itemsize
        return SurveyResult(len(batch), raw_bytes, tuple(blocks))

    def on_device(self, batches: Sequence[range]) -> list[SurveyResult]:
        """Process the batches on the CPU, which finds the damaged blocks."""
        return [self(batch) for batch in batches]

    def commit(self, _: Sequence[SurveyResult]) -> None:
        """Do nothing, as the job writes nothing."""


def find_damaged_blocks(
    source: ZarrSource, client: Client | None = None, on_progress: OnProgress | None = None
) -> tuple[DamagedBlock, ...]:
    """Return all damaged blocks of the arrays and coordinates of a store, by array and samples."""
    arrays = (*source.there, *source.whole)
    works = [_work(array) for array in arrays]
    meter = Meter(sum(work.n_chunks for work in works), on_progress, step=STEP)
    found: list[DamagedBlock] = []

    def on_done(_: int, result: SurveyResult) -> None:
        found.extend(result.blocks)
        meter.add(result.chunks, result.raw_bytes, 0)

    run_arrays("survey", works, on_done, client=client, options=Options().with_paths(source.name))
    return tuple(sorted(found, key=lambda one: one.sort_key))


def _work(array: ZarrArray) -> ArrayWork[range, SurveyResult]:
    grid = array.as_open_array().grid
    chunk_bytes = prod(grid.chunks) * array.dtype.itemsize
    step = unit_chunks(grid.n_chunks, chunk_bytes)
    return ArrayWork(
        function=FindDamage(array),
        batches=BatchRanges((range(grid.n_chunks),) if grid.n_chunks else (), step),
        batch_bytes=step * chunk_bytes,
        peak_bytes=transcode_bytes(grid.shape, grid.chunks, array.dtype, grid.chunks),
        n_chunks=grid.n_chunks,
    )


def is_damage_error(error: BaseException | None) -> bool:
    """Return True if an error, or one in its chain of causes, reports damaged bytes."""
    seen = 0
    while error is not None and seen < 20:  # chains of causes are short
        if isinstance(error, CorruptChunk) or (isinstance(error, ChunkFailed) and error.is_its_own):
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False
