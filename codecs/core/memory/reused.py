"""Memory of results that nobody holds any more, for the next result of that size.

Fresh memory is zeroed by the system, page by page as it is touched. Allocators give arrays as long
as chunks back to the system each time. Workers of a cluster are set to hold those of up to 32 MiB
(`cluster/local.py`), but the frame of a chunk of 32 MiB is longer, and a program that uses a codec
on its own has no such setting.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

LEAST, MOST = 1 << 22, 1 << 27  # bytes: less comes from the allocator again, more is not held idle

Memory = npt.NDArray[np.uint8]
_NONE: Memory = np.empty(0, np.uint8)


class _Owner:
    """What arrays and views of them hold: its end is that of the last one."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        _left.append(self.memory)


# One at most, and none while another is made: a process never holds more than it needed before.
# Its calls are atomic, as they have to be for a finalizer, which may run between any two steps.
_left: deque[Memory] = deque(maxlen=1)


def reused(n_bytes: int) -> Memory:
    """Return (n_bytes,) uint8 with any content.

    It is the memory that the last call of this process returned for so many bytes, where that and
    all views of it are gone. Between LEAST and MOST bytes, one such is held in wait.
    """
    if not LEAST <= n_bytes <= MOST:
        return np.empty(n_bytes, np.uint8)
    try:
        memory = _left.pop()
    except IndexError:
        memory = _NONE
    if memory.size != n_bytes:
        memory = _NONE  # it is free before the next one is made
        memory = np.empty(n_bytes, np.uint8)
    return np.asarray(_Owner(memory))
