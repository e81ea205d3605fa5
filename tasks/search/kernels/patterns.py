"""Backward search: rows of the suffixes that begin with patterns, from the last letter on."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.search.kernels import bases, tree

N_BASES = 4
# fields of a lane: bytes left, current byte, node, code bits left
LEFT, BYTE, NODE, BITS = range(4)
LANE = 4
AT_ONCE = 32  # patterns in turn: while one waits for memory, the others continue


@jit(norefs=True)
def fill_table(of: Any, k: int, table: Any) -> None:
    """Write the range of rows (sorted suffixes) of each k-mer to `table`, (4**k, 2) uint32.

    In a k-mer's index the code of its last base is lowest.
    """
    table[0, 0], table[0, 1] = 0, of.firsts[N_BASES]
    for length in range(k):
        n = 1 << 2 * length
        # last is base 0, whose entries replace those of the shorter k-mers
        for base in range(N_BASES - 1, -1, -1):
            for number in range(n):
                for end in range(2):
                    row = np.int64(table[number, end])
                    table[base * n + number, end] = bases.step_base(of, np.uint64(base), row)


@jit(norefs=True)
def rows_of_bases(
    of: Any, table: Any, k: int, data: Any, begins: Any, rows: Any, lefts: Any
) -> None:
    """Write the range of rows (sorted suffixes) that begin with each pattern, (n, 2) int64.

    Parameters
    ----------
    table : row ranges of k-mers from `fill_table`; with k = 0 those of the empty one
    data : (m,) uint8, codes of all patterns; a pattern with a code above 3 has no rows
    begins : (n + 1,) int64, offsets of patterns in `data`
    lefts : (AT_ONCE,) int64, scratch
    """
    n = len(begins) - 1
    for first in range(0, n, AT_ONCE):
        lanes = min(AT_ONCE, n - first)
        live = 0
        for lane in range(lanes):
            i = first + lane
            lefts[lane] = _begin(of, table, k, data, begins[i], begins[i + 1], rows, i)
            live += lefts[lane] > 0
        while live:
            live = 0
            for lane in range(lanes):
                if lefts[lane]:
                    i = first + lane
                    lefts[lane] = _longer(of, data, begins[i], lefts[lane], rows, i)
                    live += lefts[lane] > 0


@jit(inline=True, part=True, norefs=True)
def _begin(of: Any, table: Any, k: int, data: Any, begin: int, end: int, rows: Any, i: int) -> Any:
    """Look up the rows of the last k bases of pattern i; return the number of bases left."""
    rows[i, 0], rows[i, 1] = 0, of.firsts[N_BASES]
    for at in range(begin, end):
        if data[at] >= N_BASES:
            rows[i, 1] = 0
            return 0
    if end - begin < k:
        return end - begin
    number = np.int64(0)
    for at in range(end - k, end):
        number = 4 * number + np.int64(data[at])
    rows[i, 0], rows[i, 1] = table[number, 0], table[number, 1]
    return end - begin - k if rows[i, 0] < rows[i, 1] else 0


@jit(inline=True, part=True, norefs=True)
def _longer(of: Any, data: Any, begin: int, left: int, rows: Any, i: int) -> Any:
    """Extend the match of pattern i by the base before it; return the number of bases left."""
    base = np.uint64(data[begin + left - 1])
    low, high = bases.step_base(of, base, rows[i, 0]), bases.step_base(of, base, rows[i, 1])
    bases.prefetch_row(of.words, low)
    bases.prefetch_row(of.words, high)
    rows[i, 0], rows[i, 1] = low, high
    return left - 1 if low < high else 0


@jit(norefs=True)
def rows_of_bytes(of: Any, data: Any, begins: Any, rows: Any, lanes: Any) -> None:
    """Write the row ranges of patterns of bytes, as `rows_of_bases`, with a wavelet tree.

    Patterns take turns, one tree level each.

    lanes : (AT_ONCE, LANE) int64, scratch
    """
    n = len(begins) - 1
    for first in range(0, n, AT_ONCE):
        n_lanes = min(AT_ONCE, n - first)
        for lane in range(n_lanes):
            i = first + lane
            rows[i, 0], rows[i, 1] = 0, of.firsts[256]
            lanes[lane, LEFT] = begins[i + 1] - begins[i]
            _begin_byte(of, data, begins[i], rows, i, lanes, lane)
        live = 1
        while live:
            live = 0
            for lane in range(n_lanes):
                if lanes[lane, LEFT]:
                    live = 1
                    _go_down(of, data, begins[first + lane], rows, first + lane, lanes, lane)


@jit(inline=True, part=True, norefs=True)
def _begin_byte(of: Any, data: Any, begin: int, rows: Any, i: int, lanes: Any, lane: int) -> None:
    """Start the search of a pattern's next byte, if any, at the root of the wavelet tree."""
    if not lanes[lane, LEFT]:
        return
    byte = np.int64(data[begin + lanes[lane, LEFT] - 1])
    if of.firsts[byte] == of.firsts[byte + 1]:  # the byte has no code
        rows[i, 1] = rows[i, 0]
        lanes[lane, LEFT] = 0
        return
    lanes[lane, BYTE], lanes[lane, NODE], lanes[lane, BITS] = byte, of.root, of.lengths[byte]
    for end in range(2):
        rows[i, end] -= rows[i, end] > of.primary
        if of.root >= 0:
            tree.fetch_node(of, of.root, rows[i, end])


@jit(inline=True, part=True, norefs=True)
def _go_down(of: Any, data: Any, begin: int, rows: Any, i: int, lanes: Any, lane: int) -> None:
    """Move a pattern's row range down one tree level, or from a leaf to the pattern's next byte."""
    byte, bits = lanes[lane, BYTE], lanes[lane, BITS]
    if bits == 0:
        rows[i, 0] += of.firsts[byte]
        rows[i, 1] += of.firsts[byte]
        lanes[lane, LEFT] = lanes[lane, LEFT] - 1 if rows[i, 0] < rows[i, 1] else 0
        _begin_byte(of, data, begin, rows, i, lanes, lane)
        return
    node = lanes[lane, NODE]
    is_one = (of.codes[byte] >> np.uint64(bits - 1)) & np.uint64(1) != np.uint64(0)
    child = of.nodes[node, tree.ONE] if is_one else of.nodes[node, tree.ZERO]
    for end in range(2):
        ones = tree.ones_before(of, node, rows[i, end])
        rows[i, end] = ones if is_one else rows[i, end] - ones
        if child >= 0:
            tree.fetch_node(of, child, rows[i, end])
    lanes[lane, NODE], lanes[lane, BITS] = child, bits - 1
