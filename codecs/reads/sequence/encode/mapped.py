"""Tokens of mapped pieces: their position and their differences (SPEC.md, "Mapped pieces")."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int32s, Int64, Int64s
from gangsaw.codecs.core.entropy.rans_lanes import Tokens, put, put_number, put_raw, put_small
from gangsaw.codecs.core.nucleotides.alphabet import NOT_A_BASE
from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import load_le64
from gangsaw.codecs.reads.sequence import syntax
from gangsaw.codecs.reads.sequence.columns import (
    CLASS,
    ONE,
    PLAIN,
    SECOND,
    differing,
    variable,
    within,
)
from gangsaw.codecs.reads.sequence.encode.block import SequenceBlock


class PieceAnchor(NamedTuple):
    """Position relative to which the next mapped piece of a line is coded.

    Attributes
    ----------
    end, strand : column at which the mapped piece before ends, in reading direction, and its
        strand; -1 and 0 if there is none
    """

    end: int
    strand: int


@jit(inline=True, part=True, norefs=True)
def put_mapped(
    block: SequenceBlock,
    line: int,
    k: int,
    odd: int,
    several: bool,
    before: PieceAnchor,
    memory: Int64s,
    event_offsets: Int32s,
    tokens: Tokens,
    n: int,
) -> tuple[int, PieceAnchor]:
    """Append a mapped piece, k; return the number of tokens, and the reference of the next piece.

    odd : 1 if the line is a second mate, else 0
    before : reference for this piece's position
    n : number of tokens so far
    """
    place = block.position[k]
    own: Any = np.int64(block.strand[k])
    length = block.end[k] - block.begin[k]
    if before.end < 0:
        n = put_first_place(block, k, odd, memory, tokens, n)
        memory[syntax.AT_STRAND], memory[syntax.AT_MATE] = own, 1
        if not (block.is_sorted and odd):
            memory[syntax.AT_PRIMARY] = place
    else:
        anchor = place + length if own else place
        n = put_place(block, k, syntax.OF_LATER, before.end, before.strand, anchor, tokens, n)
    begin = block.starts[line] + block.begin[k]
    n = put_mismatches(block, begin, k, several, event_offsets, tokens, n)
    return n, PieceAnchor(place if own else place + length, own)


@jit(inline=True, part=True, norefs=True)
def put_first_place(
    block: SequenceBlock, k: int, odd: int, memory: Int64s, tokens: Tokens, n: int
) -> int:
    """Append the position and strand of the first mapped piece of a line."""
    primary, place = memory[syntax.AT_PRIMARY], block.position[k]
    if block.is_sorted and not odd:
        n = put_ahead(place - primary, place, tokens, n)
        table = syntax.strand_table(place == primary, memory[syntax.AT_STRAND])
        return put(tokens, n, table, block.strand[k])
    of = syntax.OF_MATE if odd and memory[syntax.AT_MATE] else syntax.OF_FIRST
    return put_place(block, k, of, primary, memory[syntax.AT_STRAND], place, tokens, n)


@jit(inline=True, part=True, norefs=True)
def put_ahead(ahead: int, place: int, tokens: Tokens, n: int) -> int:
    """Append a position in a sorted block: columns from the primary position on, or in full.

    ahead : columns from the primary position to `place`, negative if it is before
    """
    if ahead < 0:
        n = put(tokens, n, syntax.AHEAD, syntax.AHEAD_BACK)
        return put_number(tokens, n, syntax.BACK, place)
    if ahead < syntax.AHEAD_BACK:
        return put(tokens, n, syntax.AHEAD, ahead)
    n = put(tokens, n, syntax.AHEAD, syntax.AHEAD_FAR)
    return put_number(tokens, n, syntax.FAR_AHEAD, ahead - syntax.AHEAD_BACK)


@jit(inline=True, part=True, norefs=True)
def put_place(
    block: SequenceBlock,
    k: int,
    of: int,
    reference: int,
    strand: int,
    anchor: int,
    tokens: Tokens,
    n: int,
) -> int:
    """Append a piece's position and strand: hot, near a reference, or in full.

    of : OF_FIRST, OF_MATE or OF_LATER, the kind of reference
    reference, strand : column of the reference, and its strand
    anchor : column that is coded relative to the reference
    """
    later, hot, place = of == syntax.OF_LATER, block.hot[k], block.position[k]
    n = put(tokens, n, syntax.HOT + later, hot)
    if hot:
        return n
    away = anchor - reference + syntax.NEAR_BY
    near = 0 <= away < 2 * syntax.NEAR_BY
    n = put(tokens, n, syntax.NEAR + of, near)
    if near:
        n = put(tokens, n, syntax.NEAR_HIGH + of, away >> syntax.NEAR_BITS)
        n = put_raw(tokens, n, syntax.NEAR_BITS, away)
    else:
        n = put(tokens, n, syntax.PLACE_HIGH + later, place >> block.low_bits)
        n = put_raw(tokens, n, block.low_bits, place)
    return put(tokens, n, syntax.STRAND + 2 * of + strand, block.strand[k])


@jit(inline=True, part=True, norefs=True)
def put_mismatches(
    block: SequenceBlock,
    begin: int,
    k: int,
    is_one_of_several: bool,
    event_offsets: Int32s,
    tokens: Tokens,
    n: int,
) -> int:
    """Append a piece's mismatches in columns of class 0, and its bases in other columns."""
    length, place = block.end[k] - block.begin[k], block.position[k]
    row = block.backward if block.strand[k] else block.forward
    first = block.size - place - length if block.strand[k] else place
    events, left = find_events(block.codes, begin, row, first, length, event_offsets)
    n = put_small(tokens, n, syntax.MISMATCHES + is_one_of_several, syntax.REST, left)
    if left:
        n = put_gap(row, first, event_offsets, 0, 0, left, tokens, n)
    last_two = 0
    for e in range(events):
        i = np.int64(event_offsets[e])
        column, code = np.int64(row[first + i]), np.int64(block.codes[begin + i])
        if column < PLAIN:
            n = put(tokens, n, syntax.LETTER + column, code)
            left -= 1
            if left:
                n = put_gap(row, first, event_offsets, e + 1, i + 1, left, tokens, n)
        else:
            n, last_two = put_variant(column, code, last_two, tokens, n)
    return n


