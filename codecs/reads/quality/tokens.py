"""Tokens of 16 bits for the contents of lanes, each of them a symbol of a table.

Tokens of the syntax come first, then raw bits, then values, whose table depends on the context. So
the writer of lanes needs no lines.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s, UInt16s
from gangsaw.codecs.core.entropy.rans_lanes import RAW, Tokens, tokens_of
from gangsaw.codecs.core.entropy.rans_tables import PRECISION
from gangsaw.codecs.core.entropy.sparse_tables import SYMBOLS
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.lines import Lines
from gangsaw.codecs.reads.quality.contexts import Components, Strides, U, strides_of
from gangsaw.codecs.reads.quality.line_contexts import (
    PIECE,
    LineScratch,
    allocate_line_scratch,
    find_line_contexts,
    part_step,
)
from gangsaw.codecs.reads.quality.syntax import (
    MOST_TOKENS,
    SAME,
    SYNTAX_TABLES,
    put_line_syntax,
    put_window_syntax,
)
from gangsaw.codecs.reads.quality.tree import MOST_TABLES, Tree, table_map
from gangsaw.codecs.reads.quality.values import Values

RAW_TOKENS = SYNTAX_TABLES * SYMBOLS  # the token of n raw bits v is 2^n + v from here on
VALUE_TOKENS = RAW_TOKENS + (2 << PRECISION)
MOST_VALUES = (1 << 16) - VALUE_TOKENS  # of all tables together
IS_SAME = SAME * SYMBOLS + 1
# alternating copies of counts: an addition would wait for the previous one to the same count
COPIES = 2


class TokenModel(NamedTuple):
    """Tables that map quality bytes in their contexts to coder tokens.

    Attributes
    ----------
    values : map from quality bytes to values
    strides : factors of context numbers
    token_of : (n_contexts,) uint16, the token of value 0 in each context
    n_values : number of values of each table
    n_tokens : number of different tokens
    is_counting : True if tokens of values are counted, too
    """

    values: Values
    strides: Strides
    token_of: npt.NDArray[np.uint16]
    n_values: int
    n_tokens: int
    is_counting: bool


class TokenRuns(NamedTuple):
    """Coder tokens of all windows of a block of qualities.

    Attributes
    ----------
    tokens : (n,) uint16
    begins, ends : (n_windows,) int64, range of each window's tokens
    """

    tokens: npt.NDArray[np.uint16]
    begins: Int64s
    ends: Int64s


class TokenScratch(NamedTuple):
    """Scratch memory of a thread that writes tokens.

    Attributes
    ----------
    piece : scratch memory for a piece of a line
    header : syntax tokens at the start of a line or a window
    counts : (COPIES * n_tokens,) uint32, count of each token
    """

    piece: LineScratch
    header: Tokens
    counts: npt.NDArray[np.uint32]


def most_tables(components: Components) -> int:
    """Return the largest number of tables for which 16-bit tokens suffice."""
    return min(MOST_TABLES, MOST_VALUES // components.befores)


def token_model(
    values: Values, tree: Tree, components: Components, is_counting: bool
) -> TokenModel:
    """Return the tables that map quality bytes to tokens."""
    n_values = components.befores
    firsts = VALUE_TOKENS + np.arange(tree.n_tables) * n_values
    token_of = firsts.astype(np.uint16)[table_map(tree, components)]
    n_tokens = VALUE_TOKENS + tree.n_tables * n_values
    return TokenModel(values, strides_of(components), token_of, n_values, n_tokens, is_counting)


def table_counts(counts: Int64s, n_values: int) -> Int64s:
    """Return (n_tables, 256) counts of symbols, of syntax and values, from counts of tokens."""
    of_values = counts[VALUE_TOKENS:].reshape(-1, n_values)
    out = np.zeros((SYNTAX_TABLES + len(of_values), SYMBOLS), np.int64)
    out[:SYNTAX_TABLES] = counts[:RAW_TOKENS].reshape(-1, SYMBOLS)
    out[SYNTAX_TABLES:, :n_values] = of_values
    return out


def allocate_scratch(model: TokenModel) -> TokenScratch:
    """Return scratch memory for a thread that writes tokens."""
    return TokenScratch(
        allocate_line_scratch(),
        tokens_of(MOST_TOKENS),
        np.zeros(COPIES * model.n_tokens, np.uint32),
    )


def allocate_runs(lines: Lines) -> TokenRuns:
    """Allocate the tokens of all windows; their ends are uninitialised."""
    offsets, n = np.empty(lines.n_windows + 1, np.int64), lines.n_windows
    find_capacities(lines, offsets)
    return TokenRuns(np.empty(int(offsets[-1]), np.uint16), offsets[:-1], np.empty(n, np.int64))


@jit(norefs=True)
def find_capacities(lines: Lines, offsets: Int64s) -> None:
    """Write the offset of each window's part of the token buffer to `offsets`, (n_windows + 1,)."""
    offsets[0] = 0
    for window in range(offsets.size - 1):
        begin, end = lines.windows[window], lines.windows[window + 1]
        n, before = MOST_TOKENS * np.int64(begin < end), 0
        for line in range(begin, end):
            length = lines.ends[line] - lines.starts[line]
            n += length + most_of_line(length, before)
            before = length
        offsets[window + 1] = offsets[window] + n


