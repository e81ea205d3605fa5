"""Hot anchors: places of the consensus where many pieces begin (SPEC.md, Anchors)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.reads.sequence.layout.placed import Anchors
from gangsaw.codecs.reads.sequence.syntax import HIGH_BITS

MOST = 255  # a symbol stands for each, and 0 for none


def hot_anchors(anchors: Anchors, size: int) -> Anchors:
    """Return those of (m,) anchors, ascending, that pay for being listed."""
    found, counts = np.unique(anchors, return_counts=True)
    bits = place_bits(size)
    order = np.argsort(-counts, kind="stable")[:MOST]
    pays = counts[order] * max(1, bits - HIGH_BITS) > 2 * bits
    return np.sort(found[order[pays]])


def hot_numbers(anchors: Anchors, hot: Anchors) -> npt.NDArray[np.uint8]:
    """Return (m,) uint8: 0, or the number from 1 on of a hot anchor."""
    if not hot.size:
        return np.zeros(anchors.size, np.uint8)
    places = np.minimum(np.searchsorted(hot, anchors), hot.size - 1)
    return np.where(hot[places] == anchors, places + 1, 0).astype(np.uint8)


def place_bits(size: int) -> int:
    """Bits of a place in a consensus."""
    return max(1, size.bit_length())
