"""CRC-32C, with the interpreter's lock released where it takes long.

google_crc32c holds the lock, so that no two threads could verify at once. So longer bytes go to a
kernel of our own; google_crc32c does short ones, and all on processors that lack the instructions.
"""

from __future__ import annotations

from typing import TypeAlias

import google_crc32c
import numpy as np
import numpy.typing as npt

Bytes: TypeAlias = bytes | bytearray | memoryview | npt.NDArray[np.uint8]
SHORT = 4096  # bytes; fewer take less time than calling a kernel, and Numba need not be loaded


def crc32c(data: Bytes, before: int = 0, *, is_alone: bool = False) -> int:
    """Return the CRC-32C (RFC 3720) of bytes, contiguous.

    Parameters
    ----------
    data : the bytes
    before : CRC-32C of bytes that stand before them
    is_alone : whether no other thread waits for the lock: then Numba, which takes 170 MB, is not
        loaded for it
    """
    if isinstance(data, bytes) and len(data) < SHORT:
        return int(google_crc32c.extend(before, data))
    octets, end = np.frombuffer(data, np.uint8), 0
    if octets.size >= SHORT and not is_alone:
        from gangsaw.codecs.core.container import folding

        if folding.CAN_FOLD:
            before, end = folding.fold(octets, before)
    return int(google_crc32c.extend(before, octets[end:]))
