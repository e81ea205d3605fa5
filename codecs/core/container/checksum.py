"""CRC-32C that releases the interpreter's lock for long inputs.

google_crc32c keeps the lock, so that two threads could not verify in parallel. So Gangsaw's own
kernel sums longer bytes. google_crc32c sums short ones, and all on processors without the
instructions.
"""

from __future__ import annotations

from typing import TypeAlias

import google_crc32c
import numpy as np
import numpy.typing as npt

Bytes: TypeAlias = bytes | bytearray | memoryview | npt.NDArray[np.uint8]
SHORT = 4096  # bytes; for fewer bytes a kernel call takes longer, and Numba need not be loaded


def crc32c(data: Bytes, before: int = 0, *, is_alone: bool = False) -> int:
    """Return the CRC-32C (RFC 3720) of contiguous bytes.

    Parameters
    ----------
    data : the bytes
    before : CRC-32C of the bytes before them
    is_alone : True if no other thread waits for the GIL: then Numba, which takes 170 MB, is not
        loaded
    """
    if isinstance(data, bytes) and len(data) < SHORT:
        return int(google_crc32c.extend(before, data))
    octets, end = np.frombuffer(data, np.uint8), 0
    if octets.size >= SHORT and not is_alone:
        from gangsaw.codecs.core.container import folding

        if folding.CAN_FOLD:
            before, end = folding.fold_bytes(octets, before)
    return int(google_crc32c.extend(before, octets[end:]))
