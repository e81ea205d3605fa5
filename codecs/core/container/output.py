"""Output buffer of a backend's payloads, which becomes the frame of a single chunk.

An array per block would be fresh memory, which the system zeroes page by page, and would be copied
once more into the frame. If a backend reports the bytes of its payloads, they are stored after the
header, in order, whichever thread ends first. A block is encoded there if its offset is known, else
it is copied from scratch memory of its thread. If the payloads take more bytes after all, the rest
is stored separately, and the frame is a copy of all.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.container.runs import Payload, Runs, lane_table
from gangsaw.codecs.core.memory.aligned import LONG
from gangsaw.codecs.core.memory.reused import reused
from gangsaw.codecs.core.ragged import RaggedArray

_Run: TypeAlias = tuple[Payload, Sequence[int]]


class Output:
    """Destination of the payloads of a chunk's blocks, which threads may store in any order.

    Attributes
    ----------
    n_lanes : lanes of a block in the index; lanes that a block lacks have 0 bits
    data : (lead + n_bytes,) uint8 once `reserve` was called, else None; bytes before and after the
        payloads are undefined
    lead : free bytes before the first payload
    end : end of the last payload in `data`
    checksums : (n_blocks,) little-endian uint32, CRC-32C of each payload
    summed : (n_blocks,) bool, True if the checksum of a block is computed
    """

    def __init__(self, n_blocks: int, lead: int = 0, n_lanes: int = 0) -> None:
        self.n_lanes = n_lanes
        self.data: Payload | None = None
        self.checksums = np.empty(n_blocks, "<u4")
        self.summed = np.zeros(n_blocks, bool)
        self.lead = self.end = lead
        self._offsets = [lead]
        self._waiting: dict[int, _Run] = {}
        self._lanes: dict[int, npt.NDArray[np.int64]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of blocks, stored or not."""
        return self.checksums.size

    def reserve(self, n_bytes: int) -> None:
        """Allocate memory for payloads of n_bytes bytes in total, before the first one is stored.

        `n_bytes` is their likely or largest size. Up to half of the frame's memory may be reserved
        and unused for as long as the frame exists.
        """
        self.data = reused(self.lead + n_bytes)

    def free_buffer(self, number: int, least: int = 0) -> Payload | None:
        """Return the unused reserved memory if block `number` is the next one to store there.

        None if an earlier block is missing, or less than `least` bytes are free. No other thread
        gets it before the block is stored, so the thread that has the block may write.
        """
        with self._lock:
            if self.data is None or not self._has_place(number, least):
                return None
            return self.data[self.end :]

    def settle(
        self,
        number: int,
        ends: Sequence[int],
        checksums: npt.ArrayLike,
        lane_bits: npt.NDArray[np.int64] | None = None,
    ) -> None:
        """Register payloads that were written to the memory of `free_buffer`; see `put_run`.

        lane_bits : bits of the lanes of a single block, see `give`
        """
        if lane_bits is not None:
            self._lanes[number] = lane_bits
        self._sum(number, len(ends), checksums)
        with self._lock:
            self._place(ends)
            placed = list(self._after())
        self._copy(placed)

    def put(self, number: int, *parts: Payload) -> None:
        """Copy the payload of a block, in one or more parts, to its offset, or store a copy."""
        size, checksum = sum(part.size for part in parts), 0
        for part in parts:
            checksum = crc32c(part, checksum)
        buffer = self.free_buffer(number, size)
        if buffer is None:
            self.put_run(number, np.concatenate(parts), [size], [checksum])
            return
        ends = itertools.accumulate(part.size for part in parts)
        pairs = zip(parts, ends, strict=True)
        self._copy([(part, buffer[end - part.size : end]) for part, end in pairs])
        self.settle(number, [size], [checksum])

    def put_run(
        self, number: int, payloads: Payload, ends: Sequence[int], checksums: npt.ArrayLike | None
    ) -> bool:
        """Copy payloads of consecutive blocks to their offsets; return True if that was possible.

        It is impossible if an earlier block is missing, so that the offset is unknown, or if too
        few bytes are reserved. Then the caller may not reuse the memory of `payloads`: they stay
        there until they are copied.

        Parameters
        ----------
        number : number of the first block
        payloads : (n,) uint8, concatenated payloads
        ends : end offset of each payload in `payloads`
        checksums : CRC-32C of each, or None to compute them when the frame is built
        """
        self._sum(number, len(ends), checksums)
        with self._lock:
            if not self._has_place(number, ends[-1]):
                self._waiting[number] = payloads, ends
                return False
            placed = [(payloads, self._place(ends)), *self._after()]
        self._copy(placed)
        return True

    def give(
        self,
        number: int,
        payload: Payload,
        checksum: int | None = None,
        lane_bits: npt.NDArray[np.int64] | None = None,
    ) -> None:
        """Register the payload of a block without a copy: nobody may write to it again.

        Parameters
        ----------
        checksum : CRC-32C, if it is cheaper to compute now; else it is computed later, in threads
        lane_bits : (n,) int64, bits of the block's lanes, for a codec with lanes
        """
        if lane_bits is not None:
            self._lanes[number] = lane_bits
        self.put_run(number, payload, [payload.size], None if checksum is None else [checksum])

    def runs(self) -> Runs:
        """Return the payloads of all blocks, which must be stored, with lanes and checksums."""
        rows = [self._lanes[i] for i in range(len(self))] if self._lanes else None
        lanes = None if rows is None else lane_table(rows, self.n_lanes)
        return Runs(self._payloads(), lanes, self.checksums if self.summed.all() else None)

    def _payloads(self) -> Sequence[Payload]:
        placed: Sequence[Payload] = ()
        if self.data is not None:
            placed = RaggedArray(self.data, np.array(self._offsets))
            if len(placed) == len(self):
                return placed
        pairs = (self._waiting[number] for number in sorted(self._waiting))
        apart = [run[a:b] for run, ends in pairs for a, b in itertools.pairwise([0, *ends])]
        assert len(placed) + len(apart) == len(self), "a block has not been put"
        return (*placed, *apart)

    def _sum(self, number: int, count: int, checksums: npt.ArrayLike | None) -> None:
        if checksums is not None:
            self.checksums[number : number + count] = checksums
            self.summed[number : number + count] = True

    def _copy(self, placed: Sequence[tuple[Payload, Payload]]) -> None:
        for payload, place in placed:
            if self.data is None or self.data.size < LONG:
                place[:] = payload
                continue
            # imported here as it loads Numba
            from gangsaw.codecs.core.numba.nontemporal import copy_nontemporal

            copy_nontemporal(payload, place)

    def _place(self, ends: Sequence[int]) -> Payload:
        """Allot reserved memory to the next payloads, by their end offsets; return that memory."""
        assert self.data is not None
        begin = self.end
        self._offsets += [begin + end for end in ends]
        self.end = self._offsets[-1]
        return self.data[begin : self.end]

    def _has_place(self, number: int, n_bytes: int) -> bool:
        """Return True if block `number` is next, and n_bytes of reserved memory are free for it."""
        is_next = number == len(self._offsets) - 1
        return self.data is not None and is_next and n_bytes <= self.data.size - self.end

    def _after(self) -> Iterator[tuple[Payload, Payload]]:
        """Allot reserved memory to waiting payloads whose turn it is; yield payloads and memory."""
        while (run := self._waiting.get(number := len(self._offsets) - 1)) is not None:
            payloads, ends = run
            if not self._has_place(number, ends[-1]):
                return
            del self._waiting[number]
            yield payloads, self._place(ends)
