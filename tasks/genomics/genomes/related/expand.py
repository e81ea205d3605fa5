"""Decoder of pieces to bases. Compiled; damaged input never causes access outside the arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64, Int64s, UInt32s
from gangsaw.codecs.core.nucleotides.codes import LETTER_OF_CODE
from gangsaw.codecs.core.numba.items import put_items
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.genomes.related.pieces import (
    CANCEL,
    HEAD,
    LITERALS,
    PLUS_1,
    PLUS_2,
    PLUS_3,
    WINDOW_BITS,
    inserted,
)
from gangsaw.tasks.genomics.genomes.related.runs import DELETE, INSERT

WRONG = -1
FINE, WRONG_BUNDLE, WRONG_PIECE = 0, 1, 2  # status codes of `join_pieces`


@jit
def decode_pieces(table: Int64s, n: int, out: Int64s) -> None:
    """Decode the rows of `piece` to reference range a..b - 1, strand and bases, without checks.

    Parameters
    ----------
    table : (n_pieces, 5) int64: zigzag distance to the previous piece, True for the reverse strand,
        bases to the window's border, zigzag of bases minus reference bases, zigzag of the step
        of its number in the window
    n : number of reference bases
    out : (n_pieces, 4) int64, output
    """
    a, b = np.int64(0), np.int64(0)
    for k in range(table.shape[0]):
        ahead, extra = zigzag_to_int(table[k, 0]), zigzag_to_int(table[k, 3])
        if table[k, 1]:
            b = a - ahead
            a = ((b - 1) >> WINDOW_BITS << WINDOW_BITS) + table[k, 2]
        else:
            a = b + ahead
            b = min(((a >> WINDOW_BITS) + 1) << WINDOW_BITS, n) - table[k, 2]
        out[k, 0], out[k, 1], out[k, 2] = a, b, -1 if table[k, 1] else 1
        out[k, 3] = b - a + extra


@jit(part=True)
def zigzag_to_int(value: int) -> int:
    """Return the signed integer of a zigzag code: 0, 1, 2, 3 are 0, -1, 1, -2."""
    return -((value + 1) >> 1) if value & 1 else value >> 1


@jit(part=True)
def resolve_rows(own: Int64s, parent: Int64s, a: Int64, b: int, out: Int64s) -> Any:
    """Write all edit rows of a piece from its stored rows and its parent's; return their number."""
    i, j, m, n, p = 0, 0, 0, own.shape[0], parent.shape[0]
    while i < n or j < p:
        if j < p and not a <= parent[j, 0] < b:
            j += 1
        elif i < n and (j >= p or own[i, 0] <= parent[j, 0]):
            place = own[i, 0]
            while i < n and own[i, 0] == place:
                if own[i, 1] != CANCEL:
                    out[m, 0], out[m, 1], out[m, 2] = own[i, 0], own[i, 1], own[i, 2]
                    m += 1
                i += 1
            while j < p and parent[j, 0] == place:
                j += 1
        else:
            out[m, 0], out[m, 1], out[m, 2] = parent[j, 0], parent[j, 1], parent[j, 2]
            m += 1
            j += 1
    return m


@jit(part=True)
def own_rows(edit: UInt32s, begin: Int64, a: Int64) -> Any:
    """Return the stored edit rows of a piece with absolute reference positions: (n, 3) int64.

    Its head is row `begin`, its reference range begins at `a`.
    """
    n, place = np.int64(edit[begin, 0]), a
    own = np.empty((n, 3), np.int64)
    for e in range(n):
        place += np.int64(edit[begin + 1 + e, 0])
        own[e, 0] = place
        own[e, 1], own[e, 2] = edit[begin + 1 + e, 1], edit[begin + 1 + e, 2]
    return own


@jit(part=True)
def put_heads(edit: UInt32s, begins: Int64s) -> bool:
    """Write the row offsets of a bundle's pieces; return False if pieces or parents are missing."""
    at: int | np.int64 = 0
    for i in range(begins.size):
        if at >= edit.shape[0] or edit[at, 1] != HEAD or np.int64(edit[at, 2]) > i:
            return False
        begins[i] = at
        at += np.int64(edit[at, 0]) + 1
    return bool(at <= edit.shape[0])


@jit(part=True)
def resolve_bundle(edit: UInt32s, bounds: Int64s, out: Int64s) -> Any:
    """Write all edit rows of the last of a bundle's first k pieces; return their number, or WRONG.

    Parameters
    ----------
    edit : (m, 3) uint32, stored rows of the bundle
    bounds : (k, 2) int64, reference ranges of its first k pieces
    out : (m, 3) int64, output
    """
    begins, chain = np.empty(len(bounds), np.int64), np.empty(len(bounds), np.int64)
    if not put_heads(edit, begins):
        return WRONG
    depth = 1
    at: int | np.int64 = len(bounds) - 1
    chain[0] = at
    while edit[begins[at], 2]:
        at -= np.int64(edit[begins[at], 2])
        chain[depth] = at
        depth += 1
    found, n = np.empty((0, 3), np.int64), 0
    for q in range(depth - 1, -1, -1):
        at = chain[q]
        own = own_rows(edit, begins[at], bounds[at, 0])
        n = resolve_rows(own, found, bounds[at, 0], bounds[at, 1], out)
        found = out[:n].copy()
    return n


