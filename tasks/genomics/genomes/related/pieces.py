"""Division of runs into pieces of one reference window each, with rows of edits. Compiled.

A row is (position, kind, size), in order of positions, on the reference strand.
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64, Int64s
from gangsaw.codecs.core.nucleotides.alphabet import NOT_A_BASE
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.genomes.related.runs import (
    AT,
    DELETE,
    EDITS,
    FIRST_EDIT,
    INSERT,
    KIND,
    SIZE,
    STRAND,
    SUBSTITUTE,
    TEXT,
    TEXT_AT,
    TEXT_END,
)

WINDOW_BITS = 16
WINDOW = 1 << WINDOW_BITS
LITERALS = 14  # bases of an insertion row: with the leading 1 bit they fit 32 bits
# kinds of rows; PLUS_1, _2, _3 add to the reference code, modulo 4
PLUS_1, PLUS_2, PLUS_3, HEAD, CANCEL = 2, 0, 3, 1, 6
# columns of a piece: reference span a..b - 1, its strand, bases, rows
A, B, PIECE_STRAND, LETTERS, FIRST_ROW, END_ROW = range(6)
PIECE_COLUMNS = 6


@jit(part=True)
def put_insert(rows: Int64s, m: int, place: int, text: Bytes, i: int, g: int, d: int) -> int:
    """Append edit rows that insert text[i : i + g], or its reverse complement, before `place`.

    Each row has at most LITERALS bases; returns the new number of rows.
    """
    at = 0
    while at < g:
        take, word = min(LITERALS, g - at), np.int64(1)
        for q in range(take):
            c: int | np.int64 = np.int64(text[i + at + q] if d > 0 else text[i + g - 1 - at - q])
            c = 0 if c >= NOT_A_BASE else c if d > 0 else 3 - c
            word = word << 2 | c
        rows[m, 0], rows[m, 1], rows[m, 2] = place, INSERT, word
        m, at = m + 1, at + take
    return m


@jit
def orient_rows(run: Int64s, edits: Int64s, text: Bytes, known: Bytes) -> Int64s:
    """Return the edit rows of a run (alignment) on the reference strand: (m, 3) int64."""
    d, first, n = run[STRAND], run[FIRST_EDIT], run[EDITS]
    rows = np.empty((n + (run[TEXT_END] - run[TEXT]) // LITERALS + n + 1, 3), np.int64)
    m = 0
    for q in range(n):
        edit = edits[first + q if d > 0 else first + n - 1 - q]
        place, size, i = edit[AT], edit[SIZE], edit[TEXT_AT]
        if edit[KIND] == SUBSTITUTE:
            new = np.int64(text[i]) if d > 0 else 3 - np.int64(text[i])
            step = (new - np.int64(known[place])) & 3
            kind = PLUS_2 if step == 2 else PLUS_1 if step == 1 else PLUS_3
            rows[m, 0], rows[m, 1], rows[m, 2] = place, kind, 0
            m += 1
        elif edit[KIND] == DELETE:
            rows[m, 0], rows[m, 1], rows[m, 2] = place if d > 0 else place - size + 1, DELETE, size
            m += 1
        else:
            m = put_insert(rows, m, place if d > 0 else place + 1, text, i, size, d)
    return rows[:m]


@jit(part=True)
def inserted(word: Int64) -> int:
    """Return the number of bases that an insertion row's size field encodes."""
    n = 0
    while word > 1:
        n, word = n + 1, word >> 2
    return n


@jit(part=True)
def reverse_rows(pieces: Int64s, begin: int, end: int) -> None:
    """Reverse the order of the pieces begin..end - 1, in place."""
    for q in range((end - begin) // 2):
        for c in range(pieces.shape[1]):
            x = pieces[begin + q, c]
            pieces[begin + q, c] = pieces[end - 1 - q, c]
            pieces[end - 1 - q, c] = x


@jit
def cut_pieces(rows: Int64s, a: int, b: int, d: int, base: int, pieces: Int64s, k: int) -> int:
    """Append the pieces of reference range a..b - 1, one per window of 2^16 bases.

    They are in the order of the genome. Returns the new number of pieces. `rows` are edit rows, and
    `base` is the number of the first one; d is 1 or -1, the strand.
    """
    begin, at, m = k, 0, rows.shape[0]
    while a < b:
        stop = min(b, ((a >> WINDOW_BITS) + 1) << WINDOW_BITS)
        first, after, letters = at, stop, stop - a
        while at < m and (rows[at, 0] < stop or (stop == b and rows[at, 0] == b)):
            place, kind, size = rows[at]
            if kind == DELETE and place + size > stop:
                letters -= stop - place
                after, stop = place + size, place
                break
            if kind == DELETE:
                letters -= size
            elif kind == INSERT:
                letters += inserted(size)
            at += 1
        pieces[k, A], pieces[k, B], pieces[k, PIECE_STRAND] = a, stop, d
        pieces[k, LETTERS], pieces[k, FIRST_ROW], pieces[k, END_ROW] = (
            letters,
            base + first,
            base + at,
        )
        if at < m and after > stop:
            at += 1
        k += letters > 0
        a = after
    if d < 0:
        reverse_rows(pieces, begin, k)
    return k
