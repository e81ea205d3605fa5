"""Encoded blocks: payloads that are verified when they are taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.aligned import address_of
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.core.ragged import RaggedArray, Slice, offsets_of

Payload: TypeAlias = npt.NDArray[np.uint8]
WRONG_CHECKSUM = "the checksum of its bytes is wrong"


class Origin(NamedTuple):
    """Names of store and chunk for errors, as far as known."""

    store: str | None = None
    chunk: str | None = None


NOWHERE = Origin()


class RunAddresses(NamedTuple):
    """Memory addresses of payloads, for kernels; the caller keeps the payloads alive.

    Attributes
    ----------
    base : address that the offsets are relative to
    begins, ends : (n_blocks,) int64, offsets from `base` of each payload's first byte, and after
        its last one
    limit : offset after the last readable byte; 0 for separate payloads, which are readable to
        `ends`
    """

    base: int
    begins: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    limit: int


@dataclass(frozen=True)
class Runs:
    """Payloads of encoded blocks in order, with bit lengths of lanes and expected checksums.

    `take` verifies a block: the thread that decodes a block calls it right before, so that its
    bytes are in that core's cache. Verifying all blocks first would read them from memory twice.

    Attributes
    ----------
    payloads : one (n,) uint8 for each block, not verified; separate arrays, or `RaggedArray`
    lane_bits : (n_blocks, n_lanes) int64, bits of each lane, or None for a codec without lanes
    checksums : (n_blocks,) uint32, expected CRC-32C of each payload; None if they are verified
    numbers : (n_blocks,) int64, numbers of these blocks in their chunk; None for all blocks
    origin : names store and chunk in errors
    lanes_there : (n_blocks, n_lanes) bool, True for lanes that were fetched; None for all of them.
        The other lanes have length 0
    """

    payloads: Sequence[Payload]
    lane_bits: npt.NDArray[np.int64] | None = None
    checksums: npt.NDArray[np.uint32] | None = None
    numbers: npt.NDArray[np.int64] | None = None
    origin: Origin = NOWHERE
    lanes_there: npt.NDArray[np.bool_] | None = None

    @classmethod
    def back_to_back(
        cls,
        data: Payload,
        lengths: npt.NDArray[np.int64],
        lane_bits: npt.NDArray[np.int64] | None = None,
    ) -> Self:
        """Return payloads that are concatenated in `data`, with `lengths` bytes each."""
        return cls(RaggedArray(data, offsets_of(lengths)), lane_bits)

    @classmethod
    def joined(cls, chunks: Sequence[Self]) -> Self:
        """Concatenate the blocks of several chunks; missing lanes get length 0."""
        if len(chunks) == 1:
            return chunks[0]
        rows = [row for runs in chunks if runs.lane_bits is not None for row in runs.lane_bits]
        if any(runs.lanes_there is not None for runs in chunks):
            chunks = [runs.verified() for runs in chunks]
        checksums = [runs.checksums for runs in chunks if runs.checksums is not None]
        assert len(checksums) in (0, len(chunks)), "all are to be verified, or none"
        return cls(
            tuple(payload for runs in chunks for payload in runs.payloads),
            lane_table(rows) if rows else None,
            np.concatenate(checksums) if checksums else None,
            lanes_there=_joined_lanes(chunks),
        )

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self.payloads)

    def __getitem__(self, which: Slice) -> Self:
        """Return the blocks in a slice."""
        if which.indices(len(self)) == (0, len(self), 1):
            return self
        lanes = None if self.lane_bits is None else self.lane_bits[which]
        checksums = None if self.checksums is None else self.checksums[which]
        return replace(
            self,
            payloads=self.payloads[which],
            lane_bits=lanes,
            checksums=checksums,
            numbers=None,
            lanes_there=None if self.lanes_there is None else self.lanes_there[which],
        )

    def take(self, which: int) -> Payload:
        """Return the payload of a block; raise CorruptChunk if its checksum is wrong."""
        payload = self.payloads[which]
        if self.checksums is not None and crc32c(payload) != self.checksums[which]:
            raise CorruptChunk(WRONG_CHECKSUM, block=which)
        return payload

    def __iter__(self) -> Iterator[Payload]:
        """Yield the verified payloads in order."""
        return map(self.take, range(len(self)))

    def verified(self) -> Self:
        """Verify all blocks in parallel and return them; raise CorruptChunk if one is wrong."""
        run_blocks(self.take, len(self))
        return replace(self, checksums=None)

    def number(self, which: int) -> int:
        """Return the number of a block in its chunk."""
        return which if self.numbers is None else int(self.numbers[which])

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Bytes of each payload, (n_blocks,) int64."""
        if isinstance(self.payloads, RaggedArray):
            return self.payloads.lengths
        return np.array([payload.size for payload in self.payloads], np.int64)

    @property
    def n_bytes(self) -> int:
        """Bytes of all payloads."""
        if isinstance(self.payloads, RaggedArray):
            return int(self.payloads.offsets[-1] - self.payloads.offsets[0])
        return sum(payload.size for payload in self.payloads)

    def joined_payload(self) -> Payload:
        """Return the concatenated payloads, (n_bytes,) uint8; a view if there is only one."""
        if len(self.payloads) == 1:
            return self.payloads[0]
        return np.concatenate([np.empty(0, np.uint8), *self.payloads])

    def addresses(self) -> RunAddresses:
        """Return the addresses of the payloads in host memory."""
        return run_addresses(self.payloads)

    def __sizeof__(self) -> int:
        """Return the true size in bytes: Dask uses it to plan memory."""
        lanes = 0 if self.lane_bits is None else self.lane_bits.nbytes
        return 64 + self.n_bytes + lanes


def run_addresses(payloads: Sequence[Payload]) -> RunAddresses:
    """Return the addresses of payloads in host memory."""
    if isinstance(payloads, RaggedArray):
        assert payloads.offsets[-1] <= payloads.data.size, "the data end before the blocks do"
        data, offsets = payloads.data, payloads.offsets
        return RunAddresses(address_of(data), offsets[:-1], offsets[1:], data.size)
    begins = np.array([address_of(payload) for payload in payloads], np.int64)
    sizes = np.array([payload.size for payload in payloads], np.int64)
    return RunAddresses(0, begins, begins + sizes, 0)


def _joined_lanes(chunks: Sequence[Runs]) -> npt.NDArray[np.bool_] | None:
    """Concatenate `lanes_there` of several chunks; None if all lanes were fetched."""
    if all(runs.lanes_there is None for runs in chunks):
        return None
    tables = [
        np.ones((len(runs), runs.lane_bits.shape[1]), bool)
        if runs.lanes_there is None
        else runs.lanes_there
        for runs in chunks
        if runs.lane_bits is not None
    ]
    joined: npt.NDArray[np.bool_] = np.concatenate(tables)
    return joined


def lane_table(rows: Sequence[npt.NDArray[np.int64]], n_lanes: int = 0) -> npt.NDArray[np.int64]:
    """Return the bits of each block's lanes, (n_blocks, n_lanes) int64; missing lanes have 0.

    rows : bits of the lanes of each block
    """
    table = np.zeros((len(rows), max(n_lanes, *(bits.size for bits in rows))), np.int64)
    for row, bits in zip(table, rows, strict=True):
        row[: bits.size] = bits
    return table
