"""Upload of several host arrays to a device in one copy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import pinned

ALIGNED = 16  # bytes: alignment of each array on the device


class Upload:
    """Collection of host arrays that are copied to the device in one transfer, each aligned."""

    def __init__(self) -> None:
        self._parts: list[tuple[int, NumpyArray]] = []
        self._size = 0
        self._host: npt.NDArray[np.uint8] | None = None

    def add(self, part: NumpyArray) -> int:
        """Add an array, which must not change until `sent`; return its byte offset there."""
        place = self._size
        self._parts.append((place, part))
        self._size += -(-part.nbytes // ALIGNED) * ALIGNED
        return place

    def sent(self) -> DeviceArray:
        """Copy all arrays to the device; return them as (n,) uint8 there.

        The copy is asynchronous: this object must outlive it.
        """
        self._host = pinned((max(1, self._size),), np.uint8)
        for place, part in self._parts:
            own = np.ascontiguousarray(part).reshape(-1).view(np.uint8)
            self._host[place : place + own.size] = own
        data: DeviceArray = cupy().empty(self._host.shape, np.uint8)
        data.set(self._host)
        return data
