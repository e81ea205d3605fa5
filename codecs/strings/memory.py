"""Memory bound of the codec: formulas for the bytes that it allocates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gangsaw.codecs.core.zarr.block_codec import BlockCodec

FIXED = 1 << 16  # headers, Python objects


def peak_bytes(n_bytes: int, inner: BlockCodec) -> int:
    """Return an upper bound of the memory to encode or decode a chunk, without the chunk itself.

    It includes the strings without lengths, perhaps with an end byte each, which are no more bytes
    than the chunk. The lengths are as many at most, if all strings are empty. The inner codec's
    memory or, at the end, the frame as parts and as a whole are added.
    """
    coding = inner.peak_bytes((n_bytes,), np.dtype(np.uint8))
    return FIXED + 2 * n_bytes + max(coding, 2 * n_bytes)
