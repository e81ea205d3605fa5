"""Suffix array of a block, in linear time for any bytes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.transform.induced import (
    find_lms,
    induce,
    lms_of_names,
    name_pieces,
    sort_pieces,
)
from gangsaw.codecs.core.arrays import Bytes

BYTE_VALUES = 256

Suffixes = npt.NDArray[np.int32]


def suffix_array(block: Bytes) -> Suffixes:
    """Return the suffix array of a block, (n,) uint8: sorted suffix positions, (n,) int32.

    n is below 2^31.
    """
    suffixes = np.empty(block.size, np.int32)
    if block.size:
        _sort(block, BYTE_VALUES, suffixes)
    return suffixes


def _sort(text: Bytes | Suffixes, n_symbols: int, suffixes: Suffixes) -> None:
    """Fill the suffix array of a nonempty text of symbols 0 to `n_symbols` - 1."""
    counts, buckets = np.zeros(n_symbols, np.int32), np.empty(n_symbols, np.int32)
    lms = np.empty(text.size // 2 + 1, np.int32)
    m = find_lms(text, counts, lms)
    lms = lms[:m]
    suffixes[:m] = lms
    if m > 1:
        sort_pieces(text, counts, buckets, lms, suffixes)
        names = name_pieces(text, lms, suffixes)
        if names < m:
            _sort(suffixes[text.size - m :], names, suffixes[:m])
            lms_of_names(lms, suffixes[:m])
    induce(text, counts, buckets, m, suffixes)
