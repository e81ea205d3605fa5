"""Bundles of pieces in one window: a piece stores its rows relative to those of a parent. Compiled.

Rows of a piece replace the parent's rows at the same position; CANCEL removes the parent's rows.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from gangsaw.codecs.core.arrays import Int64s, UInt32s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.genomes.related.pieces import CANCEL, END_ROW, FIRST_ROW, HEAD

BUNDLE = 64  # pieces per bundle
NO_PLACE = 1 << 62
EditRows: TypeAlias = "Int64s | UInt32s"


@jit(part=True)
def overlay(own: EditRows, parent: EditRows, a: int, b: int, out: Int64s) -> int:
    """Encode a piece's edit rows relative to a parent piece's; return their number.

    Only the parent's rows at reference positions a..b - 1 count.
    """
    i, j, m, n, p = 0, 0, 0, own.shape[0], parent.shape[0]
    while i < n or j < p:
        if j < p and not a <= parent[j, 0] < b:
            j += 1
            continue
        x = own[i, 0] if i < n else np.int64(NO_PLACE)
        y = parent[j, 0] if j < p else np.int64(NO_PLACE)
        place = min(x, y)
        e, f = i, j
        while e < n and own[e, 0] == place:
            e += 1
        while f < p and parent[f, 0] == place:
            f += 1
        is_same = e - i == f - j
        for q in range(e - i):
            if is_same:
                is_same = own[i + q, 1] == parent[j + q, 1] and own[i + q, 2] == parent[j + q, 2]
        if not is_same:
            for q in range(i, e):
                out[m, 0], out[m, 1], out[m, 2] = own[q, 0], own[q, 1], own[q, 2]
                m += 1
            if e == i:
                out[m, 0], out[m, 1], out[m, 2] = place, CANCEL, 0
                m += 1
        i, j = e, f
    return m


@jit
def bundled(
    pieces: Int64s, rows: EditRows, order: Int64s, starts: Int64s, out: UInt32s, head: Int64s
) -> int:
    """Encode the edit rows of all bundles of pieces, (gap, kind, size); return their number.

    Parameters
    ----------
    pieces : (n, 6) int64, reference range, strand, bases, range of rows
    rows : (m, 3) int64 or uint32, edit rows of all pieces
    order : (n,) int64, pieces by reference window and by number in it
    starts : (u + 1,) int64, offsets of the bundles in `order`
    out : (rows and pieces of these bundles, 3) uint32, output. The head of a piece is (rows, HEAD,
        parent); `parent` is the distance to an earlier piece, 0 for none
    head : (u + 1,) int64, output: offsets of the bundles in `out`
    """
    m = 0
    most = 0
    for k in range(pieces.shape[0]):
        most = max(most, pieces[k, END_ROW] - pieces[k, FIRST_ROW])
    scratch = np.empty((2 * most + 8, 3), np.int64)
    for u in range(starts.size - 1):
        head[u] = m
        for x in range(starts[u], starts[u + 1]):
            k = order[x]
            own, a, b = rows[pieces[k, FIRST_ROW] : pieces[k, END_ROW]], pieces[k, 0], pieces[k, 1]
            best, least = 0, own.shape[0]
            for y in range(starts[u], x):
                if least <= 1:
                    break
                o = order[y]
                other = rows[pieces[o, FIRST_ROW] : pieces[o, END_ROW]]
                if abs(other.shape[0] - own.shape[0]) <= least:
                    n = overlay(own, other, a, b, scratch)
                    if n + 1 < least:
                        best, least = x - y, n
            o = order[x - best]
            parent = rows[
                pieces[o, FIRST_ROW] : pieces[o, END_ROW] if best else pieces[o, FIRST_ROW]
            ]
            n = overlay(own, parent, a, b, scratch)
            out[m, 0], out[m, 1], out[m, 2] = n, HEAD, best
            m += 1
            before = a
            for q in range(n):
                out[m, 0], out[m, 1], out[m, 2] = (
                    scratch[q, 0] - before,
                    scratch[q, 1],
                    scratch[q, 2],
                )
                before = scratch[q, 0]
                m += 1
    head[starts.size - 1] = m
    return m
