"""Segments of a block: a coder works backwards, and holds no more than this of its decisions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.dense.model import LANES

STEPS = 1 << 18  # of a segment: 8 MiB of records; its states cost 64 bytes
LOWEST = 1 << 16  # a state lies in [2^16, 2^32)
STATE_BYTES, WORD_BYTES, RECORD_BYTES = 4, 2, 2
MOST_DECISIONS = 15  # of a byte: a rank of 7 + 7, a length of 1


def most_steps(bounds: npt.NDArray[np.int64]) -> int:
    """Steps of a segment, at most, of lanes with these bounds."""
    return min(STEPS, MOST_DECISIONS * int(np.diff(bounds).max()))


def record_bytes(n: int) -> int:
    """Memory of the records of n bytes, at most."""
    return RECORD_BYTES * LANES * min(STEPS, MOST_DECISIONS * n)
