"""The place where a backend puts payloads: those of one chunk lie in its frame at once.

One array for each block would be fresh memory, which the system zeroes page by page, and would be
copied once more into the frame. Where a backend says how many bytes its payloads take,
they lie back to back behind the header, in their order, whichever thread ends first: a block is
encoded there where its place is known, else it comes from scratch memory of its thread. Where they
take more after all, those that have no room lie apart, and the frame is a copy of all.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.container.runs import BackToBack, Payload, Runs, lane_table
from gangsaw.codecs.core.memory.aligned import LONG
from gangsaw.codecs.core.memory.reused import reused

_Run: TypeAlias = tuple[Payload, Sequence[int]]


class Output:
    """Where payloads are put; `runs` are whole once all are there.

    Attributes
    ----------
    n_lanes : of a block in the index: those that a block lacks have no bits
    data : (lead + n_bytes,) uint8 once `reserve` was called, else None; what lies in front and
        behind the payloads means nothing
    lead : bytes that are free in front of the first payload
    end : where the last payload that has its place ends
    checksums : (n_blocks,) little-endian uint32, CRC-32C of each payload
    summed : (n_blocks,) bool, whether its checksum is there
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
        """Return how many blocks there are to be."""
        return self.checksums.size

    def reserve(self, n_bytes: int) -> None:
        """Say how many bytes all payloads take, at most or likely; before the first one is put.

        Memory that is reserved and not used is held as long as the frame, up to half of it.
        """
        self.data = reused(self.lead + n_bytes)

    def room(self, number: int, least: int = 0) -> Payload | None:
        """Return where a block can be encoded, all that is free.

        None if its place is unknown, or less than `least` bytes are free. Nobody else gets it
        before the block is there, so the thread that has the block may write.
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
        """Take payloads of blocks that were written to `room`; see `put_run`.

        lane_bits : of the lanes of a single block, see `give`
        """
        if lane_bits is not None:
            self._lanes[number] = lane_bits
        self._sum(number, len(ends), checksums)
        with self._lock:
            self._place(ends)
            placed = list(self._after())
        self._copy(placed)

    def put(self, number: int, *parts: Payload) -> None:
        """Copy the payload of a block, which may be in parts, to its place, or keep a copy."""
        size, checksum = sum(part.size for part in parts), 0
        for part in parts:
            checksum = crc32c(part, checksum)
        room = self.room(number, size)
        if room is None:
            self.put_run(number, np.concatenate(parts), [size], [checksum])
            return
        ends = itertools.accumulate(part.size for part in parts)
        pairs = zip(parts, ends, strict=True)
        self._copy([(part, room[end - part.size : end]) for part, end in pairs])
        self.settle(number, [size], [checksum])

    def put_run(
        self, number: int, payloads: Payload, ends: Sequence[int], checksums: npt.ArrayLike | None
    ) -> bool:
        """Copy payloads of blocks to their place; return whether their memory may be used again.

        It may not where an earlier block is not there, so that the place is unknown, or where too
        little is reserved: then the payloads stay as they lie, and are copied once, to their place.

        Parameters
        ----------
        number : of the first block
        payloads : back to back
        ends : where each ends
        checksums : CRC-32C of each, or None to have them taken when the frame is made
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
        """Take the payload of a block as it lies: nobody may write it again.

        Parameters
        ----------
        checksum : CRC-32C, where it is cheaper to take now; else it is taken later, in threads
        lane_bits : (n,) int64, bits of the block's lanes, for a codec with lanes
        """
        if lane_bits is not None:
            self._lanes[number] = lane_bits
        self.put_run(number, payload, [payload.size], None if checksum is None else [checksum])

    def runs(self) -> Runs:
        """Return the payloads, all of which are there."""
        rows = [self._lanes[i] for i in range(len(self))] if self._lanes else None
        lanes = None if rows is None else lane_table(rows, self.n_lanes)
        return Runs(self._payloads(), lanes, self.checksums if self.summed.all() else None)

    def _payloads(self) -> Sequence[Payload]:
        placed: Sequence[Payload] = ()
        if self.data is not None:
            placed = BackToBack(self.data, np.array(self._offsets))
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
            from gangsaw.codecs.core.numba.nontemporal import copy_nontemporal  # loads Numba

            copy_nontemporal(payload, place)

    def _place(self, ends: Sequence[int]) -> Payload:
        """Give a place to the next payloads."""
        assert self.data is not None
        begin = self.end
        self._offsets += [begin + end for end in ends]
        self.end = self._offsets[-1]
        return self.data[begin : self.end]

    def _has_place(self, number: int, n_bytes: int) -> bool:
        """Whether these are the next payloads, and there is room for them."""
        is_next = number == len(self._offsets) - 1
        return self.data is not None and is_next and n_bytes <= self.data.size - self.end

    def _after(self) -> Iterator[tuple[Payload, Payload]]:
        """Give a place to payloads that waited for those before them."""
        while (run := self._waiting.get(number := len(self._offsets) - 1)) is not None:
            payloads, ends = run
            if not self._has_place(number, ends[-1]):
                return
            del self._waiting[number]
            yield payloads, self._place(ends)
