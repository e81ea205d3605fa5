"""A layout that does not depend on the order of lines, for those that a job has sorted by one.

The walk is greedy, so that lines in another order have other contigs. Lines of a virus, sorted by
the places of one layout, stepped back 1 time in 8 in the layout that was found when they were
encoded, which cost 15 % of their bytes. So lines are first put into the order of their hashes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.floats import load_le64
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.lines import NEWLINE, Lines, Places
from gangsaw.codecs.reads.sequence.layout.index import NONE, PLACE, index_kmers
from gangsaw.codecs.reads.sequence.layout.layout import K_OF_SHORT, layout
from gangsaw.codecs.reads.sequence.layout.placed import Layout
from gangsaw.codecs.reads.sequence.letters import codes_of

MIX = np.uint64(0x9E3779B97F4A7C15)
LEAST_LINES = 512  # of fewer ones the order gains little
RUN = 32  # lines of a sample that follow each other
SAMPLE = 1 << 18  # letters
SHARE = 8  # one line in so many has the least hash of the line before: those in no order do not


def steady_layout(lines: Lines, codes: npt.NDArray[np.uint8]) -> Layout:
    """Return a layout of a block whose pieces are the same for each line in any order of lines.

    Of equal lines any may have the pieces of any.

    Parameters
    ----------
    codes : (used + SPARE,) uint8, 0..3 for A C G T, 4 for any other byte
    """
    order = most_frequent_first(lines, codes)
    own = lines_in(order, lines)
    found = layout(own, codes_of(own.text)[: own.text.size])
    line = order[found.line]
    back = np.argsort(line, kind="stable")
    fields = {name: getattr(found, name)[back] for name in Layout._fields[2:]}
    return Layout(found.consensus, line[back], **fields)


def most_frequent_first(lines: Lines, codes: npt.NDArray[np.uint8]) -> Places:
    """Return the order of lines by how often they occur, and of as many by their hash.

    Lines that occur often have few errors, and those that come first decide what a contig is. In
    the order of hashes alone reads of a virus took up to 11 % more bytes, as the hash happened to
    be; by the least count of a k-mer of the line they took as many, but that needs an index.
    """
    hashes = np.empty(lines.starts.size, np.uint64)
    hash_lines(codes, lines.starts, lines.ends, hashes)
    order = np.argsort(hashes, kind="stable")
    ranked = hashes[order]
    begins = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    counts = np.diff(np.append(begins, ranked.size))
    by_count = np.argsort(-np.repeat(counts, counts), kind="stable")
    return order[by_count]


def lines_in(order: Places, lines: Lines) -> Lines:
    """Return lines in another order, each with a newline."""
    lengths = (lines.ends - lines.starts)[order]
    ends = np.cumsum(lengths + 1) - 1
    own = Lines(np.empty(int(ends[-1]) + 1, np.uint8), ends - lengths, ends, False, order, 0)
    copy_lines(lines.text, lines.starts[order], own)
    return own


@jit
def copy_lines(text: Any, starts: Any, out: Lines) -> None:
    """Fill the text of lines with lines that start elsewhere."""
    for i in range(starts.size):
        n = out.ends[i] - out.starts[i]
        for k in range(n):
            out.text[out.starts[i] + k] = text[starts[i] + k]
        out.text[out.ends[i]] = NEWLINE


@jit
def hash_lines(codes: Any, starts: Any, ends: Any, hashes: Any) -> None:
    """Fill (n,) hashes of lines, eight letters at a time; reads SPARE bytes beyond."""
    for i in range(starts.size):
        mixed = np.uint64(ends[i] - starts[i])
        for at in range(starts[i], ends[i], 8):
            word, beyond = load_le64(codes, at), max(0, at + 8 - ends[i])
            mixed = (mixed ^ word << np.uint64(8 * beyond)) * MIX
            mixed ^= mixed >> np.uint64(32)
        hashes[i] = mixed * MIX


def are_sorted(lines: Lines, codes: npt.NDArray[np.uint8], pairs: bool) -> bool:
    """Whether lines overlap those before them, by a sample: so do those that a job has sorted.

    Of pairs the first mates count.
    """
    n = lines.starts.size
    if n < LEAST_LINES:
        return False
    most = min(n, SAMPLE * n // lines.text.size) // RUN
    firsts = np.linspace(0, n - RUN - 1, max(1, most)).astype(np.int64) // 2 * 2
    hashes = np.array([least_hashes(lines, i, codes)[:: 1 + pairs] for i in firsts])
    has_any = hashes[:, 1:] != NONE
    is_same = (hashes[:, 1:] == hashes[:, :-1]) & has_any
    return SHARE * int(is_same.sum()) > int(has_any.sum())


def least_hashes(lines: Lines, first: int, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """Return the least hash of a k-mer of each of RUN lines; NONE where none is taken."""
    starts = lines.starts[first : first + RUN]
    text = codes[starts[0] : lines.ends[first + RUN - 1]]
    keys = np.empty(text.size // 2 + 1, np.uint64)
    kmers = np.empty((text.size // 2 + 1, 2), np.uint32)
    n = index_kmers(text, K_OF_SHORT, keys, kmers)
    line = np.searchsorted(starts, starts[0] + (kmers[:n, PLACE] >> 1), side="right") - 1
    least = np.full(RUN, NONE)
    np.minimum.at(least, line, keys[:n] >> np.uint64(32))
    return least