@jit(inline=True, part=True, norefs=True)
def most_of_line(length: int, before: int) -> int:
    """Return an upper bound on the syntax tokens at the start of a line."""
    if length == before:
        return 1
    return 2 if length < SYMBOLS - 1 else MOST_TOKENS


@jit(norefs=True)
def write_tokens(
    lines: Lines, first: int, last: int, model: TokenModel, scratch: TokenScratch, runs: TokenRuns
) -> None:
    """Write the coder tokens of windows first to last - 1, count them, and set their ends."""
    out = runs.tokens
    for window in range(first, last):
        at = runs.begins[window]
        begin, end = lines.windows[window], lines.windows[window + 1]
        if begin < end:
            lead = lines.starts[begin] - window * lines.lane
            at = write_syntax_tokens(
                put_window_syntax(scratch.header, lead, end - begin), scratch, out, at
            )
        before = 0
        for line in range(begin, end):
            length = lines.ends[line] - lines.starts[line]
            if length == before:
                out[at] = IS_SAME
                scratch.counts[IS_SAME] += np.uint32(1)
                at += 1
            else:
                at = write_syntax_tokens(
                    put_line_syntax(scratch.header, length, before), scratch, out, at
                )
            write_value_tokens(lines.text, lines.starts[line], length, model, scratch, out, at)
            at, before = at + length, length
        runs.ends[window] = at


@jit(part=True, norefs=True)
def write_syntax_tokens(n: int, scratch: TokenScratch, out: UInt16s, at: int) -> int:
    """Append n tokens of the syntax to out[at:]; return the index after them."""
    for i in range(n):
        table, token = np.int64(scratch.header.tables[i]), np.int64(scratch.header.symbols[i])
        token += RAW_TOKENS + (1 << table - RAW) if table >= RAW else table * SYMBOLS
        out[at + i] = token
        scratch.counts[token] += np.uint32(1)
    return at + n


@jit(inline=True, part=True, norefs=True)
def write_value_tokens(
    text: Bytes,
    begin: int,
    length: int,
    model: TokenModel,
    scratch: TokenScratch,
    out: UInt16s,
    at: int,
) -> None:
    """Write and count the tokens of the quality values of a line."""
    step, changed, piece = part_step(length), 0, scratch.piece
    half = U(scratch.counts.size // COPIES)
    for first in range(0, length, PIECE):
        n = min(PIECE, length - first)
        place, changed = find_line_contexts(
            text, begin, first, n, model.values, model.strides, step, changed, piece
        )
        to = U(at + first)
        for i in range(U(n)):
            out[to + i] = U(model.token_of[U(piece.contexts[i])]) + U(piece.values[i + U(place)])
        for i in range(U(n if model.is_counting else 0)):
            scratch.counts[(i & U(COPIES - 1)) * half + U(out[to + i])] += np.uint32(1)
