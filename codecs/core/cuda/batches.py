"""Blocks of a codec on a device: as many at once as its memory takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar, TypeVarTuple, cast

from gangsaw.codecs.core.arrays import Run
from gangsaw.codecs.core.cuda.launch import in_runs

Result = TypeVar("Result")
Rows = TypeVarTuple("Rows")


class _PerBlock(Protocol):
    """Data of the blocks, one item for each."""

    def __getitem__(self, run: Run, /) -> object:
        """Return the items of a run of blocks."""


def in_batches(
    work: Callable[[*Rows], Result], needed: Sequence[int], *rows: *Rows
) -> list[Result]:
    """Work on all blocks at once, or where the device has too little memory on runs of them.

    Parameters
    ----------
    work : takes a slice of each of `rows`; a CorruptChunk from it counts blocks from the slice's
        first
    needed : bytes of device memory that each block takes at most
    rows : data of the blocks, such as `Runs` and arrays, one item for each

    Raises
    ------
    DeviceError : not even one block fits, or the device failed
    """

    def work_on(run: Run) -> Result:
        parts = tuple(row[run] for row in cast(tuple[_PerBlock, ...], rows))
        return work(*cast(tuple[*Rows], parts))

    return in_runs(work_on, len(needed), lambda run: sum(needed[run]))
