"""Copies and orders of a few items in kernels: Numba's own versions take seconds to compile.

Assigning a slice to another one compiles the text of an error message; a sort compiles a dozen
functions.
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.numba.jit import jit


@jit(part=True, norefs=True)
def put_items(out: NumpyArray, at: int, items: NumpyArray, begin: int, end: int) -> int:
    """Write items[begin:end] to `out` at index `at`, both 1-D; return the index after them.

    The caller has checked the bounds of both arrays.
    """
    to, of, n = np.uint64(at), np.uint64(begin), end - begin  # unsigned: no wrap around
    for i in range(n):
        out[to + np.uint64(i)] = items[of + np.uint64(i)]
    return at + n


@jit(part=True, norefs=True)
def order_falling(values: NumpyArray, order: NumpyArray) -> None:
    """Fill `order` with the indices that sort a few numbers, the largest first; the sort is stable.

    It takes up to n ** 2 / 2 steps.
    """
    for i in range(values.size):
        place = i
        while place > 0 and values[order[place - 1]] < values[i]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = i
