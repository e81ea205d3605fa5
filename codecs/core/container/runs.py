"""Blocks back to back in one array: no view is made of those that nobody asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.memory.aligned import address_of

Part: TypeAlias = npt.NDArray[np.uint8]


class Cut(Sequence[Part]):
    """Views of blocks that lie back to back, each made when it is taken.

    Attributes
    ----------
    data : what they lie in, (n,) uint8, contiguous
    offsets : (n_blocks + 1,) int64, where they begin, and where the last one ends
    """

    def __init__(self, data: Part, offsets: npt.NDArray[np.int64]) -> None:
        self.data, self.offsets = data, offsets

    def __len__(self) -> int:
        """Return how many blocks these are."""
        return self.offsets.size - 1

    @overload
    def __getitem__(self, which: int) -> Part: ...

    @overload
    def __getitem__(self, which: slice) -> Cut: ...

    def __getitem__(self, which: int | slice) -> Part | Cut:
        """Return a block, shorter where the data end before it does; or some, side by side."""
        if isinstance(which, slice):
            first, end, step = which.indices(len(self))
            assert step == 1, "blocks that are taken together follow each other"
            return Cut(self.data, self.offsets[first : max(first, end) + 1])
        number = range(len(self))[which]
        return self.data[self.offsets[number] : self.offsets[number + 1]]

    @property
    def end(self) -> int:
        """Where the last block ends."""
        return int(self.offsets[-1])

    @property
    def n_bytes(self) -> int:
        """Bytes of all blocks."""
        return self.end - int(self.offsets[0])

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """(n_blocks,) int64: bytes of each block."""
        return self.offsets[1:] - self.offsets[:-1]


class Payloads(NamedTuple):
    """Where the bytes of blocks lie; keep them alive yourself.

    Attributes
    ----------
    base : an address
    begins, ends : (n_blocks,) int64, from there to the first byte of each, and behind its last
    limit : from there to behind what may be read; where blocks lie apart, the end of each is
    """

    base: int
    begins: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    limit: int


def payloads_of(parts: Sequence[Part]) -> Payloads:
    """Return where the bytes of blocks lie."""
    if isinstance(parts, Cut):
        assert parts.end <= parts.data.size, "the data end before the blocks do"
        offsets = parts.offsets
        return Payloads(address_of(parts.data), offsets[:-1], offsets[1:], parts.data.size)
    begins = np.array([address_of(part) for part in parts], np.int64)
    sizes = np.array([part.size for part in parts], np.int64)
    return Payloads(0, begins, begins + sizes, 0)
