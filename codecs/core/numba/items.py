"""Copies and orders of few items in kernels: Numba's own take seconds to compile.

A slice that is assigned to another compiles a message in words, of text that is joined; a sort
compiles a dozen functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit_norefs_part


@jit_norefs_part
def put_items(out: Any, at: int, items: Any, begin: int, end: int) -> int:
    """Write items[begin:end] to `out` at a place, both 1-D; return the place behind them.

    The caller has checked that both have room for them.
    """
    to, of, n = np.uint64(at), np.uint64(begin), end - begin  # unsigned: no wrap around
    for i in range(n):
        out[to + np.uint64(i)] = items[of + np.uint64(i)]
    return at + n


@jit_norefs_part
def order_falling(values: Any, order: Any) -> None:
    """Fill in the order of few numbers, the largest first, equal ones as they come.

    It takes up to n ** 2 / 2 steps.
    """
    for i in range(values.size):
        place = i
        while place > 0 and values[order[place - 1]] < values[i]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = i
