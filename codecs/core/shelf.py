"""Payloads of blocks back to back in one array, in their order, whichever thread ends first.

One array per block costs more than encoding fast blocks does: each is fresh memory, page by page,
and is copied once more into the frame. Here a block comes from its thread's own scratch memory,
which stays in a cache, and goes to its place in the frame at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.checksum import crc32c
from gangsaw.codecs.core.past_cache import LONG, copy_past_cache

Payload = npt.NDArray[np.uint8]


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
        self._waiting: dict[int, Payload] = {}
        self._lock = threading.Lock()

    def put(self, number: int, payload: Payload) -> bool:
        """Copy the payload of a block to its place; return whether its memory may be used again.

        It may not where an earlier block is not there, so that its place is unknown: then the
        shelf keeps the payload. To copy it first took an eighth of the time of two threads.
        """
        self.checksums[number] = crc32c(payload)
        with self._lock:
            if number != len(self._parts):
                self._waiting[number] = payload
                return False
            placed = list(self._placed(payload))
        for place, part in placed:
            if self.data.size >= LONG:
                copy_past_cache(part, place)
            else:
                place[:] = part
        return True

    def _placed(self, payload: Payload | None) -> Iterator[tuple[Payload, Payload]]:
        """Give a place to a payload and to those that waited for it."""
        while payload is not None:
            place = self.data[self.end : self.end + payload.size]
            self.end += payload.size
            self._parts.append(place)
            yield place, payload
            payload = self._waiting.pop(len(self._parts), None)

    @property
    def parts(self) -> tuple[Payload, ...]:
        """The payloads that have their place."""
        return tuple(self._parts)
