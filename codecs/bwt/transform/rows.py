"""Rows of the suffixes at every S-th position, where the inverse starts. SPEC.md, Transform."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes

MAX_BLOCK = 1 << 23  # bytes: a row and its byte fit in 32 bits, a row in 24
# Chains that a core follows at once. 1,024 rows, a thread each on a GPU, would cost 1 % of the
# payload of text and logs; with 64, a launch of 64 blocks has 4,096 chains there.
MOST_ROWS = 64
# S is an odd multiple of UNIT: addresses a power of two apart share cache sets
UNIT = 64
# a short block is in a nearer cache, where fewer chains suffice, and rows cost relatively more
LEAST_UNITS = 256

Rows = npt.NDArray[np.uint32]


class Transformed(NamedTuple):
    """Burrows-Wheeler transform of a block, with stored rows to start inversion in parallel from.

    Attributes
    ----------
    bwt : (n,) uint8, the byte before the suffix of each row, without that of the sentinel
    rows : (row_count(n),) uint32, rows of the suffixes at positions 0, S, 2 S ... of the block; the
        sentinel precedes that at 0
    """

    bwt: Bytes
    rows: Rows


def spacing(n: int) -> int:
    """Return S, the distance between positions with stored rows, for a block of n bytes."""
    units = max(-(-n // (MOST_ROWS * UNIT)), LEAST_UNITS)
    return UNIT * (units | 1)


def row_count(n: int) -> int:
    """Return the number of stored rows for a block of n bytes: at most MOST_ROWS."""
    return -(-n // spacing(n))
