"""Rows of lines written as FASTA. Compiled."""

from __future__ import annotations

from typing import Any

from gangsaw.codecs.core.numba.jit import jit_norefs, jit_norefs_inline
from gangsaw.tasks.genomes.fasta_kernels import HEAD, NEWLINE, RETURN, USUAL

IS_NAME = -1  # pieces of a row that is a head
# of a row: residues of a piece, or bytes of a name; pieces; what ends each
LENGTH, COUNT, END = range(3)
# of the place that a call ends at
ROW, PIECES, RESIDUES, LETTERS, NAMES, OUT = range(6)
PLACES = 6
MOST_END = 2  # bytes


@jit_norefs_inline
def put_end(out: Any, at: int, end: int, has_return: bool) -> int:
    """Write what ends a piece; return the place behind it."""
    if end == USUAL:
        if has_return:
            out[at] = RETURN
            at += 1
        end = NEWLINE
    out[at] = end
    return at + 1


@jit_norefs_inline
def copy(source: Any, begin: int, out: Any, at: int, n: int) -> None:
    """Copy n bytes."""
    for i in range(n):
        out[at + i] = source[begin + i]


@jit_norefs
def put_rows(rows: Any, place: Any, letters: Any, names: Any, has_return: bool, out: Any) -> None:
    """Write rows from a place on, until they, the letters or the room end.

    Parameters
    ----------
    rows : (n, 3) int64
    place : (PLACES,) int64, changed: row, its pieces, and residues of the next that are written;
        letters and bytes of names that are used, bytes that are written
    letters : (m,) uint8, residues
    names : (k,) uint8, heads, a newline behind each
    has_return : whether lines end with CR LF; a head whose END is not USUAL ends otherwise
    out : (o,) uint8
    """
    while place[ROW] < len(rows):
        length, count, end = (
            rows[place[ROW], LENGTH],
            rows[place[ROW], COUNT],
            rows[place[ROW], END],
        )
        at = place[OUT]
        if count == IS_NAME:
            if out.size - at < length + 1 + MOST_END:
                return
            out[at] = HEAD
            copy(names, place[NAMES], out, at + 1, length)
            place[OUT] = put_end(out, at + 1 + length, USUAL, has_return != (end != USUAL))
            place[NAMES] += length + 1
        while place[PIECES] < count:
            at, used = place[OUT], place[LETTERS]
            n = min(length - place[RESIDUES], letters.size - used, out.size - at)
            copy(letters, used, out, at, n)
            place[LETTERS], place[OUT] = used + n, at + n
            place[RESIDUES] += n
            if place[RESIDUES] < length or out.size - place[OUT] < MOST_END:
                return
            place[OUT] = put_end(out, place[OUT], end, has_return)
            place[RESIDUES] = 0
            place[PIECES] += 1
        place[PIECES] = 0
        place[ROW] += 1
