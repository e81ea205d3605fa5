"""Which differences beat the number itself, for each column, by what pilots take both ways."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit_norefs
from gangsaw.codecs.reads.entropy.logs import log2, table_cost
from gangsaw.codecs.reads.name.columns import DIFFERENCES
from gangsaw.codecs.reads.name.streams import (
    COLUMNS,
    LONG,
    NUMBER,
    OPERATIONS,
    PADDED,
    PARTS,
    PER_COLUMN,
    UP,
    WIDTHS,
)

Counts = npt.NDArray[np.int64]


def chosen_differences(changed: Counts, plain: Counts) -> npt.NDArray[np.bool_]:
    """Return (COLUMNS, DIFFERENCES), whether each difference of a column beats its number.

    Parameters
    ----------
    changed, plain : (N_STREAMS, 256) of pilots with all differences, of their numbers with none
    """
    out = np.zeros((COLUMNS, DIFFERENCES), np.bool_)
    choose_differences(changed, plain, out)
    return out


@jit_norefs
def choose_differences(changed: Counts, plain: Counts, out: npt.NDArray[np.bool_]) -> None:
    """Fill (COLUMNS, DIFFERENCES) from streams (N_STREAMS, 256) both ways."""
    for column in range(COLUMNS):
        own = slice(column * PER_COLUMN, (column + 1) * PER_COLUMN)
        _choose(changed[own], plain[own], out[column])


@jit_norefs
def _choose(changed: Counts, plain: Counts, out: npt.NDArray[np.bool_]) -> None:
    """Fill (DIFFERENCES,) for a column, from its streams (PER_COLUMN, 256) both ways."""
    numbers, bits = np.int64(0), np.int64(0)
    for which in range(NUMBER - UP, LONG - UP):
        n = _said(plain, which)
        numbers += n
        bits += _operand_bits(plain, which) if n else 0
    said = changed[OPERATIONS].sum() if numbers else 0
    for which in range(DIFFERENCES):
        n = _said(changed, which)
        if n and numbers:
            own = _operand_bits(changed, which) + n * (log2(said) - log2(n))
            out[which] = own < n * (bits // numbers)


@jit_norefs
def _said(streams: Counts, which: int) -> int:
    """Return how often an operation was said, padded or not."""
    operations = streams[OPERATIONS]
    return int(operations[UP + which] + operations[UP + which + PADDED])


@jit_norefs
def _operand_bits(streams: Counts, which: int) -> int:
    """Return the cost of an operation's operands, each byte alone."""
    cost = np.int64(0)
    for part in range(PARTS[which], PARTS[which] + WIDTHS[which]):
        cost += table_cost(streams[part])[1]
    return int(cost)
