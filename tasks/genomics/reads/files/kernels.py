"""Kernels for lines of records: search, check and copy. Compiled."""

from __future__ import annotations

from typing import TypeAlias

from gangsaw.codecs.core.arrays import Bools, Bytes, Int64s
from gangsaw.codecs.core.numba.items import put_items
from gangsaw.codecs.core.numba.jit import jit

NEWLINE, RETURN, AT, PLUS = 10, 13, 64, 43
# status codes of a record
FINE, NO_AT, NO_PLUS, LENGTHS = range(4)
REASONS = {
    NO_AT: "does not begin with @",
    NO_PLUS: "does not begin with + (sequences on several lines: seqtk seq -l 0 joins them)",
    LENGTHS: "differs in length from the sequence",
}
NAME, SEQUENCE, SIGN, QUALITY = range(4)  # lines of a record, columns of their offsets
LINE_OF = {NO_AT: NAME, NO_PLUS: SIGN, LENGTHS: QUALITY}
LINES = 4
SPACE, TAB, SLASH, ONE, TWO = 32, 9, 47, 49, 50
DOT, LOW_LINE, HASH, COLON = 46, 95, 35, 58
FieldArrays: TypeAlias = "tuple[Bytes, Int64s, Int64s]"  # text, begins and ends of lines


@jit
def check_records(text: Bytes, begins: Int64s, ends: Int64s) -> tuple[int, int]:
    """Return number and error status of the first invalid FASTQ record, or (n, FINE).

    Parameters
    ----------
    text : (m,) uint8
    begins, ends : (n, 4) int64, lines of each record, without their ends
    """
    for i in range(len(begins)):
        if ends[i, NAME] == begins[i, NAME] or text[begins[i, NAME]] != AT:
            return i, NO_AT
        if ends[i, SIGN] == begins[i, SIGN] or text[begins[i, SIGN]] != PLUS:
            return i, NO_PLUS
        letters = ends[i, SEQUENCE] - begins[i, SEQUENCE]
        if letters != ends[i, QUALITY] - begins[i, QUALITY]:
            return i, LENGTHS
    return len(begins), FINE


@jit
def strip_returns(text: Bytes, begins: Int64s, ends: Int64s, usual: bool, odd: Int64s) -> int:
    """Exclude carriage returns from line ends; list and count the lines with an unusual end.

    Parameters
    ----------
    text : (m,) uint8
    begins, ends : (n,) int64; ends are changed
    usual : True if most lines end with CR LF
    odd : (n,) int64, output: numbers of lines; their count is returned
    """
    n = 0
    for i in range(len(begins)):
        has_return = ends[i] > begins[i] and text[ends[i] - 1] == RETURN
        ends[i] -= has_return
        if has_return != usual:
            odd[n] = i
            n += 1
    return n


@jit
def place_lines(lengths: Int64s, together: int, at: int, chunk: int, starts: Int64s) -> int:
    """Assign each line an offset in a chunked array; return the offset after the last line.

    No group of lines crosses the border of a chunk unless it is longer than a chunk.

    Parameters
    ----------
    lengths : (n,) int64, lengths of lines with their newlines
    together : lines per group; all groups are complete
    at : first free offset
    chunk : bytes of a chunk
    starts : (n,) int64, output: offset of each line
    """
    for first in range(0, lengths.size, together):
        size = 0
        for i in range(first, first + together):
            size += lengths[i]
        if at % chunk + size > chunk and at % chunk:
            at += chunk - at % chunk
        for i in range(first, first + together):
            starts[i] = at
            at += lengths[i]
    return at


@jit
def copy_text_lines(text: Bytes, begins: Int64s, ends: Int64s, starts: Int64s, out: Bytes) -> None:
    """Copy lines to their offsets in out (m,) uint8, each with a newline."""
    for i in range(len(begins)):
        out[put_items(out, starts[i], text, begins[i], ends[i])] = NEWLINE


@jit
def line_ends(text: Bytes, starts: Int64s, ends: Int64s) -> bool:
    """Write to `ends` the offset of the first newline after each start.

    Return False if one lacks it.
    """
    for i in range(len(starts)):
        at = starts[i]
        while at < text.size and text[at] != NEWLINE:
            at += 1
        ends[i] = at
        if at == text.size:
            return False
    return True


