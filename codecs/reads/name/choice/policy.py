"""Choice for each token column of names: differences to the line before, or plain numbers.

It is based on sample windows with the costs of both.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.entropy.logs import scaled_log2, symbols_cost
from gangsaw.codecs.reads.name.columns import DIFFERENCES
from gangsaw.codecs.reads.name.streams import (
    COLUMNS,
    LONG,
    NUMBER,
    OPERATIONS,
    PARTS,
    PER_COLUMN,
    UP,
    WIDTHS,
)

Counts = npt.NDArray[np.int64]


def chosen_differences(counts: Counts) -> npt.NDArray[np.bool_]:
    """Choose for each token column the differences that cost less than plain numbers.

    The result is (COLUMNS, DIFFERENCES) bool, True for each operation that adds to, or subtracts
    from, the number in the line before.

    Parameters
    ----------
    counts : (N_STREAMS, 256) byte counts of sample windows that contain both the differences and
        the operands of plain numbers
    """
    out = np.zeros((COLUMNS, DIFFERENCES), np.bool_)
    choose_differences(counts, out)
    return out


@jit(norefs=True)
def choose_differences(counts: Counts, out: npt.NDArray[np.bool_]) -> None:
    """Write the result of `chosen_differences` to `out`, (COLUMNS, DIFFERENCES)."""
    for column in range(COLUMNS):
        _choose(counts[column * PER_COLUMN : (column + 1) * PER_COLUMN], out[column])


@jit(part=True, norefs=True)
def _choose(streams: Counts, out: npt.NDArray[np.bool_]) -> None:
    """Write the choice of one token column, (DIFFERENCES,), from the byte counts of its streams.

    streams : (PER_COLUMN, 256)
    """
    numbers, bits = np.int64(0), np.int64(0)
    for which in range(NUMBER - UP, LONG - UP):
        n = streams[PARTS[which]].sum()
        numbers += n
        bits += _operand_bits(streams, which) if n else 0
    said = streams[OPERATIONS].sum() if numbers else 0
    for which in range(DIFFERENCES):
        n = streams[PARTS[which]].sum()
        if n and numbers:
            own = _operand_bits(streams, which) + n * (scaled_log2(said) - scaled_log2(n))
            out[which] = own < n * (bits // numbers)


@jit(part=True, norefs=True)
def _operand_bits(streams: Counts, which: int) -> int:
    """Return the cost of all operands of one operation, each byte position coded separately."""
    cost = np.int64(0)
    for part in range(PARTS[which], PARTS[which] + WIDTHS[which]):
        cost += symbols_cost(streams[part])
    return int(cost)
