"""gangsaw extract."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from gangsaw.codecs.core.errors import BadParams


def extract(
    store: Annotated[str, typer.Argument(help="Zarr store of reads.", metavar="store")],
    reads: Annotated[
        str, typer.Argument(help="First read : end, from 0, such as 1000:2000.", metavar="reads")
    ],
) -> None:
    """Write some reads of a store, as FASTQ or FASTA, to standard output.

    Example: gangsaw extract reads.zarr 1000:2000 > some.fastq
    """
    from gangsaw.tasks.reads.readset import open

    found = open(store)
    first, last = numbers(reads, len(found))
    for begin in range(first, last, BATCH):
        sys.stdout.buffer.write(found.text(begin, min(begin + BATCH, last)))


BATCH = 1 << 16  # reads that are written at once


def numbers(text: str, n: int) -> tuple[int, int]:
    """Return first and end of "5", "5:9", ":9", "5:" or "-3:"; BadParams for anything else."""
    first, colon, last = text.partition(":")
    try:
        bounds = [int(part) if part else None for part in (first, last)]
    except ValueError:
        raise BadParams(f"reads must be like 1000:2000, got {text!r}") from None
    if not colon:
        number = bounds[0]
        if number is None or not -n <= number < n:
            raise BadParams(f"there is no read {text}: the store has {n}")
        return number % n, number % n + 1
    begin, end, _ = slice(*bounds).indices(n)
    return begin, max(begin, end)
