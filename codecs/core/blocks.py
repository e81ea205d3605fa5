"""Encoded blocks in memory: what a backend produces and what the frame stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.shelf import Shelf


@dataclass(frozen=True)
class Blocks:
    """Encoded blocks, in order.

    Attributes
    ----------
    parts : one (n,) uint8 per block; kept apart, for joining them cost a tenth of an encode
    lane_bits : (n_blocks, n_lanes) int64, bits of each lane, or None for a codec without lanes
    shelf : what the parts lie on, all of them back to back, or None
    """

    parts: tuple[npt.NDArray[np.uint8], ...]
    lane_bits: npt.NDArray[np.int64] | None = None
    shelf: Shelf | None = None

    @classmethod
    def cut(
        cls,
        payload: npt.NDArray[np.uint8],
        lengths: npt.NDArray[np.int64],
        lane_bits: npt.NDArray[np.int64] | None = None,
    ) -> Self:
        """Return views of blocks that lie back to back, `lengths` bytes each."""
        ends = np.cumsum(lengths)
        pairs = zip(ends - lengths, ends, strict=True)
        return cls(tuple(payload[a:b] for a, b in pairs), lane_bits)

    @classmethod
    def joined(cls, runs: Sequence[Self]) -> Self:
        """Return the blocks of several runs as one; blocks with fewer lanes get empty ones."""
        if len(runs) == 1:
            return runs[0]
        parts = tuple(part for run in runs for part in run.parts)
        rows = [row for run in runs if run.lane_bits is not None for row in run.lane_bits]
        return cls(parts, lane_table(rows) if rows else None)

    def __getitem__(self, which: slice) -> Self:
        """Return some of the blocks."""
        if which.indices(len(self.parts)) == (0, len(self.parts), 1):
            return self
        lanes = None if self.lane_bits is None else self.lane_bits[which]
        return type(self)(self.parts[which], lanes)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """(n_blocks,) int64: bytes of each block."""
        return np.array([part.size for part in self.parts], np.int64)

    @property
    def payload(self) -> npt.NDArray[np.uint8]:
        """(sum(lengths),) uint8: the blocks back to back; a view where there is but one."""
        if len(self.parts) == 1:
            return self.parts[0]
        return np.concatenate([np.empty(0, np.uint8), *self.parts])

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """(n_blocks + 1,) int64: byte offsets of the blocks in the payload."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.lengths)])

    def __sizeof__(self) -> int:
        """Return the true size in bytes: Dask plans memory by it."""
        lanes = 0 if self.lane_bits is None else self.lane_bits.nbytes
        return 64 + sum(part.nbytes for part in self.parts) + lanes


def lane_table(rows: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """(n_blocks, n_lanes) int64, 0 for lanes that a block lacks and others have."""
    table = np.zeros((len(rows), max(bits.size for bits in rows)), np.int64)
    for row, bits in zip(table, rows, strict=True):
        row[: bits.size] = bits
    return table
