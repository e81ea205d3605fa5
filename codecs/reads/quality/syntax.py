"""What a lane says besides values, and the tables that it says it by (SPEC.md, Qualities)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit, jit_norefs_part
from gangsaw.codecs.reads.entropy.bits import bit_length
from gangsaw.codecs.reads.entropy.rans import ESCAPE, put, put_number, put_small

NUMBER, SAME, LENGTH, MORE = range(4)  # tables; those of values follow
SYNTAX_TABLES = 4
MOST_TOKENS = 12  # of a line, or of what a lane begins with


@jit_norefs_part
def put_window(tokens: Any, lead: int, n_lines: int) -> int:
    """Write what a lane begins with; return its tokens."""
    n = put_number(tokens, 0, NUMBER, lead)
    return put_number(tokens, n, NUMBER, n_lines)


@jit_norefs_part
def put_line(tokens: Any, length: int, before: int) -> int:
    """Write what a line begins with; return its tokens."""
    n = put(tokens, 0, SAME, length == before)
    if length != before:
        n = put_small(tokens, n, LENGTH, MORE, length)
    return n


@jit
def count_syntax(lines: Any, counts: Any) -> None:
    """Count the symbols of all windows that are no values."""
    for window in range(lines.windows.size - 1):
        begin, end = lines.windows[window], lines.windows[window + 1]
        if begin == end:
            continue
        counts[NUMBER, bit_length(lines.starts[begin] - window * lines.lane)] += 1
        counts[NUMBER, bit_length(end - begin)] += 1
        before = 0
        for line in range(begin, end):
            length = lines.ends[line] - lines.starts[line]
            counts[SAME, np.int64(length == before)] += 1
            if length != before:
                counts[LENGTH, min(length, ESCAPE)] += 1
                if length >= ESCAPE:
                    counts[MORE, bit_length(length - ESCAPE)] += 1
            before = length


@jit
def most_tokens(lines: Any, window: int) -> int:
    """Return a bound on the tokens of a window."""
    begin, end = lines.windows[window], lines.windows[window + 1]
    n, before = MOST_TOKENS, 0
    for line in range(begin, end):
        length = lines.ends[line] - lines.starts[line]
        n += length + (1 if length == before else MOST_TOKENS)
        before = length
    return n
