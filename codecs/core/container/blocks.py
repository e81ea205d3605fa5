"""Encoded blocks in memory: what a backend produces and what the frame stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, overload

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.container.output import Shelf
from gangsaw.codecs.core.container.runs import Cut, Part
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks

WRONG_CHECKSUM = "the checksum of its bytes is wrong"


class Stored(Sequence[Part]):
    """Blocks from a store: each is verified whenever it is taken.

    So the thread that decodes a block verifies it right before, and it lies in that core's cache
    then. To verify all first took a fifth of the time of fast codecs, and two threads met twice.

    Attributes
    ----------
    raw : the blocks, not verified
    checksums : (n_blocks,) uint32, CRC-32C that they must have
    """

    def __init__(self, raw: Sequence[Part], checksums: npt.NDArray[np.uint32]) -> None:
        self.raw, self.checksums = raw, checksums

    def __len__(self) -> int:
        """Return how many blocks these are."""
        return len(self.raw)

    @overload
    def __getitem__(self, which: int) -> Part: ...

    @overload
    def __getitem__(self, which: slice) -> Stored: ...

    def __getitem__(self, which: int | slice) -> Part | Stored:
        """Return a block whose bytes have their checksum, or some not verified yet."""
        if isinstance(which, slice):
            return Stored(self.raw[which], self.checksums[which])
        part = self.raw[which]
        if crc32c(part) != self.checksums[which]:
            raise CorruptChunk(WRONG_CHECKSUM, block=which)
        return part


@dataclass(frozen=True)
class Blocks:
    """Encoded blocks, in order.

    Attributes
    ----------
    parts : one (n,) uint8 per block; kept apart, for joining them cost a tenth of an encode
    lane_bits : (n_blocks, n_lanes) int64, bits of each lane, or None for a codec without lanes
    shelf : what the parts lie on, all of them back to back, or None
    checksums : (n_blocks,) uint32, CRC-32C of each part as far as its encoder took it, or None
    """

    parts: Sequence[Part]
    lane_bits: npt.NDArray[np.int64] | None = None
    shelf: Shelf | None = None
    checksums: npt.NDArray[np.uint32] | None = None

    @classmethod
    def cut(
        cls,
        payload: Part,
        lengths: npt.NDArray[np.int64],
        lane_bits: npt.NDArray[np.int64] | None = None,
    ) -> Self:
        """Return views of blocks that lie back to back, `lengths` bytes each."""
        offsets = np.zeros(lengths.size + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return cls(Cut(payload, offsets), lane_bits)

    @classmethod
    def joined(cls, runs: Sequence[Self]) -> Self:
        """Return the blocks of several runs as one; blocks with fewer lanes get empty ones."""
        if len(runs) == 1:
            return runs[0]
        rows = [row for run in runs if run.lane_bits is not None for row in run.lane_bits]
        return cls(_joined([run.parts for run in runs]), lane_table(rows) if rows else None)

    def __getitem__(self, which: slice) -> Self:
        """Return some of the blocks."""
        if which.indices(len(self.parts)) == (0, len(self.parts), 1):
            return self
        lanes = None if self.lane_bits is None else self.lane_bits[which]
        checksums = None if self.checksums is None else self.checksums[which]
        return type(self)(self.parts[which], lanes, checksums=checksums)

    def stored(self, checksums: npt.NDArray[np.uint32]) -> Self:
        """Return the same blocks, to be verified when they are taken."""
        return type(self)(Stored(self.parts, checksums), self.lane_bits)

    def verified(self) -> Self:
        """Return the same blocks, all verified, several at once; raise CorruptChunk."""
        run_blocks(self.parts.__getitem__, len(self.parts))
        return type(self)(self._raw, self.lane_bits)

    @property
    def unverified(self) -> tuple[Sequence[Part], npt.NDArray[np.uint32] | None]:
        """Blocks for a backend that verifies them itself, and CRC-32C to do so, if it has to."""
        return self._raw, self.parts.checksums if isinstance(self.parts, Stored) else None

    @property
    def _raw(self) -> Sequence[Part]:
        return self.parts.raw if isinstance(self.parts, Stored) else self.parts

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """(n_blocks,) int64: bytes of each block."""
        raw = self._raw
        if isinstance(raw, Cut):
            return raw.lengths
        return np.array([part.size for part in raw], np.int64)

    @property
    def n_bytes(self) -> int:
        """Bytes of all blocks."""
        raw = self._raw
        return raw.n_bytes if isinstance(raw, Cut) else int(self.lengths.sum())

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
        return 64 + self.n_bytes + lanes


def _joined(runs: Sequence[Sequence[Part]]) -> Sequence[Part]:
    stored = [run for run in runs if isinstance(run, Stored)]
    if len(stored) < len(runs) or not runs:
        return tuple(part for run in runs for part in run)
    checksums = np.concatenate([run.checksums for run in stored])
    return Stored(tuple(part for run in stored for part in run.raw), checksums)


def lane_table(rows: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """(n_blocks, n_lanes) int64, 0 for lanes that a block lacks and others have."""
    table = np.zeros((len(rows), max(bits.size for bits in rows)), np.int64)
    for row, bits in zip(table, rows, strict=True):
        row[: bits.size] = bits
    return table
