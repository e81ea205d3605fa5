"""Arrangement of contigs, reordered and reversed, in which lines ascend (SPEC.md, Pieces).

A layout does not know the strand and the order of contigs by which lines were sorted: half of its
contigs may run backwards.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bools, Bytes, Int32s, Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.sequence.layout.placed import Layout

MOST_BACK = 4  # lines per line that may precede the one before it, in a sorted block
Flags = npt.NDArray[np.bool_]


def arrange_layout(pieces: Layout, pairs: bool) -> tuple[Layout, Flags]:
    """Return a layout, and the pieces whose position is coded relative to the line before.

    These are the first mapped pieces of lines that are no second mates. There are none if most
    lines do not ascend even with contigs reordered and reversed.
    """
    is_ahead = first_mapped(pieces)
    if pairs:
        is_ahead &= pieces.line & 1 == 0
    arranged = arranged_contigs(pieces, is_ahead)
    if ascends(arranged.position[is_ahead]):
        return arranged, is_ahead
    return pieces, np.zeros_like(is_ahead)


def first_mapped(pieces: Layout) -> Flags:
    """Return (m,) bool: True if a piece is the first mapped one of its line."""
    targets = np.flatnonzero(pieces.is_mapped)
    lines = pieces.line[targets]
    is_first = np.zeros(pieces.line.size, np.bool_)
    is_first[targets[:1]] = True
    is_first[targets[1:]] = lines[1:] != lines[:-1]
    return is_first


def ascends(targets: Int64s) -> bool:
    """Return True if most columns are not less than the one before."""
    return MOST_BACK * int((np.diff(targets) < 0).sum()) < targets.size - 1


def arranged_contigs(pieces: Layout, is_ahead: Flags) -> Layout:
    """Return the layout with contigs in the order of their first lines.

    Each contig is on the strand on which most of its lines ascend. A contig is a run of columns in
    which each two neighbours are in one piece.
    """
    begins = contigs_of(pieces)
    stops = np.append(begins[1:], pieces.consensus.size)
    contig = np.searchsorted(begins, pieces.position, side="right") - 1
    own, ends = contig[is_ahead], pieces.position + pieces.end - pieces.begin
    turns = descending(own, pieces.position[is_ahead], ends[is_ahead], begins.size)
    first_lines = np.full(begins.size, own.size)
    np.minimum.at(first_lines, own, np.arange(own.size))
    order = np.argsort(first_lines, kind="stable")
    targets = np.empty_like(begins)
    targets[order] = np.cumsum((stops - begins)[order]) - (stops - begins)[order]
    within = np.where(turns[contig], stops[contig] - ends, pieces.position - begins[contig])
    return pieces._replace(
        consensus=moved_columns(pieces.consensus, begins, stops, turns, targets),
        position=np.where(pieces.is_mapped, targets[contig] + within, 0),
        strand=pieces.strand ^ (turns[contig] & pieces.is_mapped),
    )


def descending(contig: Int64s, begins: Int64s, ends: Int64s, n_contigs: int) -> Flags:
    """Return True for each contig in which more pieces ascend after a reverse complement.

    Parameters
    ----------
    contig, begins, ends : (m,) int64, contig and range of the pieces, in order of lines
    """
    balance = (np.diff(begins) < 0).astype(np.int64) - (np.diff(ends) > 0)
    balance[contig[1:] != contig[:-1]] = 0
    turns: Flags = np.bincount(contig[1:], balance, n_contigs) > 0
    return turns


def contigs_of(pieces: Layout) -> Int64s:
    """Return (n,) int64, the first column of each contig; at least one."""
    links = np.zeros(pieces.consensus.size + 1, np.int32)
    count_links(pieces, links)
    links[:1] = 0
    return np.flatnonzero(links[: max(1, pieces.consensus.size)] == 0)


@jit(norefs=True)
def count_links(pieces: Layout, links: Int32s) -> None:
    """Count for each column the pieces that contain it and the column before."""
    for k in range(pieces.line.size):
        if pieces.is_mapped[k]:
            place = pieces.position[k]
            links[place + 1] += 1
            links[place + pieces.end[k] - pieces.begin[k]] -= 1
    for place in range(1, links.size):
        links[place] += links[place - 1]


def moved_columns(
    consensus: Bytes, begins: Int64s, ends: Int64s, turns: Flags, targets: Int64s
) -> npt.NDArray[np.uint8]:
    """Return the consensus with runs of columns moved, and reverse complemented if `turns`.

    targets : new first column of each run
    """
    out: npt.NDArray[np.uint8] = np.empty_like(consensus)
    move_columns(consensus, begins, ends, turns, targets, out)
    return out


@jit(norefs=True)
def move_columns(
    consensus: Bytes, begins: Int64s, ends: Int64s, turns: Bools, targets: Int64s, out: Bytes
) -> None:
    """Write all runs of columns to their new positions."""
    for k in range(begins.size):
        for i in range(ends[k] - begins[k]):
            code = 3 - consensus[ends[k] - 1 - i] if turns[k] else consensus[begins[k] + i]
            out[targets[k] + i] = code
