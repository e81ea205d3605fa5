"""Ragged arrays: rows of different lengths, concatenated in one array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bools, Bytes, Int64s

Row = TypeVar("Row", covariant=True)
Slice: TypeAlias = "slice[int | None, int | None, int | None]"


def offsets_of(lengths: npt.ArrayLike) -> Int64s:
    """Return the offsets of concatenated rows, (n + 1,) int64, from their lengths (n,)."""
    lengths = np.asarray(lengths, np.int64)
    offsets = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


@dataclass(frozen=True, eq=False)
class RaggedRows(Sequence[Row]):
    """Rows of different lengths in one array; subclasses say what an item is.

    Attributes
    ----------
    data : (m,) uint8, concatenated rows
    offsets : (n + 1,) int64, start of each row, and end of the last one; the first may be above 0
    """

    data: Bytes
    offsets: Int64s

    @classmethod
    def from_rows(cls, rows: Sequence[Bytes]) -> Self:
        """Concatenate n arrays, (length,) uint8 each."""
        data = np.concatenate([np.empty(0, np.uint8), *rows])
        return cls(data, offsets_of([row.size for row in rows]))

    @classmethod
    def gather(cls, data: Bytes, begins: Int64s, ends: Int64s) -> Self:
        """Copy the ranges data[begins[i]:ends[i]], which may overlap; nothing is checked.

        Parameters
        ----------
        data : (m,) uint8
        begins, ends : (n,) int64, 0 <= begin <= end <= m
        """
        offsets = offsets_of(ends - begins)
        shifts = np.repeat(begins - offsets[:-1], ends - begins)
        return cls(data[np.arange(offsets[-1]) + shifts], offsets)

    @classmethod
    def concatenate(cls, parts: Sequence[RaggedRows[object]]) -> Self:
        """Return the rows of several ragged arrays, one array after the other."""
        data = [part.data[part.offsets[0] : part.offsets[-1]] for part in parts]
        return cls(np.concatenate(data), offsets_of(np.concatenate([p.lengths for p in parts])))

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.offsets.size - 1

    @property
    def lengths(self) -> Int64s:
        """Items of each row, (n,) int64."""
        return self.offsets[1:] - self.offsets[:-1]

    @property
    def arrays(self) -> tuple[Bytes, Int64s]:
        """Data and offsets, for kernels."""
        return self.data, self.offsets

    def take(self, which: Int64s | Bools) -> Self:
        """Copy rows by their indices, (k,) integers which may repeat, or by a mask, (n,) bool."""
        return self.gather(self.data, self.offsets[:-1][which], self.offsets[1:][which])

    def join_rows(self, k: int) -> Self:
        """Return rows that each consist of k consecutive rows, without a copy of the data."""
        return type(self)(self.data, np.ascontiguousarray(self.offsets[::k]))

    def reverse_rows(self) -> Self:
        """Copy the rows with the items of each in reverse order."""
        mirrors = np.repeat(self.offsets[:-1] + self.offsets[1:] - 1, self.lengths)
        places = mirrors - np.arange(self.offsets[0], self.offsets[-1])
        return type(self)(self.data[places], self.offsets - self.offsets[0])


class RaggedArray(RaggedRows[Bytes]):
    """Rows whose items are views, and whose slices are ragged arrays."""

    @overload
    def __getitem__(self, which: int) -> Bytes: ...

    @overload
    def __getitem__(self, which: Slice) -> Self: ...

    def __getitem__(self, which: int | Slice) -> Bytes | Self:
        """Return a view of a row, truncated at the end of the data, or of a range of rows."""
        if isinstance(which, slice):
            first, end, step = which.indices(len(self))
            assert step == 1, "rows that are taken together follow each other"
            return type(self)(self.data, self.offsets[first : max(first, end) + 1])
        i = range(len(self))[which]
        return self.data[self.offsets[i] : self.offsets[i + 1]]

    def __iter__(self) -> Iterator[Bytes]:
        """Yield a view of each row."""
        # a fifth of the time of indexing
        return (self.data[a:b] for a, b in pairwise(self.offsets.tolist()))
