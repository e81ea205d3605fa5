"""Tokens of windows, in reading order: an encoder's description of lines (SPEC.md, Sequences)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import Int32s, Int64s
from gangsaw.codecs.core.entropy.rans_lanes import (
    Tokens,
    put,
    put_number,
    put_raw,
    put_small,
    tokens_of,
)
from gangsaw.codecs.core.nucleotides.alphabet import NOT_A_BASE
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import load_le64
from gangsaw.codecs.reads.sequence import syntax
from gangsaw.codecs.reads.sequence.encode.block import SequenceBlock
from gangsaw.codecs.reads.sequence.encode.mapped import PieceAnchor, put_mapped
from gangsaw.codecs.reads.sequence.exceptions import put_exception_tokens
from gangsaw.codecs.reads.sequence.fours import put_fours

AT_ONCE = 1 << 16  # bytes of windows whose tokens are written in one call
# upper bounds on tokens of a window, a line, a piece, a base, and an exception
OF_WINDOW, OF_LINE, OF_PIECE, OF_LETTER, OF_EXCEPTION = 16, 24, 24, 2, 12


def window_tokens(
    block: SequenceBlock, windows: Int64s, lane: int
) -> Iterator[tuple[Tokens, Int64s]]:
    """Yield the coder tokens of some windows, and the end of each window's tokens, (n,) int64.

    Parameters
    ----------
    windows : (n_windows + 1,) int64, first line of each window, and the number of lines
    lane : bytes of a window
    """
    memory = np.zeros(syntax.MEMORY, np.int64)
    step = max(1, AT_ONCE // lane)
    for first in range(0, windows.size - 1, step):
        own = windows[first : first + step + 1]
        tokens, ends = tokens_of(_most_tokens(block, own)), np.zeros(own.size - 1, np.int64)
        event_offsets = np.empty(_longest(block, own), np.int32)
        n = int(
            write_sequence_tokens(
                block, own, first * lane, lane, memory, event_offsets, tokens, ends
            )
        )
        yield Tokens(tokens.tables[:n].copy(), tokens.symbols[:n].copy()), ends


def _most_tokens(block: SequenceBlock, windows: Int64s) -> int:
    """Return an upper bound on the coder tokens of some windows."""
    first, last = windows[[0, -1]]
    if first == last:
        return 0
    begin, end = block.starts[first], block.ends[last - 1]
    exceptions = np.count_nonzero(block.codes[begin:end] == NOT_A_BASE)
    pieces = block.firsts[last] - block.firsts[first]
    whole = OF_WINDOW * (windows.size - 1) + OF_LINE * (last - first) + OF_PIECE * pieces
    return int(whole + OF_LETTER * (end - begin) + OF_EXCEPTION * exceptions)


def _longest(block: SequenceBlock, windows: Int64s) -> int:
    """Return the bases of the longest piece in some windows."""
    own = slice(*block.firsts[windows[[0, -1]]])
    return int((block.end[own] - block.begin[own]).max(initial=0))


@jit(norefs=True)
def write_sequence_tokens(
    block: SequenceBlock,
    windows: Int64s,
    begin: int,
    lane: int,
    memory: Int64s,
    event_offsets: Int32s,
    tokens: Tokens,
    ends: Int64s,
) -> int:
    """Write the tokens of windows, the first of which begins at byte `begin`; return their number.

    Parameters
    ----------
    memory : (MEMORY,) int64, state after the window before
    event_offsets : (longest piece,) int32 scratch memory
    ends : (n_windows,) int64, filled
    """
    n = 0
    for w in range(ends.size):
        first, last = windows[w], windows[w + 1]
        if first < last:
            lead = block.starts[first] - begin - w * lane
            n = put_start(block, first, last, lead, memory, tokens, n)
        for line in range(first, last):
            n = put_sequence_line(block, line, line > first, memory, event_offsets, tokens, n)
        ends[w] = n
    return n


@jit(inline=True, part=True, norefs=True)
def put_start(
    block: SequenceBlock, first: int, last: int, lead: int, memory: Int64s, tokens: Tokens, n: int
) -> int:
    """Append the tokens at the start of a window; return the number of all tokens.

    first, last : first line of the window, and the one after its last
    lead : bytes of the window before its first line
    """
    primary = memory[syntax.AT_PRIMARY] if block.is_sorted else 0
    memory[:] = 0
    memory[syntax.AT_PRIMARY] = primary
    if block.pairs:
        n = put_raw(tokens, n, 1, first & 1)
    if block.is_sorted:
        n = put_raw(tokens, n, syntax.PLACE_BITS, primary)
    n = put_number(tokens, n, syntax.LEAD, lead)
    return put_number(tokens, n, syntax.LINES, last - first)


@jit(inline=True, part=True, norefs=True)
def put_sequence_line(
    block: SequenceBlock,
    line: int,
    has_before: bool,
    memory: Int64s,
    event_offsets: Int32s,
    tokens: Tokens,
    n: int,
) -> int:
    """Append the tokens of a line; return the number of all tokens."""
    if block.is_sorted and not block.pairs and has_before:
        repeats = is_repeat(block, line)
        n = put(tokens, n, syntax.REPEAT + memory[syntax.AT_REPEAT], repeats)
        memory[syntax.AT_REPEAT] = repeats
        if repeats:
            return n
    start, end = block.starts[line], block.ends[line]
    length = end - start
    n = put(tokens, n, syntax.SAME_LENGTH, length == memory[syntax.AT_LENGTH])
    if length != memory[syntax.AT_LENGTH]:
        n = put_small(tokens, n, syntax.LENGTH, syntax.REST, length)
    memory[syntax.AT_LENGTH] = length
    odd = line & 1 if block.pairs else 0
    if not odd:
        memory[syntax.AT_MATE] = 0
    n = put_exception_tokens(block.text, block.codes, start, end, tokens, n)
    if length:
        n = put_pieces(block, line, odd, memory, event_offsets, tokens, n)
    return n


@jit(inline=True, part=True, norefs=True)
def is_repeat(block: SequenceBlock, line: int) -> Any:
    """Return True if a line equals the one before it."""
    a, b = block.starts[line - 1], block.starts[line]
    n = block.ends[line] - b
    if n != block.ends[line - 1] - a:
        return False
    i = 0
    while i + 8 <= n and load_le64(block.text, a + i) == load_le64(block.text, b + i):
        i += 8
    while i < n and block.text[a + i] == block.text[b + i]:
        i += 1
    return i == n


@jit(inline=True, part=True, norefs=True)
def put_pieces(
    block: SequenceBlock,
    line: int,
    odd: int,
    memory: Int64s,
    event_offsets: Int32s,
    tokens: Tokens,
    n: int,
) -> int:
    """Append the tokens of a line's pieces; return the number of all tokens."""
    first, count = block.firsts[line], block.firsts[line + 1] - block.firsts[line]
    kind = syntax.ONE_MAPPED if block.is_mapped[first] else syntax.ONE_LITERAL
    if count > 1:
        kind = syntax.SEVERAL
    n = put(tokens, n, syntax.KIND + 2 * memory[syntax.AT_KIND] + odd, kind)
    memory[syntax.AT_KIND] = kind
    if count > 1:
        n = put_small(tokens, n, syntax.PIECES, syntax.REST, count)
    before: Any = 0
    reference = PieceAnchor(-1, 0)
    for k in range(first, first + count):
        mapped = np.int64(block.is_mapped[k])
        if count > 1:
            n = put(tokens, n, syntax.MAPPED + before, mapped)
            before = 1 + mapped
            if k + 1 < first + count:
                length = block.end[k] - block.begin[k]
                n = put_small(tokens, n, syntax.PIECE_LENGTH + mapped, syntax.REST, length)
        if mapped:
            n, reference = put_mapped(
                block, line, k, odd, count > 1, reference, memory, event_offsets, tokens, n
            )
        else:
            begin = block.starts[line] + block.begin[k]
            stop = block.starts[line] + block.end[k]
            n = put_fours(tokens, n, syntax.LITERAL, block.codes, begin, stop)
    return n
