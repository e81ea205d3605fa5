"""Symbol tables of `core.numba.rans`, scaled, written and read by NumPy.

A process that works on a GPU compiles no kernels for the tables, some thousand bits per block.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.entropy import bit_fields
from gangsaw.codecs.core.entropy.rans_tables import PRECISION, TOTAL

Counts = npt.NDArray[np.uint32]
FREQUENCY = np.arange(PRECISION)  # bit positions after the bit for an occurring symbol


def pack_host_tables(counts: Counts, n_symbols: int) -> Payload:
    """Scale symbol counts in place to the frequencies of a payload; return these as packed tables.

    counts : (n_tables, n) uint32
    n_symbols : symbols of the block; all others have count 0
    """
    _normalise(counts)
    some = np.array(counts.any(axis=1), np.int64)
    of_symbols = counts[:, :n_symbols].astype(np.int64)
    there = of_symbols > 0
    values = np.where(there, 2 * of_symbols - 1, 0)
    widths = np.where(there, 1 + PRECISION, 1) * some.reshape(-1, 1)
    return bit_fields.packed(
        np.column_stack([some, values]).ravel(),
        np.column_stack([np.ones_like(some), widths]).ravel(),
    )


def _normalise(counts: Counts) -> None:
    """Scale rows to TOTAL, with at least 1 for a nonzero count; the largest absorbs the rest."""
    wide = counts.astype(np.int64)
    totals = np.maximum(wide.sum(axis=1), 1)
    scaled = np.where(wide, np.maximum(1, wide * TOTAL // totals[:, None]), 0)
    left, largest = TOTAL - scaled.sum(axis=1), scaled.argmax(axis=1)
    for t in np.flatnonzero(wide.any(axis=1)).tolist():
        row, at = scaled[t], int(largest[t])
        while left[t] < 0:  # many rare symbols: subtract from the largest, one at a time
            row[at] -= 1
            left[t] += 1
            at = at if row[at] == row.max() else int(row.argmax())
        row[at] += left[t]
    counts[...] = scaled


def read_host_tables(data: Payload, stop: int, counts: Counts) -> int:
    """Fill counts (n_tables, n_symbols) from padded bytes; return the bytes read, -1 if invalid.

    Parameters
    ----------
    data : (n,) uint8, at least as long as the longest tables
    stop : bytes that belong to the payload
    """
    bits = np.unpackbits(data, bitorder="little")
    text, position, is_used = bits.tobytes(), 0, np.zeros(len(counts), np.bool_)
    places, owners = list[int](), list[int]()
    n_symbols = counts.shape[1]
    for t in range(len(counts)):
        is_used[t] = text[position]
        position += 1
        symbol = 0 if is_used[t] else n_symbols
        while symbol < n_symbols:
            at = text.find(1, position, position + n_symbols - symbol)
            if at < 0:
                position += n_symbols - symbol
                break
            symbol += at - position
            places.append(at)
            owners.append(t * n_symbols + symbol)
            symbol, position = symbol + 1, at + 1 + PRECISION
    values = bits[np.array(places, np.int64)[:, None] + 1 + FREQUENCY].astype(np.uint32)
    counts[...] = 0
    counts.reshape(-1)[owners] = (values << FREQUENCY.astype(np.uint32)).sum(axis=1) + 1
    size = (position + 7) // 8
    is_right = (counts.sum(axis=1) == TOTAL * is_used).all()
    return size if is_right and size <= stop else -1
