"""Alignment of a genome to reference bases: runs with edits, on both strands. Compiled.

Bases outside of all runs are novel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64, Int64s, UInt32s
from gangsaw.codecs.core.nucleotides.alphabet import NOT_A_BASE
from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.genomes.related.seeds import (
    FREE,
    LANES,
    NEAR,
    equal_of,
    find_seed,
    is_here,
    known_at,
    reaches,
    unequal,
)

ENOUGH = 22  # matches among NEAR bases; unrelated bases have 8 +- 2.5
FAR = 15  # longest indel that is tried base by base
SHORT = 24  # longest unmatched stretch that becomes an insertion
JUMP = 20_000  # most reference bases that a run skips
LEAST = 48  # shortest run that becomes a piece
AHEAD, STEP = 12, 96  # number and distance of positions that vote for a diagonal
# columns of a run: begin in genome and reference, edits, end in the genome
TEXT, KNOWN, KNOWN_LETTERS, STRAND, FIRST_EDIT, EDITS, TEXT_END = range(7)
# columns of an edit, in the order of the genome
AT, KIND, SIZE, TEXT_AT = range(4)
SUBSTITUTE, DELETE, INSERT = 0, 4, 5  # kinds of edits


@jit(part=True)
def voted(
    text: Bytes,
    i: Int64,
    known: Bytes,
    n: int,
    k: int,
    table: UInt32s,
    bits: int,
    r: Int64,
    d: Int64,
) -> Any:
    """Return reference position and strand at i of the diagonal that most k-mers ahead vote for.

    The bases at i must match it; else the result is (r, d).
    """
    line, way = np.empty(AHEAD, np.int64), np.empty(AHEAD, np.int64)
    line[0], way[0] = r, d
    m = 1
    for a in range(1, AHEAD):
        at = i + a * STEP
        for q in range(4):
            if at + q + k > text.size:
                break
            p, e = find_seed(text, at + q, k, table, bits)
            if p != FREE and is_here(text, at + q, k, known, n, p, e):
                line[m], way[m] = p - (at + q - i) * e, e
                m += 1
                break
    best, most = -1, 0
    for a in range(m):
        votes = 0
        for b in range(m):
            votes += way[a] == way[b] and abs(line[a] - line[b]) <= 64
        if votes > most:
            score = equal_of(text, i, text.size, known, n, line[a], way[a])
            if score >= ENOUGH + 4:
                best, most = a, votes
    if best >= 0:
        return line[best], way[best]
    return r, d


@jit(part=True)
def double_rows(rows: Int64s) -> Int64s:
    """Return a copy of a table with capacity for twice the rows."""
    out = np.empty((2 * rows.shape[0], rows.shape[1]), rows.dtype)
    out[: rows.shape[0]] = rows
    return out


@jit(part=True)
def best_edit(text: Bytes, i: Int64, known: Bytes, n: int, r: Int64, d: Int64) -> Any:
    """Return kind and size of the edit with the best match after it; kind -1 for none.

    The alignment is at text[i] and reference position r, in direction d.
    """
    end, best, kind, size = text.size, -1, -1, 0
    if 0 <= r < n:
        score = equal_of(text, i + 1, end, known, n, r + d, d)
        if score >= ENOUGH:
            best, kind = score + 3, SUBSTITUTE
    if best < NEAR:
        for g in range(1, FAR + 1):
            score = equal_of(text, i, end, known, n, r + g * d, d) - g // 8
            if score >= ENOUGH and score > best:
                best, kind, size = score, DELETE, g
            if i + g < end:
                score = equal_of(text, i + g, end, known, n, r, d) - g // 4
                if score >= ENOUGH and score > best:
                    best, kind, size = score, INSERT, g
    return kind, size


@jit(part=True)
def count_matches(text: Bytes, i: Int64, known: Bytes, n: int, r: Int64, d: Int64) -> Any:
    """Return the bases from text[i] on that match the reference from r on, by words of 8 bases."""
    begin = i
    while i + LANES <= text.size and reaches(n, r, d, LANES):
        odd = unequal(text, i, known, r, d)
        if odd != 0:
            return i - begin + (np.int64(trailing_zeros(odd)) >> 3)
        i += LANES
        r += LANES * d
    return i - begin


@jit(part=True)
def extend_along_reference(
    text: Bytes, i: Int64, known: Bytes, n: int, r: Int64, d: Int64, edits: Int64s, m: Int64
) -> Any:
    """Extend an alignment along the reference; return both ends, the edits and their number."""
    while i < text.size:
        equal = count_matches(text, i, known, n, r, d)
        i += equal
        r += equal * d
        if i == text.size:
            break
        c = np.int64(text[i])
        if c == NOT_A_BASE and (r < 0 or r >= n):
            break
        if c == NOT_A_BASE or c == known_at(known, n, r, d):
            i += 1
            r += d
            continue
        kind, size = best_edit(text, i, known, n, r, d)
        if kind < 0 or text.size - i < 4:
            break
        if m + 1 >= edits.shape[0]:
            edits = double_rows(edits)
        edits[m, AT], edits[m, KIND], edits[m, SIZE], edits[m, TEXT_AT] = r, kind, size, i
        m += 1
        if kind != DELETE:
            i += 1 if kind == SUBSTITUTE else size
        if kind != INSERT:
            r += d if kind == SUBSTITUTE else size * d
    return i, r, edits, m


@jit(part=True)
def skip_mismatches(text: Bytes, i: Int64, known: Bytes, n: int, last: Int64, d: Int64) -> Any:
    """Return reference and text position where an alignment's diagonal matches again."""
    for skip in range(1, SHORT + 1):
        if i + skip >= text.size:
            break
        for drop in (skip, 0):
            r = last + drop * d
            if equal_of(text, i + skip, text.size, known, n, r, d) >= NEAR - 3:
                return r, i + skip
    return np.int64(FREE), i