@jit(part=True)
def encode_base(letter: Int64) -> Any:
    """Return the 2-bit code of an ASCII base A, C, G or T."""
    x = letter >> 1 & 3
    return x ^ x >> 1


@jit(part=True)
def put_literals(word: Int64, out: Bytes, m: Int64) -> Any:
    """Write the bases of an insertion row to out[m:]; return the end, WRONG if they do not fit."""
    n = inserted(word)
    if n > LITERALS or m + n > out.size:
        return WRONG
    for g in range(n):
        out[m + g] = LETTER_OF_CODE[word >> 2 * (n - 1 - g) & 3]
    return m + n


@jit(part=True)
def put_known(known: Bytes, begin: int, end: int, out: Bytes, m: Any) -> Any:
    """Copy reference bases begin..end - 1 to out[m:]; return the end there, WRONG if invalid."""
    n = end - begin
    if n < 0 or m < 0 or m + n > out.size or begin < 0 or end > known.size:
        return WRONG
    return put_items(out, m, known, begin, end)


@jit(part=True)
def apply_row(known: Bytes, at: Int64, kind: Int64, size: Int64, out: Bytes, m: Int64) -> Any:
    """Apply an edit row at reference position `at`; return the ends in reference and output.

    The second one is WRONG for an invalid row.
    """
    if kind == DELETE:
        return at + size, m
    if kind == INSERT:
        return at, put_literals(size, out, m)
    step = 1 if kind == PLUS_1 else 2 if kind == PLUS_2 else 3 if kind == PLUS_3 else 0
    if not step or at >= known.size or m >= out.size:
        return at, np.int64(WRONG)
    out[m] = LETTER_OF_CODE[encode_base(np.int64(known[at])) + step & 3]
    return at + 1, m + 1


@jit(part=True)
def expand_piece(known: Bytes, rows: Int64s, span: Int64s, out: Bytes) -> bool:
    """Write the bases of a piece, reference bases with its edits; return False for invalid rows.

    Parameters
    ----------
    known : (w,) uint8, reference bases of its window
    rows : (m, 3) int64, edits: position, kind, size
    span : (4,) int64, reference range a..b - 1, strand, bases
    out : (n,) uint8, output in ASCII
    """
    low, m = span[0] >> WINDOW_BITS << WINDOW_BITS, np.int64(0)
    at, end = span[0] - low, span[1] - low
    for q in range(rows.shape[0]):
        place = rows[q, 0] - low
        m = put_known(known, at, place, out, m)
        if m < 0 or place > end:
            return False
        at, m = apply_row(known, place, rows[q, 1], rows[q, 2], out, m)
        if m < 0:
            return False
    if put_known(known, at, end, out, m) != out.size:
        return False
    if span[2] < 0:
        reverse(out)
    return True


@jit(part=True)
def reverse(out: Bytes) -> None:
    """Replace ASCII bases by their reverse complement, in place."""
    n = out.size
    for i in range((n + 1) // 2):
        first = LETTER_OF_CODE[3 - encode_base(np.int64(out[i]))]
        out[i] = LETTER_OF_CODE[3 - encode_base(np.int64(out[n - 1 - i]))]
        out[n - 1 - i] = first


@jit
def join_pieces(
    known: Bytes,
    spans: Int64s,
    at: int,
    members: Int64s,
    edit: UInt32s,
    begins: Int64s,
    windows: Int64s,
    out: Bytes,
) -> int:
    """Write the bases of consecutive pieces of a genome; return FINE, or a status of the error.

    Parameters
    ----------
    known : (w, WINDOW) uint8, windows of reference bases in ASCII
    spans : (n, 4) int64, reference range a..b - 1, strand, bases
    at : int, offset of the first piece in `out`, negative if it begins before
    members : (n, 1 + 2 * BUNDLE) int64, number of pieces in its bundle up to this one, and the
        reference ranges of each of them
    edit : (m, 3) uint32, stored edit rows of the bundles
    begins : (n, 2) int64, begin and end of the rows of a piece's bundle in `edit`
    windows : (n, 2) int64, index of a piece's window in `known`, and its number of bases
    out : (t,) uint8, output; a piece is cut at its borders
    """
    most = 0
    for i in range(spans.shape[0]):
        most = max(most, begins[i, 1] - begins[i, 0])
    rows = np.empty((most, 3), np.int64)
    for i in range(spans.shape[0]):
        own, n = edit[begins[i, 0] : begins[i, 1]], spans[i, 3]
        bounds = members[i, 1 : 1 + 2 * members[i, 0]].reshape(-1, 2)
        n_rows = resolve_bundle(own, bounds, rows)
        if n_rows < 0:
            return WRONG_BUNDLE
        if n > spans[i, 1] - spans[i, 0] + LITERALS * n_rows:
            return WRONG_PIECE
        is_cut = at < 0 or at + n > out.size
        letters = np.empty(n, np.uint8) if is_cut else out[at : at + n]
        if not expand_piece(
            known[windows[i, 0], : windows[i, 1]], rows[:n_rows], spans[i], letters
        ):
            return WRONG_PIECE
        if is_cut:
            begin, end = max(0, at), min(out.size, at + n)
            put_items(out, begin, letters, begin - at, end - at)
        at += n
    return FINE
