"""Reads of a store in Python: by number, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.reads.export import records_text
from gangsaw.tasks.reads.fastq import Places
from gangsaw.tasks.reads.kernels import gather_lines
from gangsaw.tasks.reads.record_text import names_of
from gangsaw.tasks.reads.stored import Field, Stored
from gangsaw.tasks.reads.text import Text
from gangsaw.tasks.store.source import open_zarr

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class Ragged(Sequence[bytes]):
    """Lines of different lengths.

    Attributes
    ----------
    data : (m,) uint8, the letters of all lines, back to back
    offsets : (n + 1,) int64, where each begins, and where the last one ends
    """

    data: Text
    offsets: Places

    def __len__(self) -> int:
        """Return how many lines these are."""
        return self.offsets.size - 1

    @overload
    def __getitem__(self, which: int) -> bytes: ...

    @overload
    def __getitem__(self, which: slice[int | None, int | None, int | None]) -> list[bytes]: ...

    def __getitem__(
        self, which: int | slice[int | None, int | None, int | None]
    ) -> bytes | list[bytes]:
        """Return a line, or some."""
        if isinstance(which, slice):
            return [self[i] for i in range(len(self))[which]]
        i = range(len(self))[which]
        return self.data[self.offsets[i] : self.offsets[i + 1]].tobytes()

    def to_arrow(self) -> pyarrow.LargeBinaryArray:
        """Return the lines as an Arrow array, without a copy of the letters; it needs pyarrow."""
        import pyarrow

        buffers = [None, pyarrow.py_buffer(self.offsets), pyarrow.py_buffer(self.data)]
        return pyarrow.LargeBinaryArray.from_buffers(pyarrow.large_binary(), len(self), buffers)


@dataclass(frozen=True)
class Reads:
    """Some reads of a store.

    Attributes
    ----------
    names, sequences, qualities : a line of each read, None where the store has none of them;
        qualities are letters, Phred + 33
    first : number of the first read
    """

    names: Ragged
    sequences: Ragged
    qualities: Ragged | None
    first: int

    def __len__(self) -> int:
        """Return how many reads these are."""
        return len(self.sequences)


class ReadSet:
    """The reads of a store, read where they are asked for.

    Attributes
    ----------
    path : of the store
    contents : what the store says of itself
    """

    def __init__(self, path: str) -> None:
        source = open_zarr(path)
        try:
            self._stored = Stored(source.arrays, source.attrs)
        except BadParams as error:
            raise BadParams(f"{path}: {error}") from error
        self.path, self.contents = path, self._stored.contents

    def __len__(self) -> int:
        """Return how many reads there are."""
        return self._stored.n_records

    def __repr__(self) -> str:
        """Return path and number of reads."""
        return f"<ReadSet {self.path}: {len(self):,} reads>"

    def __getitem__(self, which: int | slice[int | None, int | None, int | None]) -> Reads:
        """Return a read, or reads i:j; IndexError outside, BadParams for steps."""
        if isinstance(which, slice):
            first, last, step = which.indices(len(self))
            if step != 1:
                raise BadParams(f"reads are taken without steps, got a step of {step}")
            return self._reads(first, max(first, last))
        number = range(len(self))[which]
        return self._reads(number, number + 1)

    def batches(self, n: int = 1 << 16) -> Iterator[Reads]:
        """Yield all reads, n at a time."""
        for first in range(0, len(self), n):
            yield self[first : first + n]

    def text(self, first: int, last: int) -> bytes:
        """Return reads first..last - 1 as text: FASTA where they came from it, else FASTQ.

        Raises BadParams where there are no qualities for FASTQ.
        """
        return records_text(self._stored).text(first, last).tobytes()

    def _reads(self, first: int, last: int) -> Reads:
        has_qualities = self._stored.has("quality")
        lines = self._stored.lines
        return Reads(
            names=_ragged(names_of(self._stored, first, last)),
            sequences=_ragged(lines("sequence", first, last)),
            qualities=_ragged(lines("quality", first, last)) if has_qualities else None,
            first=first,
        )


def open(path: str | Path) -> ReadSet:
    """Return the reads of a store; BadParams where it holds none."""
    return ReadSet(str(path))


def _ragged(field: Field) -> Ragged:
    offsets = np.concatenate(([0], np.cumsum(field.ends - field.begins)))
    data = np.empty(int(offsets[-1]), np.uint8)
    gather_lines(field.text, field.begins, field.ends, offsets, data)
    return Ragged(data, offsets)
