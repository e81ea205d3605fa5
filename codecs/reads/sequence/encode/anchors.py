"""Hot anchors: positions of the consensus at which many pieces begin (SPEC.md, Anchors)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.reads.sequence.layout.placed import Anchors
from gangsaw.codecs.reads.sequence.syntax import HIGH_BITS, MOST_ANCHORS, place_bits


def hot_anchors(anchors: Anchors, size: int) -> Anchors:
    """Return the anchors, (m,) ascending, frequent enough to get a number in the block's list."""
    found, counts = np.unique(anchors, return_counts=True)
    bits = place_bits(size)
    order = np.argsort(-counts, kind="stable")[:MOST_ANCHORS]
    pays = counts[order] * max(1, bits - HIGH_BITS) > 2 * bits
    return np.sort(found[order[pays]])


def hot_numbers(anchors: Anchors, hot: Anchors) -> npt.NDArray[np.uint8]:
    """Return the number of each hot anchor from 1 on, 0 for other anchors, (m,) uint8."""
    if not hot.size:
        return np.zeros(anchors.size, np.uint8)
    indices = np.minimum(np.searchsorted(hot, anchors), hot.size - 1)
    return np.where(hot[indices] == anchors, indices + 1, 0).astype(np.uint8)
