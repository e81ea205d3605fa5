"""Decoder of a line's pieces: literals, and copies of the consensus (SPEC.md, Pieces).

No table has an illegal symbol for its element (`legal_symbols` of `syntax.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.entropy.rans_lanes import get, get_number, get_raw, get_small
from gangsaw.codecs.core.entropy.sparse_tables import ABSENT, RansTables
from gangsaw.codecs.core.nucleotides.kernels import code_of, is_base, letter_of
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.sequence import syntax
from gangsaw.codecs.reads.sequence.bases import copy_bases
from gangsaw.codecs.reads.sequence.dictionary import Dictionary, first_column
from gangsaw.codecs.reads.sequence.fours import get_fours, get_fours_between
from gangsaw.codecs.reads.sequence.syntax import strand_table


class Window(NamedTuple):
    """Window of reads in decoding: input, memory and output of all its lines.

    Attributes
    ----------
    data : (n,) uint8 that contains the window's lane
    stop : end of the lane in `data`
    dictionary : tables of the block
    memory : (syntax.MEMORY,) int64, state from earlier lines
    is_sorted, is_steady, pairs : see `Windows`
    out : (n,) uint8 to fill
    end : end of the window in `out`; only the end of a line is written after it
    text_end : end of the text, or of `out`
    open_end : end of a line without a newline; -1 if there is none
    """

    data: Text
    stop: int
    dictionary: Dictionary
    memory: Int64s
    is_sorted: bool
    is_steady: bool
    pairs: bool
    out: Text
    end: int
    text_end: int
    open_end: int


class Piece(NamedTuple):
    """Piece of a line to decode.

    Attributes
    ----------
    place, n : its start in `out`, and its bases
    several : True if its line has more than one piece
    has_runs : True if its line has exceptions
    """

    place: int
    n: int
    several: bool
    has_runs: bool


@jit(inline=True, part=True, norefs=True)
def get_pieces(
    window: Window, odd: int, has_runs: bool, x: int, at: int, place: int, end: int
) -> tuple[int, int]:
    """Decode the bases of a line, out[place:end]; return the lane's state and offset.

    odd : 1 if the line is a second mate, else 0
    has_runs : True if the line has exceptions
    x, at : rANS state of the lane, and offset of its next word
    """
    data, stop, out, memory = window.data, window.stop, window.out, window.memory
    tables = window.dictionary.tables
    kind, x, at = get(tables, syntax.KIND + 2 * memory[syntax.AT_KIND] + odd, x, at, data, stop)
    memory[syntax.AT_KIND] = kind
    several = kind == syntax.SEVERAL
    count = 1
    if several:
        count, x, at = get_small(tables, syntax.PIECES, syntax.REST, x, at, data, stop)
    before: Any = 0
    reference, strand = -1, 0
    for left in range(count - 1, -1, -1):
        n = end - place
        mapped: Any = np.int64(kind == syntax.ONE_MAPPED)
        if several:
            mapped, x, at = get(tables, syntax.MAPPED + before, x, at, data, stop)
            before = 1 + mapped
            if left:
                n, x, at = get_small(
                    tables, syntax.PIECE_LENGTH + mapped, syntax.REST, x, at, data, stop
                )
        if at > stop or n < 1 or n > end - place - left:
            return x, at | ABSENT
        if mapped:
            piece = Piece(place, n, several, has_runs)
            reference, strand, x, at = get_mapped(window, odd, piece, reference, strand, x, at)
        elif has_runs:
            x, at = get_fours_between(
                tables, syntax.LITERAL, x, at, data, stop, out, place, place + n
            )
        else:
            x, at = get_fours(tables, syntax.LITERAL, x, at, data, stop, out, place, n, window.end)
        place += n
    return (x, at) if count > 0 else (x, at | ABSENT)


@jit(inline=True, part=True, norefs=True)
def get_mapped(
    window: Window, odd: int, piece: Piece, reference: int, strand: int, x: int, at: int
) -> tuple[int, int, int, int]:
    """Decode a mapped piece; return its end column, its strand, and the lane's state and offset.

    reference, strand : end and strand of the mapped piece before; reference is -1 for the first
    """
    dictionary, memory, is_sorted = window.dictionary, window.memory, window.is_sorted
    data, stop, out, place, n = window.data, window.stop, window.out, piece.place, piece.n
    is_first = reference < 0
    if is_first:
        position, strand, x, at = get_first_place(
            data, dictionary, is_sorted, window.is_steady, memory, odd, n, x, at, stop
        )
    else:
        position, strand, x, at = get_place(
            data, dictionary, syntax.OF_LATER, reference, strand, n, x, at, stop
        )
    if at > stop or position < 0 or position + n > dictionary.size:
        return 0, 0, x, at | ABSENT
    if is_first:
        memory[syntax.AT_STRAND], memory[syntax.AT_MATE] = strand, 1
        if not (is_sorted and odd):
            memory[syntax.AT_PRIMARY] = position
    source = dictionary.backward if strand else dictionary.forward
    begin = dictionary.size - position - n if strand else position
    if piece.has_runs:
        for i in range(n):
            byte = out[place + i]
            out[place + i] = source[begin + i] if is_base(byte) else byte
    else:
        copy_bases(source, begin, out, place, n, window.end)
    x, at = get_mismatches(window, piece, source, begin, position, strand, x, at)
    return position if strand else position + n, strand, x, at


@jit(inline=True, part=True, norefs=True)
def get_first_place(
    data: Bytes,
    dictionary: Dictionary,
    is_sorted: bool,
    is_steady: bool,
    memory: Int64s,
    odd: int,
    n: int,
    x: int,
    at: int,
    stop: int,
) -> tuple[int, int, int, int]:
    """Decode the position of a line's first mapped piece; return it, its strand, state and offset.

    n : bases of the piece
    """
    primary, tables = memory[syntax.AT_PRIMARY], dictionary.tables
    if is_sorted and not odd:
        ahead, x, at = get(tables, syntax.AHEAD, x, at, data, stop)
        position = primary + ahead
        if ahead == syntax.AHEAD_BACK:
            position, x, at = get_number(tables, syntax.BACK, x, at, data, stop)
        elif ahead == syntax.AHEAD_FAR:
            more, x, at = get_number(tables, syntax.FAR_AHEAD, x, at, data, stop)
            position = primary + syntax.AHEAD_BACK + more
        table = strand_table(is_steady and ahead == 0, memory[syntax.AT_STRAND])
        strand, x, at = get(tables, table, x, at, data, stop)
        return position, strand, x, at
    of = syntax.OF_MATE if odd and memory[syntax.AT_MATE] else syntax.OF_FIRST
    return get_place(data, dictionary, of, primary, memory[syntax.AT_STRAND], n, x, at, stop)


@jit(inline=True, part=True, norefs=True)
def get_place(
    data: Bytes,
    dictionary: Dictionary,
    of: int,
    reference: int,
    strand: int,
    n: int,
    x: int,
    at: int,
    stop: int,
) -> tuple[int, int, int, int]:
    """Decode a piece's position: hot, near a reference, or in full.

    Return it, its strand, and the lane's state and offset.

    of : OF_FIRST, OF_MATE or OF_LATER, the kind of reference
    reference, strand : column of the reference, and its strand
    n : bases of the piece
    """
    tables, later = dictionary.tables, of == syntax.OF_LATER
    hot, x, at = get(tables, syntax.HOT + later, x, at, data, stop)
    if hot:
        anchor = dictionary.hot[hot]
        own = anchor & 1
        return (anchor >> 1) - own * n, own, x, at
    near, x, at = get(tables, syntax.NEAR + of, x, at, data, stop)
    if near:
        high, x, at = get(tables, syntax.NEAR_HIGH + of, x, at, data, stop)
        low, x, at = get_raw(syntax.NEAR_BITS, x, at, data, stop)
        position = reference + (high << syntax.NEAR_BITS | low) - syntax.NEAR_BY
    else:
        high, x, at = get(tables, syntax.PLACE_HIGH + later, x, at, data, stop)
        low, x, at = get_raw(dictionary.low_bits, x, at, data, stop)
        position = high << dictionary.low_bits | low
    own, x, at = get(tables, syntax.STRAND + 2 * of + strand, x, at, data, stop)
    if near and later:
        position -= own * n
    return position, own, x, at


@jit(inline=True, part=True, norefs=True)
def get_mismatches(
    window: Window,
    piece: Piece,
    source: Bytes,
    begin: int,
    position: int,
    strand: int,
    x: int,
    at: int,
) -> tuple[int, int]:
    """Replace a piece's bases that differ from the consensus; return the lane's state and offset.

    source, begin : the consensus on this strand, and the start of the piece in it
    """
    data, stop, dictionary, out = window.data, window.stop, window.dictionary, window.out
    tables, place, n, has_runs = dictionary.tables, piece.place, piece.n, piece.has_runs
    table = syntax.MISMATCHES + piece.several
    left, x, at = get_small(tables, table, syntax.REST, x, at, data, stop)
    if left > n or at > stop:
        return x, at | ABSENT
    # columns of class > 0: the next one is number k, at base `variable`, which is n without one
    k, step = first_column(dictionary, position), 1
    if strand:
        k, step = first_column(dictionary, position + n) - 1, -1
    variable = min(n, abs(dictionary.columns[k] - position - strand * (n - 1)))
    i, gap, last_two = 0, n, 0
    if left:
        gap, x, at = get_gap(tables, left, n, x, at, data, stop)
    while True:
        if gap < variable - i:  # in plain columns only
            i += gap
            base = code_of(np.int64(source[begin + i]))
            code, x, at = get(tables, syntax.LETTER + base, x, at, data, stop)
            put_letter(out, place + i, code, has_runs)
            i, left, gap = i + 1, left - 1, n
            if left:
                gap, x, at = get_gap(tables, left, n, x, at, data, stop)
        elif variable < n:
            gap -= variable - i
            base = code_of(np.int64(source[begin + variable]))
            own: Any = np.int64(dictionary.variants[k])
            second = own >> 2 ^ 3 * strand
            which, x, at = get(tables, syntax.VARIANT + 9 * (own & 3) + last_two, x, at, data, stop)
            if which:
                code = second
                if which > 1:
                    code, x, at = get_other(tables, base, second, x, at, data, stop)
                put_letter(out, place + variable, code, has_runs)
            last_two = (3 * last_two + which) % 9
            i, k = variable + 1, k + step
            variable = min(n, abs(dictionary.columns[k] - position - strand * (n - 1)))
        else:
            break
        if at > stop:
            break
    return (x, at) if left == 0 else (x, at | ABSENT)


@jit(inline=True, part=True, norefs=True)
def get_gap(
    tables: RansTables, left: int, n: int, x: int, at: int, data: Bytes, stop: int
) -> tuple[int, int, int]:
    """Decode the number of columns of class 0 before the next mismatch, at most n.

    Return it, and the lane's state and offset.
    """
    table = syntax.GAP + min(left, syntax.GAPS) - 1
    gap, x, at = get(tables, table, x, at, data, stop)
    more = gap
    while more == syntax.MOST_GAP and gap < n:
        more, x, at = get(tables, table, x, at, data, stop)
        gap += more
    return min(gap, n), x, at


@jit(inline=True, part=True, norefs=True)
def get_other(
    tables: RansTables, base: int, second: int, x: int, at: int, data: Bytes, stop: int
) -> tuple[int, int, int]:
    """Decode the base in a column that is neither its first nor its second one.

    Return it, and the lane's state and offset.
    """
    code, x, at = get(tables, syntax.OTHER, x, at, data, stop)
    code += code >= min(base, second)
    code += code >= max(base, second)
    return code, x, at


@jit(inline=True, part=True, norefs=True)
def put_letter(out: Bytes, place: int, code: int, has_runs: bool) -> None:
    """Write the letter of a base code, but leave an exception unchanged."""
    if not has_runs or is_base(out[place]):
        out[place] = letter_of(code)