@jit(inline=True, part=True, norefs=True)
def find_events(
    codes: Bytes, begin: int, row: Bytes, first: int, length: int, event_offsets: Int32s
) -> tuple[int, int]:
    """List the offsets in a piece of mismatches and of columns of class > 0.

    Return the number of offsets, and that of mismatches in columns of class 0.
    """
    events, plain = 0, 0
    for i in range(0, length, 8):
        columns = load_le64(row, first + i)
        marks = within(
            differing(load_le64(codes, begin + i), columns) | variable(columns), length - i
        )
        while marks:
            event_offsets[events] = i + (trailing_zeros(marks) >> 3)
            plain += row[first + event_offsets[events]] < PLAIN
            events += 1
            marks &= marks - ONE
    return events, plain


@jit(inline=True, part=True, norefs=True)
def put_gap(
    row: Bytes,
    first: int,
    event_offsets: Int32s,
    event: int,
    begin: Int64,
    left: int,
    tokens: Tokens,
    n: int,
) -> int:
    """Append the number of columns of class 0 from `begin` to the next mismatch.

    event : index of the first offset in `event_offsets` from there on
    """
    variants = 0
    while row[first + event_offsets[event + variants]] >= PLAIN:
        variants += 1
    gap = event_offsets[event + variants] - begin - variants
    table = syntax.GAP + min(left, syntax.GAPS) - 1
    while gap >= syntax.MOST_GAP:
        n = put(tokens, n, table, syntax.MOST_GAP)
        gap -= syntax.MOST_GAP
    return put(tokens, n, table, gap)


@jit(inline=True, part=True, norefs=True)
def put_variant(
    column: Int64, code: Int64, last_two: int, tokens: Tokens, n: int
) -> tuple[int, int]:
    """Append a base in a column of class > 0; return tokens and the last two symbols."""
    base, second = column & 3, column >> SECOND
    which = 0 if code in (base, NOT_A_BASE) else 1 if code == second else 2
    n = put(tokens, n, syntax.VARIANT + 9 * ((column >> CLASS & 7) - 1) + last_two, which)
    if which == 2:
        n = put(tokens, n, syntax.OTHER, code - (base < code) - (second < code))
    return n, (3 * last_two + which) % 9
