"""Blocks of a codec on a device: as many at once as its memory takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from gangsaw.codecs.core.cuda.launch import in_runs

Result = TypeVar("Result")


def in_batches(work: Callable[..., Result], needed: Sequence[int], *rows: Any) -> list[Result]:
    """Work on all blocks at once, or where the device has too little memory on runs of them.

    Parameters
    ----------
    work : takes a slice of each of `rows`; a CorruptChunk from it counts blocks from the slice's
        first
    needed : bytes of device memory that each block takes at most
    rows : what there is of the blocks, such as `Runs` and arrays

    Raises
    ------
    DeviceError : not even one block fits, or the device failed
    """

    def work_on(run: slice) -> Result:
        return work(*(row[run] for row in rows))

    return in_runs(work_on, len(needed), lambda run: sum(needed[run]))
