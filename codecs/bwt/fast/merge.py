"""Merging of contexts with similar counts into shared tables, if that saves bits in total.

Only integers are used, so that all machines merge the same contexts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bools, Int64s
from gangsaw.codecs.core.numba.bits import leading_zeros
from gangsaw.codecs.core.numba.jit import jit

MOST_TABLES = 24  # per kind: 48 tables of 16 KiB stay in a core's own cache
BITS = 16  # fraction bits of a logarithm
LOG_WIDTH = 12
LOGS = np.rint((1 << BITS) * np.log2(np.maximum(1, np.arange(1 << LOG_WIDTH)))).astype(np.int64)
SYMBOL_BITS, TABLE_BITS = 6, 12  # approximate bits of a table, per symbol and in total


def merge_contexts(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Merge contexts to share a frequency table; return the table of each, (n_contexts,) int64.

    Tables are numbered by first context. A context without counts has the table of the context
    before it.

    counts : (n_contexts, n_symbols), counts of symbols
    """
    table_of = np.empty(len(counts), np.int64)
    merge(np.ascontiguousarray(counts), table_of)
    return table_of


@jit
def merge(counts: Int64s, table_of: Int64s) -> None:
    """Fill `table_of` with the result of `merge_contexts`; counts of merged contexts are summed."""
    n = len(counts)
    gains, costs = np.zeros((n, n), np.int64), np.zeros(n, np.int64)
    live = np.zeros(n, np.bool_)
    joined = np.arange(n)
    tables = 0
    for i in range(n):
        live[i] = counts[i].sum() > 0
        costs[i] = _cost(counts, i, i)
        tables += live[i]
    for i in range(n):
        for j in range(i):
            if live[i] and live[j]:
                gains[i, j] = costs[i] + costs[j] - _cost(counts, i, j)
    while tables > 1:
        into, other = _best(gains, live)
        if gains[into, other] <= 0 and tables <= MOST_TABLES:
            break
        counts[into] += counts[other]
        joined[other], live[other] = into, False
        tables -= 1
        costs[into] = _cost(counts, into, into)
        for j in range(n):
            if live[j] and j != into:
                gain = costs[into] + costs[j] - _cost(counts, into, j)
                gains[max(into, j), min(into, j)] = gain
    _number(joined, costs, table_of)


@jit(part=True)
def _number(joined: Int64s, costs: Int64s, table_of: Int64s) -> None:
    """Number the contexts that remain after merging by first occurrence; fill the table of each."""
    n, tables, before = joined.size, 0, 0
    number = np.full(n, -1, np.int64)
    for i in range(n):
        if costs[i] == 0:
            table_of[i] = before
            continue
        root = i
        while joined[root] != root:
            root = joined[root]
        if number[root] < 0:
            number[root] = tables
            tables += 1
        before = number[root]
        table_of[i] = before


@jit(part=True)
def _best(gains: Int64s, live: Bools) -> Any:
    """Return the pair of remaining contexts whose merging gains most bits."""
    best, first, second = -(1 << 62), 0, 0
    for i in range(live.size):
        for j in range(i if live[i] else 0):
            if live[j] and gains[i, j] > best:
                best, first, second = gains[i, j], i, j
    return first, second


@jit(part=True)
def _cost(counts: Int64s, i: int, j: int) -> Any:
    """Return the bits, times 2^BITS, to code the symbols of one or two contexts and their table."""
    total, symbols = 0, 0
    bits: Any = 0
    for s in range(counts.shape[1]):
        n = counts[i, s] + (counts[j, s] if i != j else 0)
        if n:
            total += n
            bits -= n * _log(n)
            symbols += 1
    if total == 0:
        return 0
    return bits + total * _log(total) + ((SYMBOL_BITS * symbols + TABLE_BITS) << BITS)


@jit(part=True)
def _log(n: int) -> Any:
    """Return log2(n), times 2^BITS, from the LOG_WIDTH highest bits of n >= 1."""
    shift: Any = max(0, 64 - np.int64(leading_zeros(np.uint64(n))) - LOG_WIDTH)
    return LOGS[n >> shift] + (shift << BITS)
