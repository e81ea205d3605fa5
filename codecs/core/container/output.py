"""Payloads of blocks back to back in one array, in their order, whichever thread ends first.

One array per block costs more than encoding fast blocks does: each is fresh memory, page by page,
and is copied once more into the frame. Here a block goes to its place in the frame at once: it is
encoded there where its place is known, else it comes from scratch memory of its thread, which stays
in a cache.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.container.runs import Cut, Part
from gangsaw.codecs.core.memory.aligned import LONG
from gangsaw.codecs.core.memory.reused import reused

_Run: TypeAlias = tuple[Part, Sequence[int]]


class Shelf:
    """Where payloads are put; `parts` are whole once all are there.

    Attributes
    ----------
    data : (lead + most_bytes,) uint8; what lies in front and behind the payloads means nothing
    lead : bytes that are free in front of the first payload
    end : where the last payload that has its place ends
    checksums : (n_blocks,) little-endian uint32, CRC-32C of each payload
    """

    def __init__(self, n_blocks: int, most_bytes: int, lead: int) -> None:
        self.data = reused(lead + most_bytes)
        self.checksums = np.empty(n_blocks, "<u4")
        self.lead = self.end = lead
        self._offsets = [lead]
        self._waiting: dict[int, _Run] = {}
        self._lock = threading.Lock()

    def room(self, number: int) -> Part | None:
        """Return where a block can be encoded, all that is free; None if its place is unknown.

        Nobody else gets it before the block is there, so the thread that has the block may write.
        """
        with self._lock:
            return self.data[self.end :] if number == len(self._offsets) - 1 else None

    def settle(self, number: int, ends: Sequence[int], checksums: npt.ArrayLike) -> None:
        """Take payloads of blocks that were written to `room`; see `put_run`."""
        self.checksums[number : number + len(ends)] = checksums
        with self._lock:
            self._place(ends)
            placed = list(self._after())
        self._copy(placed)

    def put(self, number: int, *parts: Part) -> None:
        """Copy the payload of a block, which may be in parts, to its place, or keep a copy."""
        size, checksum = sum(part.size for part in parts), 0
        for part in parts:
            checksum = crc32c(part, checksum)
        room = self.room(number)
        if room is None:
            self.put_run(number, np.concatenate(parts), [size], [checksum])
            return
        ends = itertools.accumulate(part.size for part in parts)
        pairs = zip(parts, ends, strict=True)
        self._copy([(part, room[end - part.size : end]) for part, end in pairs])
        self.settle(number, [size], [checksum])

    def put_run(
        self, number: int, payloads: Part, ends: Sequence[int], checksums: npt.ArrayLike
    ) -> bool:
        """Copy payloads of blocks to their place; return whether their memory may be used again.

        It may not where an earlier block is not there, so that the place is unknown: then the
        shelf keeps the payloads. To copy them first took an eighth of the time of two threads.

        Parameters
        ----------
        number : of the first block
        payloads : back to back
        ends : where each ends
        checksums : CRC-32C of each
        """
        self.checksums[number : number + len(ends)] = checksums
        with self._lock:
            if number != len(self._offsets) - 1:
                self._waiting[number] = payloads, ends
                return False
            placed = [(payloads, self._place(ends)), *self._after()]
        self._copy(placed)
        return True

    def _copy(self, placed: Sequence[tuple[Part, Part]]) -> None:
        for part, place in placed:
            if self.data.size < LONG:
                place[:] = part
                continue
            from gangsaw.codecs.core.numba.nontemporal import copy_past_cache  # loads Numba

            copy_past_cache(part, place)

    def _place(self, ends: Sequence[int]) -> Part:
        """Give a place to the next payloads."""
        begin = self.end
        self._offsets += [begin + end for end in ends]
        self.end = self._offsets[-1]
        return self.data[begin : self.end]

    def _after(self) -> Iterator[tuple[Part, Part]]:
        """Give a place to payloads that waited for those before them."""
        while (run := self._waiting.pop(len(self._offsets) - 1, None)) is not None:
            payloads, ends = run
            yield payloads, self._place(ends)

    @property
    def parts(self) -> Cut:
        """The payloads that have their place."""
        return Cut(self.data, np.array(self._offsets))
