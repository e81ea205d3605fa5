"""Kernels for sequences on several lines: joined on reading, folded on writing. Compiled."""

from __future__ import annotations

from gangsaw.codecs.core.arrays import Bools, Bytes, Int64s
from gangsaw.codecs.core.numba.items import put_items
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.reads.files.kernels import (
    NAME,
    NEWLINE,
    RETURN,
    SEQUENCE,
    SIGN,
    FieldArrays,
)

HEAD = 62  # ">"


@jit
def join_sequence_lines(
    text: Bytes,
    begins: Int64s,
    ends: Int64s,
    heads: Int64s,
    record_begins: Int64s,
    record_ends: Int64s,
) -> None:
    """Concatenate the lines of each FASTA sequence, in place.

    Parameters
    ----------
    text : (m,) uint8, changed
    begins, ends : (k,) int64, all lines, without their ends
    heads : (n + 1,) int64, number of each record's first line; the last item is the number of lines
    record_begins, record_ends : (n, 4) int64, output: name, sequence, and two empty fields
    """
    for i in range(len(heads) - 1):
        record_begins[i, NAME], record_ends[i, NAME] = (
            begins[heads[i]] + 1,
            ends[heads[i]],
        )
        at = begins[heads[i] + 1] if heads[i] + 1 < heads[i + 1] else ends[heads[i]]
        record_begins[i, SEQUENCE] = at
        for line in range(heads[i] + 1, heads[i + 1]):
            n = ends[line] - begins[line]
            if at != begins[line]:
                for k in range(n):
                    text[at + k] = text[begins[line] + k]
            at += n
        record_ends[i, SEQUENCE:] = at
        record_begins[i, SIGN:] = at


@jit
def first_width(lengths: Int64s, heads: Int64s, most: int) -> tuple[int, int]:
    """Return the length of the first full line, and of the longest single line before it.

    A full line is the first of two or more lines with bases; the length is 0 if there is none.

    Parameters
    ----------
    lengths : (k,) int64, lengths of all lines
    heads : (n + 1,) int64, as in `join_sequence_lines`
    most : longest sequence on a single line so far
    """
    for i in range(len(heads) - 1):
        first = 0
        for line in range(heads[i] + 1, heads[i + 1]):
            if lengths[line] and first:
                return first, most
            first = first or lengths[line]
        most = max(most, first)
    return 0, most


@jit
def odd_folds(lengths: Int64s, heads: Int64s, width: int, is_odd: Bools) -> None:
    """Set is_odd[i], (n,) bool, to True if the lines of record i deviate from `width` bases.

    By default all lines of a sequence except the last have `width` bases, or one line if it is 0; a
    sequence without bases has no line.
    """
    for i in range(len(heads) - 1):
        n = heads[i + 1] - heads[i] - 1
        odd = n > 1 and not width
        for line in range(heads[i] + 1, heads[i + 1]):
            is_last = line + 1 == heads[i + 1]
            if width:
                odd |= lengths[line] > width or (lengths[line] != width and not is_last)
            odd |= lengths[line] == 0
        is_odd[i] = odd


@jit
def fold_records(
    fields: tuple[FieldArrays, FieldArrays],
    folds: tuple[Int64s, Int64s, Int64s],
    ends: tuple[Bools, Int64s],
    first: int,
    step: int,
    out: Bytes,
) -> int:
    """Write every `step`-th record as FASTA lines; return the number of bytes.

    Parameters
    ----------
    fields : tuples (text, begins, ends) of names and of sequences
    folds : three int64 arrays: (n,) line width of each record, at least 1; (n + 1,) offsets of its
        lines in the third, equal if the width is sufficient; (k,) lengths of lines
    ends : (n,) bool, True if lines of a record end with CR LF; (l,) int64, ascending, lines with
        the other end: record << 32 | line of the record
    first, step : records first, first + step, ...
    out : (m,) uint8, output
    """
    (names, name_begins, name_ends), (sequences, begins, sequence_ends) = fields
    (widths, fold_starts, lengths), (returns, odd_ends) = folds, ends
    at, odd = 0, 0
    for i in range(first, len(returns), step):
        while odd < len(odd_ends) and odd_ends[odd] < i << 32:
            odd += 1
        out[at] = HEAD
        is_odd = odd < len(odd_ends) and odd_ends[odd] == i << 32
        odd += is_odd
        at = _put(out, at + 1, names, name_begins[i], name_ends[i], returns[i] != is_odd)
        begin, end, fold, line = begins[i], sequence_ends[i], fold_starts[i], 1
        is_folded = fold < fold_starts[i + 1]
        while fold < fold_starts[i + 1] if is_folded else begin < end:
            n = lengths[fold] if is_folded else min(end - begin, widths[i])
            is_odd = odd < len(odd_ends) and odd_ends[odd] == i << 32 | line
            odd += is_odd
            at = _put(out, at, sequences, begin, begin + n, returns[i] != is_odd)
            begin, fold, line = begin + n, fold + 1, line + 1
    return at


@jit(part=True)
def _put(out: Bytes, at: int, text: Bytes, begin: int, end: int, has_return: bool) -> int:
    """Write a line and its end at offset `at`; return the new offset."""
    at = put_items(out, at, text, begin, end)
    if has_return:
        out[at] = RETURN
        at += 1
    out[at] = NEWLINE
    return at + 1
