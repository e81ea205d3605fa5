"""Reads in memory: lines of names, sequences and qualities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.tasks.genomics.reads.files.records import Field
from gangsaw.tasks.genomics.sequences.ragged import Ragged

if TYPE_CHECKING:
    import awkward
    import pyarrow


class SingleRead(NamedTuple):
    r"""Read of a store.

    Parameters
    ----------
    name : bytes
        Name as in its file, without "@".
    sequence : bytes
        Bases as in its file.
    quality : bytes or None
        Quality bytes, usually Phred + 33; None if the store has no qualities.

    Examples
    --------
    >>> from pathlib import Path
    >>> import gangsaw.reads
    >>> text = "@r1\nACGT\n+\nIIII\n@r2\nGGTACC\n+\nIIIIII\n"
    >>> size = Path("reads.fastq").write_text(text)
    >>> summary = gangsaw.compress("reads.fastq", "reads.zarr")
    >>> next(iter(gangsaw.reads.open("reads.zarr")))
    SingleRead(name=b'r1', sequence=b'ACGT', quality=b'IIII')
    """

    name: bytes
    sequence: bytes
    quality: bytes | None


@dataclass(frozen=True, eq=False)
class Reads:
    r"""Some reads of a store, in memory.

    Parameters
    ----------
    names, sequences : Ragged
        One line per read.
    qualities : Ragged or None
        One line of bytes per read, usually Phred + 33; None if the store has no qualities.
    first : int
        Number of the first read; for a list of numbers, of the first one in it.

    Examples
    --------
    >>> from pathlib import Path
    >>> import gangsaw.reads
    >>> text = "@r1\nACGT\n+\nIIII\n@r2\nGGTACC\n+\nIIIIII\n"
    >>> size = Path("reads.fastq").write_text(text)
    >>> summary = gangsaw.compress("reads.fastq", "reads.zarr")
    >>> some = gangsaw.reads.open("reads.zarr")[0:2]
    >>> some.sequences[1], some.qualities[1], some.names[1]
    (b'GGTACC', b'IIIIII', b'r2')
    """

    names: Ragged
    sequences: Ragged
    qualities: Ragged | None
    first: int

    def __len__(self) -> int:
        """Return the number of reads."""
        return len(self.sequences)

    def __iter__(self) -> Iterator[SingleRead]:
        """Yield the reads one by one."""
        qualities = [None] * len(self) if self.qualities is None else self.qualities
        yield from map(SingleRead, self.names, self.sequences, qualities)

    def to_arrow(self) -> pyarrow.Table:
        """Return an Arrow table of large strings.

        Returns
        -------
        pyarrow.Table
            Columns name, sequence, and quality if the store has it.

        Raises
        ------
        BadParams
            There are bytes other than ASCII, or pyarrow is missing.
        """
        found = {"name": self.names, "sequence": self.sequences, "quality": self.qualities}
        arrays = {name: own.to_arrow() for name, own in found.items() if own is not None}
        return import_module("pyarrow").table(arrays)

    def to_awkward(self) -> awkward.Array:
        """Return an Awkward array of records.

        Returns
        -------
        awkward.Array
            Fields name, sequence, and quality if the store has it.

        Raises
        ------
        BadParams
            The package awkward is missing.
        """
        found = {"name": self.names, "sequence": self.sequences, "quality": self.qualities}
        arrays = {name: own.to_awkward() for name, own in found.items() if own is not None}
        return import_module("awkward").zip(arrays, depth_limit=1)


def pick_reads(reads: Reads, indices: npt.NDArray[np.int64]) -> Reads:
    """Return the reads at these indices."""
    return Reads(
        _lines(reads.names, indices),
        _lines(reads.sequences, indices),
        None if reads.qualities is None else _lines(reads.qualities, indices),
        reads.first + int(indices[0] if indices.size else 0),
    )


def _lines(lines: Ragged, indices: npt.NDArray[np.int64]) -> Ragged:
    return Field(lines.data, lines.offsets[indices], lines.offsets[indices + 1]).gathered()


def concatenate_reads(parts: Sequence[Reads]) -> Reads:
    """Concatenate reads."""
    qualities = [part.qualities for part in parts if part.qualities is not None]
    return Reads(
        Ragged.concatenate([part.names for part in parts]),
        Ragged.concatenate([part.sequences for part in parts]),
        Ragged.concatenate(qualities) if qualities else None,
        parts[0].first,
    )