@jit(part=True)
def found_at(text: Bytes, i: Int64, known: Bytes, n: int, k: int, table: UInt32s, bits: int) -> Any:
    """Return reference position and strand that match the text at i; FREE if there is none."""
    p, e = find_seed(text, i, k, table, bits)
    if p == FREE or not is_here(text, i, k, known, n, p, e):
        return np.int64(FREE), 1
    r, d = voted(text, i, known, n, k, table, bits, p, e)
    if equal_of(text, i, text.size, known, n, r, d) < ENOUGH:
        return np.int64(FREE), 1
    return r, d


@jit(part=True)
def put_jump(
    edits: Int64s, m: Int64, last: Int64, gap: Int64, drop: Int64, base: int, start: int
) -> Any:
    """Append the edits that insert `gap` bases and skip `drop` reference bases."""
    if m + 3 >= edits.shape[0]:
        edits = double_rows(edits)
    if gap:
        edits[m, AT], edits[m, KIND], edits[m, SIZE], edits[m, TEXT_AT] = last, INSERT, gap, base
        m += 1
    if drop:
        edits[m, AT], edits[m, KIND], edits[m, SIZE], edits[m, TEXT_AT] = last, DELETE, drop, start
        m += 1
    return edits, m


@jit
def find_runs(
    text: Bytes, known: Bytes, n: int, k: int, table: UInt32s, bits: int
) -> tuple[Int64s, Int64s]:
    """Align a genome to reference bases; return runs (alignments), (q, 7), and their edits, (m, 4).

    Both are int64. Bases outside of all runs are novel.

    Parameters
    ----------
    text : (t,) uint8, codes of the genome
    known : codes, of which the first n are reference bases
    k : bases of a k-mer
    table, bits : hash table of k-mer positions that `enter` filled, log2 of its size
    """
    runs, edits = np.empty((64, 7), np.int64), np.empty((1024, 4), np.int64)
    q, m, i, base = 0, 0, 0, 0  # base: end of the covered text
    last, last_d = np.int64(FREE), 1
    while i < text.size:
        r, d, start = np.int64(FREE), last_d, i
        if last != FREE and i == base:
            r, start = skip_mismatches(text, i, known, n, last, last_d)
        if r == FREE:
            if i + k > text.size:
                break
            r, d = found_at(text, i, known, n, k, table, bits)
            if r == FREE:
                i += 1
                continue
            start = i
            while start > base and np.int64(text[start - 1]) == known_at(known, n, r - d, d):
                start -= 1
                r -= d
        gap, drop = start - base, (r - last) * d
        is_near = last != FREE and d == last_d and gap <= SHORT and 0 <= drop <= JUMP
        if is_near:
            edits, m = put_jump(edits, m, last, gap, drop, base, start)
        first = m
        i, stop, edits, m = extend_along_reference(text, start, known, n, r, d, edits, m)
        if not is_near and i - start < LEAST:
            m, i = first, max(i, start + 1)
            last = np.int64(FREE)
            continue
        if is_near:
            q -= 1
        else:
            if q == runs.shape[0]:
                runs = double_rows(runs)
            runs[q, TEXT], runs[q, KNOWN], runs[q, STRAND] = start, r, d
            runs[q, FIRST_EDIT] = first
        runs[q, KNOWN_LETTERS] = abs(stop - runs[q, KNOWN])
        runs[q, EDITS], runs[q, TEXT_END] = m - runs[q, FIRST_EDIT], i
        q += 1
        base, last, last_d = i, stop, d
    return runs[:q], edits[:m]
