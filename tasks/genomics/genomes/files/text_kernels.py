"""Writer of rows of lines as FASTA text. Compiled."""

from __future__ import annotations

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.genomes.files.fasta_kernels import HEAD, NEWLINE, RETURN, USUAL

IS_NAME = -1  # COUNT of a row that is a header
# columns of a row: residues of a piece or bytes of a name, number of pieces, end of each
LENGTH, COUNT, END = range(3)
# indices of the position at which a call ends
ROW, PIECES, RESIDUES, LETTERS, NAMES, OUT = range(6)
POSITION_ITEMS = 6
MOST_END = 2  # bytes of the longest line end


@jit(inline=True, part=True, norefs=True)
def put_end(out: Bytes, at: int, end: int, has_return: bool) -> int:
    """Write the end of a line piece, a byte or the usual line end.

    Return the new offset in `out`.
    """
    if end == USUAL:
        if has_return:
            out[at] = RETURN
            at += 1
        end = NEWLINE
    out[at] = end
    return at + 1


@jit(inline=True, part=True, norefs=True)
def copy_bytes(source: Bytes, begin: int, out: Bytes, at: int, n: int) -> None:
    """Copy n bytes from source[begin:] to out[at:]."""
    for i in range(n):
        out[at + i] = source[begin + i]


@jit(norefs=True)
def put_rows(
    rows: Int64s, place: Int64s, residues: Bytes, names: Bytes, has_return: bool, out: Bytes
) -> None:
    """Write FASTA headers and lines from a position on, until rows, residues or `out` end.

    Parameters
    ----------
    rows : (n, 3) int64, residues of a line, number of such lines, end; or bytes of a header,
        IS_NAME, end
    place : (POSITION_ITEMS,) int64, updated: row, lines of it and residues of the next line that
        are written; used residues, used bytes of names, written bytes
    residues : (m,) uint8, residues
    names : (k,) uint8, headers, each with a newline
    has_return : True if lines end with CR LF; a header whose END is not USUAL has the other end
    out : (o,) uint8, output
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
            copy_bytes(names, place[NAMES], out, at + 1, length)
            place[OUT] = put_end(out, at + 1 + length, USUAL, has_return != (end != USUAL))
            place[NAMES] += length + 1
        while place[PIECES] < count:
            at, used = place[OUT], place[LETTERS]
            n = min(length - place[RESIDUES], residues.size - used, out.size - at)
            copy_bytes(residues, used, out, at, n)
            place[LETTERS], place[OUT] = used + n, at + n
            place[RESIDUES] += n
            if place[RESIDUES] < length or out.size - place[OUT] < MOST_END:
                return
            place[OUT] = put_end(out, place[OUT], end, has_return)
            place[RESIDUES] = 0
            place[PIECES] += 1
        place[PIECES] = 0
        place[ROW] += 1
