"""Memory of results that are no longer used, for the next result of the same size.

The system zeroes fresh memory page by page on first access. Allocators return arrays as long as
chunks to the system each time. Workers of a cluster are configured to keep arrays of up to 32 MiB
(`cluster/launchers/local.py`). But the frame of a chunk of 32 MiB is longer, and a program that
uses a codec without a cluster has no such setting.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

# bytes: smaller arrays use the allocator, larger ones are not kept idle
LEAST, MOST = 1 << 22, 1 << 27

Memory = npt.NDArray[np.uint8]
_NONE: Memory = np.empty(0, np.uint8)


class _Owner:
    """Owner of a buffer, which offers it for reuse once no array or view refers to it."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        _left.append(self.memory)


# At most one, and none while another is allocated: a process never keeps more than it needed
# before. Calls of a deque are atomic, as a finalizer requires, which may run between any two steps.
_left: deque[Memory] = deque(maxlen=1)


def reused(n_bytes: int) -> Memory:
    """Return (n_bytes,) uninitialised uint8, in the memory of an earlier result if possible.

    That result must have the same size, and it and all of its views must be gone. Between LEAST and
    MOST bytes, one such memory is cached.
    """
    if not LEAST <= n_bytes <= MOST:
        return np.empty(n_bytes, np.uint8)
    try:
        memory = _left.pop()
    except IndexError:
        memory = _NONE
    if memory.size != n_bytes:
        memory = _NONE  # freed before the next one is allocated
        memory = np.empty(n_bytes, np.uint8)
    return np.asarray(_Owner(memory))
