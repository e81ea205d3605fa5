"""The memory promise of the codec: a bound on what it allocates, by formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gangsaw.codecs.core.zarr.block_codec import BlockCodec

FIXED = 1 << 16  # headers, Python objects


def peak_bytes(n_bytes: int, inner: BlockCodec) -> int:
    """Return a bound on what coding a chunk holds besides it, in bytes.

    It holds the strings without their lengths, each perhaps with a byte behind, which are no more
    bytes than the chunk's; the lengths, which are as many at most where all are empty; what the
    inner codec needs; and at last the frame twice, as parts and in one piece.
    """
    coding = inner.peak_bytes((n_bytes,), np.dtype(np.uint8))
    return FIXED + 2 * n_bytes + max(coding, 2 * n_bytes)
