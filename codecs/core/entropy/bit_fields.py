"""Bit fields, concatenated with the least significant bit first, with NumPy alone.

They are for tables and headers of about a kilobyte, for which compiling a kernel takes longer.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def packed(values: Ints, widths: Ints) -> npt.NDArray[np.uint8]:
    """Pack integers into adjacent bit fields of the given widths, padded to whole bytes.

    Parameters
    ----------
    values : (n,) int64 >= 0
    widths : (n,) int64, bits of each field, enough for its value
    """
    firsts = np.cumsum(widths) - widths
    bits = np.zeros(int(widths.sum()), np.uint8)
    some = np.flatnonzero(values)  # the others are zeros already
    n = widths[some]
    place = np.arange(int(n.sum())) - np.repeat(np.cumsum(n) - n, n)
    bits[np.repeat(firsts[some], n) + place] = np.repeat(values[some], n) >> place & 1
    return np.packbits(bits, bitorder="little")


def fixed(data: npt.NDArray[np.uint8], width: int, n: int) -> Ints:
    """Unpack the first n bit fields of one width, (n,) int64."""
    bits = np.unpackbits(data, count=n * width, bitorder="little").reshape(n, width)
    return bits.astype(np.int64) @ (np.int64(1) << np.arange(width))
