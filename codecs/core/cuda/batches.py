"""Batches of blocks on a device, as large as its memory allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar, TypeVarTuple, cast

from gangsaw.codecs.core.arrays import Run
from gangsaw.codecs.core.cuda.launch import in_runs

Result = TypeVar("Result")
Rows = TypeVarTuple("Rows")


class _PerBlock(Protocol):
    """Interface of a sequence with one item per block, which can be sliced."""

    def __getitem__(self, run: Run, /) -> object:
        """Return the items of a slice of blocks."""


def in_batches(
    work: Callable[[*Rows], Result], needed: Sequence[int], *rows: *Rows
) -> list[Result]:
    """Call `work` for all blocks at once, or for several ranges of them if the device lacks memory.

    Parameters
    ----------
    work : takes a slice of each of `rows`; block numbers in its CorruptChunk are relative to the
        slice
    needed : upper bound on the bytes of device memory for each block
    rows : data of the blocks, such as `Runs` and arrays, one item for each block

    Raises
    ------
    DeviceError : not even one block fits, or the device failed
    """

    def work_on(run: Run) -> Result:
        parts = tuple(row[run] for row in cast(tuple[_PerBlock, ...], rows))
        return work(*cast(tuple[*Rows], parts))

    return in_runs(work_on, len(needed), lambda run: sum(needed[run]))
