"""Segments of a block, which bound the decisions in memory, as the coder works backwards."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.dense.model import LANES

STEPS = 1 << 18  # steps of a segment: 8 MiB of records; its states cost 64 bytes
LOWEST = 1 << 16  # a state lies in [2^16, 2^32)
STATE_BYTES, WORD_BYTES, RECORD_BYTES = 4, 2, 2
MOST_DECISIONS = 15  # most decisions of a byte: a rank of 7 + 7, a length of 1


def most_steps(bounds: npt.NDArray[np.int64]) -> int:
    """Return an upper bound of the steps in a segment, from the lanes' bounds in the string.

    In a step each lane codes one decision.
    """
    return min(STEPS, MOST_DECISIONS * int(np.diff(bounds).max()))


def record_bytes(n: int) -> int:
    """Return an upper bound of the memory for the recorded decisions of n bytes."""
    return RECORD_BYTES * LANES * min(STEPS, MOST_DECISIONS * n)
