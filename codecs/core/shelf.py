"""Payloads of blocks back to back in one array, in their order, whichever thread ends first.

One array per block costs more than encoding fast blocks does: each is fresh memory, page by page,
and is copied once more into the frame. Here a block comes from its thread's own scratch memory,
which stays in a cache, and goes to its place in the frame at once.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.checksum import crc32c

Payload = npt.NDArray[np.uint8]
LONG = 1 << 22  # bytes: twice the second cache of a core; who shares the third has no use for them
_Run: TypeAlias = tuple[Payload, Sequence[int]]


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
        self.data = np.empty(lead + most_bytes, np.uint8)
        self.checksums = np.empty(n_blocks, "<u4")
        self.lead = self.end = lead
        self._parts: list[Payload] = []
        self._waiting: dict[int, _Run] = {}
        self._lock = threading.Lock()

    def put(self, number: int, payload: Payload) -> bool:
        """Copy the payload of a block to its place; see `put_run`."""
        return self.put_run(number, payload, [payload.size], [crc32c(payload)])

    def put_run(
        self, number: int, payloads: Payload, ends: Sequence[int], checksums: npt.ArrayLike
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
            if number != len(self._parts):
                self._waiting[number] = payloads, ends
                return False
            placed = list(self._placed((payloads, ends)))
        for place, part in placed:
            self._copy(part, place)
        return True

    def _copy(self, part: Payload, place: Payload) -> None:
        if self.data.size < LONG:
            place[:] = part
            return
        from gangsaw.codecs.core.past_cache import copy_past_cache  # loads Numba

        copy_past_cache(part, place)

    def _placed(self, run: _Run | None) -> Iterator[tuple[Payload, Payload]]:
        """Give a place to payloads and to those that waited for them."""
        while run is not None:
            payloads, ends = run
            place = self.data[self.end : self.end + payloads.size]
            self.end += payloads.size
            self._parts += [place[a:b] for a, b in itertools.pairwise([0, *ends])]
            yield place, payloads
            run = self._waiting.pop(len(self._parts), None)

    @property
    def parts(self) -> tuple[Payload, ...]:
        """The payloads that have their place."""
        return tuple(self._parts)