@jit
def same_lines(
    a: Bytes, begins: Int64s, ends: Int64s, b: Bytes, begins_b: Int64s, ends_b: Int64s, out: Bools
) -> None:
    """Set out[i], (n,) bool, to True if line i of text `a` equals line i of text `b`."""
    for i in range(len(begins)):
        n = ends[i] - begins[i]
        same = n == ends_b[i] - begins_b[i]
        for k in range(n if same else 0):
            same = same and a[begins[i] + k] == b[begins_b[i] + k]
        out[i] = same


@jit
def map_bytes(text: Bytes, begins: Int64s, ends: Int64s, table: Bytes) -> None:
    """Replace the bytes of lines, in place, according to a (256,) table."""
    for i in range(len(begins)):
        for at in range(begins[i], ends[i]):
            text[at] = table[text[at]]


@jit
def join_records(fields: tuple[FieldArrays, ...], signs: Bytes, returns: Bools, out: Bytes) -> int:
    """Write FASTQ records as text; return the number of bytes.

    Parameters
    ----------
    fields : tuples (text, begins, ends) of the four lines of each record
    signs : byte before each of the four lines, 0 for none
    returns : (n, 4) bool, True if a line ends with CR LF
    out : (m,) uint8, output
    """
    at = 0
    for i in range(len(returns)):
        k = 0  # Numba does not compile `enumerate` of tuples
        for text, begins, ends in fields:
            if signs[k]:
                out[at] = signs[k]
                at += 1
            at = put_items(out, at, text, begins[i], ends[i])
            if returns[i, k]:
                out[at] = RETURN
                at += 1
            out[at] = NEWLINE
            at += 1
            k += 1  # noqa: SIM113
    return at


@jit
def gather_lines(text: Bytes, begins: Int64s, ends: Int64s, offsets: Int64s, out: Bytes) -> None:
    """Copy lines without separators to out (m,) uint8, line i to out[offsets[i]:offsets[i + 1]]."""
    for i in range(len(begins)):
        put_items(out, offsets[i], text, begins[i], ends[i])


@jit
def cut_names(text: Bytes, begins: Int64s, ends: Int64s, out: Int64s) -> None:
    """Write the ends of the identifiers in names, (n,) int64: before a blank, /1 or /2."""
    for i in range(len(begins)):
        at = begins[i]
        while at < ends[i] and text[at] != SPACE and text[at] != TAB:
            at += 1
        mate = text[at - 1] if at - begins[i] > 2 else 0
        if mate in (ONE, TWO) and text[at - 2] == SLASH:
            at -= 2
        out[i] = at


@jit
def find_unmatched_name(
    text: Bytes, begins: Int64s, ends: Int64s, other: Bytes, of_begins: Int64s, of_ends: Int64s
) -> int:
    """Return the index of the first name that does not match its mate's; n if all match.

    Parameters
    ----------
    text, other : (m,) uint8
    begins, ends, of_begins, of_ends : (n,) int64
    """
    for i in range(len(begins)):
        at, to, last = begins[i], of_begins[i], 0
        end, of_end = _word_end(text, at, ends[i]), _word_end(other, to, of_ends[i])
        while at < end and to < of_end and text[at] == other[to] and last != HASH:
            last, at, to = text[at], at + 1, to + 1
        if at == end and to == of_end:
            is_same = _is_numbered(text, begins[i], end)
            mate = _mate_behind(text, end, ends[i])
            if is_same or (mate and mate == _mate_behind(other, of_end, of_ends[i])):
                return i
        elif last != HASH:
            are_numbers = end - at == 1 and of_end - to == 1
            are_numbers = are_numbers and text[at] == ONE and other[to] == TWO
            if not are_numbers or last not in (SLASH, DOT, LOW_LINE):
                return i
    return len(begins)


@jit
def _word_end(text: Bytes, at: int, end: int) -> int:
    """Return the end of the word at text[at:end]: the first space or tab, or `end`."""
    while at < end and text[at] != SPACE and text[at] != TAB:
        at += 1
    return at


@jit
def _is_numbered(text: Bytes, begin: int, end: int) -> bool:
    """Return True if a word ends with the mark of a mate, /1 or /2."""
    return end - begin > 2 and text[end - 2] == SLASH and text[end - 1] in (ONE, TWO)


@jit
def _mate_behind(text: Bytes, at: int, end: int) -> int:
    """Return the mate's digit after a word of a name, as in " 1:"; 0 if there is none."""
    is_there = at + 2 < end and text[at + 2] == COLON and text[at + 1] in (ONE, TWO)
    return text[at + 1] if is_there else 0
