"""Syntax elements of lanes besides values, and their tables (SPEC.md, Qualities)."""

from __future__ import annotations

from gangsaw.codecs.core.entropy.rans_lanes import Tokens, put, put_number, put_small
from gangsaw.codecs.core.numba.jit import jit

NUMBER, SAME, LENGTH, MORE = range(4)  # tables; those of values follow
SYNTAX_TABLES = 4
MOST_TOKENS = 12  # of a line, or of the start of a lane


@jit(part=True, norefs=True)
def put_window_syntax(tokens: Tokens, lead: int, n_lines: int) -> int:
    """Write the coder tokens at the start of a lane; return their number.

    lead : bytes of the window before its first line
    """
    n = put_number(tokens, 0, NUMBER, lead)
    return put_number(tokens, n, NUMBER, n_lines)


@jit(part=True, norefs=True)
def put_line_syntax(tokens: Tokens, length: int, before: int) -> int:
    """Write the coder tokens at the start of a line, of its length; return their number.

    before : length of the line before
    """
    n = put(tokens, 0, SAME, length == before)
    if length != before:
        n = put_small(tokens, n, LENGTH, MORE, length)
    return n
