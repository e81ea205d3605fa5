"""Whether lines ascend in the consensus, if contigs are turned (SPEC.md, Pieces).

A layout does not know on which strand a job has sorted the lines: half of its contigs may run
backwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit_norefs
from gangsaw.codecs.reads.lines import Places
from gangsaw.codecs.reads.sequence.layout.layout import Layout

MOST_BACK = 4  # of so many lines one may lie before the one before it, in a sorted block
Flags = npt.NDArray[np.bool_]


def ordered(pieces: Layout, pairs: bool) -> tuple[Layout, Flags]:
    """Return a layout, and which pieces' places are told by how far ahead they are.

    Those are the first mapped ones of lines that are no second mates; none, where most do not
    ascend, however contigs are turned.
    """
    is_ahead = first_mapped(pieces)
    if pairs:
        is_ahead &= pieces.line & 1 == 0
    turned = turned_contigs(pieces, is_ahead)
    if ascends(turned.position[is_ahead]):
        return turned, is_ahead
    return pieces, np.zeros_like(is_ahead)


def first_mapped(pieces: Layout) -> Flags:
    """Return (m,) bool: is a piece the first of its line that is mapped."""
    places = np.flatnonzero(pieces.is_mapped)
    lines = pieces.line[places]
    is_first = np.zeros(pieces.line.size, np.bool_)
    is_first[places[:1]] = True
    is_first[places[1:]] = lines[1:] != lines[:-1]
    return is_first


def ascends(places: Places) -> bool:
    """Whether most places are not before the one before them."""
    return MOST_BACK * int((np.diff(places) < 0).sum()) < places.size - 1


def turned_contigs(pieces: Layout, is_ahead: Flags) -> Layout:
    """Return the layout with contigs turned on which more lines ascend then.

    A contig is a run of columns of which each two neighbours are in one piece.
    """
    begins = contigs_of(pieces)
    contig = np.searchsorted(begins, pieces.position, side="right") - 1
    ends = pieces.position + pieces.end - pieces.begin
    own, first, last = contig[is_ahead], pieces.position[is_ahead], ends[is_ahead]
    balance = (np.diff(first) < 0).astype(np.int64) - (np.diff(last) > 0)
    balance[own[1:] != own[:-1]] = 0
    turns = np.bincount(own[1:], balance, begins.size) > 0
    does_turn = turns[contig] & pieces.is_mapped
    stops = np.append(begins[1:], pieces.consensus.size)
    mirrored = (begins + stops)[contig] - ends
    return pieces._replace(
        consensus=turned_columns(pieces.consensus, begins[turns], stops[turns]),
        position=np.where(does_turn, mirrored, pieces.position),
        strand=pieces.strand ^ does_turn,
    )


def contigs_of(pieces: Layout) -> Places:
    """Return (n,) int64, the first column of each contig; at least one."""
    links = np.zeros(pieces.consensus.size + 1, np.int32)
    count_links(pieces, links)
    links[:1] = 0
    return np.flatnonzero(links[: max(1, pieces.consensus.size)] == 0)


@jit_norefs
def count_links(pieces: Any, links: Any) -> None:
    """Count for each column the pieces that it and the one before are in."""
    for k in range(pieces.line.size):
        if pieces.is_mapped[k]:
            place = pieces.position[k]
            links[place + 1] += 1
            links[place + pieces.end[k] - pieces.begin[k]] -= 1
    for place in range(1, links.size):
        links[place] += links[place - 1]


def turned_columns(consensus: Any, begins: Places, ends: Places) -> npt.NDArray[np.uint8]:
    """Return the letters, some runs of them on the other strand."""
    out: npt.NDArray[np.uint8] = consensus.copy()
    turn_columns(consensus, begins, ends, out)
    return out


@jit_norefs
def turn_columns(consensus: Any, begins: Any, ends: Any, out: Any) -> None:
    """Put the other strand of runs of columns in their place."""
    for k in range(begins.size):
        for place in range(begins[k], ends[k]):
            out[place] = 3 - consensus[begins[k] + ends[k] - 1 - place]
