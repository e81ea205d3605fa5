"""Counts of values by context: one row of counts for each context that occurs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int32s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.lines import Lines
from gangsaw.codecs.reads.quality.contexts import CHANGES, Components, Strides, U, strides_of
from gangsaw.codecs.reads.quality.line_contexts import (
    PIECE,
    LineScratch,
    allocate_line_scratch,
    find_line_contexts,
    part_step,
)
from gangsaw.codecs.reads.quality.values import Values

SAMPLE = 1 << 22  # values that suffice to choose a tree
MOST_ROWS = (1 << 16) - 1  # row numbers have 16 bits; 0 is no row
MOST_CELLS = 1 << 22  # counts in all rows
ROW = 8  # multiple of a row's length, for vectors


class ContextCounts(NamedTuple):
    """Counts of quality values in each context, from a sample of a block's windows.

    Attributes
    ----------
    contexts : (n, 4) uint8, the components of each context that occurs
    counts : (n, m) uint32, count of each value in each context; m is a multiple of ROW
    weight : number of values that each counted value represents
    is_whole : True if all values of the block were counted
    """

    contexts: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.uint32]
    weight: int
    is_whole: bool


class CountRows(NamedTuple):
    """Counts of quality values during counting, a row per context; row 0 is for further contexts.

    Attributes
    ----------
    row_of : (n_contexts,) uint16, the row of each context
    contexts : (n,) int32, the context of each row
    counts : (n * size,) uint32
    size : counts of a row
    """

    row_of: npt.NDArray[np.uint16]
    contexts: npt.NDArray[np.int32]
    counts: npt.NDArray[np.uint32]
    size: np.uint64


def count_contexts(lines: Lines, values: Values, components: Components) -> ContextCounts:
    """Count quality values by context in every `weight`th window, about SAMPLE bytes.

    When all rows are used, values of further contexts are left out.
    """
    weight = max(1, -(-lines.text.size // SAMPLE))
    size = row_size(components.befores)
    strides, most = strides_of(components), min(MOST_ROWS, MOST_CELLS // size, lines.text.size)
    rows = CountRows(
        np.zeros(int(np.prod(components.sizes)), np.uint16),
        np.empty(most + 1, np.int32),
        np.zeros((most + 1) * size, np.uint32),
        U(size),
    )
    n = int(count_windows(lines, weight, values, strides, allocate_line_scratch(), rows))
    is_whole = weight == 1 and not rows.counts[:size].any()
    contexts = np.empty((n, 4), np.uint8)
    split_contexts(rows.contexts[1 : n + 1], components, contexts)
    return ContextCounts(
        contexts, rows.counts[size : (n + 1) * size].reshape(n, size), weight, is_whole
    )


def row_size(n_values: int) -> int:
    """Return the number of counts in a row: n_values, rounded up to a multiple of ROW."""
    return -(-n_values // ROW) * ROW


@jit(norefs=True)
def count_windows(
    lines: Lines, step: int, values: Values, strides: Strides, scratch: LineScratch, rows: CountRows
) -> int:
    """Count quality values by context in every `step`th window; return the number of rows used."""
    known = 0
    for window in range(0, lines.windows.size - 1, step):
        for line in range(lines.windows[window], lines.windows[window + 1]):
            begin, length = lines.starts[line], lines.ends[line] - lines.starts[line]
            grows, changed = part_step(length), 0
            for first in range(0, length, PIECE):
                n = min(PIECE, length - first)
                at, changed = find_line_contexts(
                    lines.text, begin, first, n, values, strides, grows, changed, scratch
                )
                known = count_piece(n, at, scratch, known, rows)
    return known


@jit(inline=True, part=True, norefs=True)
def count_piece(n: int, at: int, scratch: LineScratch, known: int, rows: CountRows) -> int:
    """Count n values of a piece of a line by context; return the number of rows used.

    Row 0 counts if all rows are used.

    at : index of the first value in `scratch.values`
    """
    for i in range(U(n)):
        context = U(scratch.contexts[i])
        row = U(rows.row_of[context])
        if row == 0 and known + 1 < rows.contexts.size:
            known += 1
            row = U(known)
            rows.row_of[context], rows.contexts[row] = known, context
        rows.counts[row * rows.size + U(scratch.values[i + U(at)])] += np.uint32(1)
    return known


@jit(norefs=True)
def split_contexts(numbers: Int32s, components: Components, out: Bytes) -> None:
    """Write the four components of each context number to `out`, see `number_context`."""
    for i in range(numbers.size):
        rest, change = numbers[i] // CHANGES, numbers[i] % CHANGES
        rest, pair = rest // components.pairs, rest % components.pairs
        out[i, 0], out[i, 1] = rest % components.befores, rest // components.befores
        out[i, 2], out[i, 3] = pair, change
