"""Layout that does not depend on the order of lines, for lines that a job sorted by a layout.

The walk is greedy, so lines in another order have other contigs. Lines of a virus, sorted by the
positions of one layout, stepped back 1 time in 8 in the layout of the encoder. This cost 15 % of
their bytes. So lines are first sorted by their hashes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s, UInt64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import load_le64
from gangsaw.codecs.reads.lines import NEWLINE, Lines
from gangsaw.codecs.reads.sequence.bases import to_base_codes
from gangsaw.codecs.reads.sequence.layout.index import NONE, PLACE, index_kmers
from gangsaw.codecs.reads.sequence.layout.layout import K_OF_SHORT, layout
from gangsaw.codecs.reads.sequence.layout.placed import Layout

MIX = np.uint64(0x9E3779B97F4A7C15)
LEAST_LINES = 512  # with fewer lines the order gains little
RUN = 32  # consecutive lines of a sample
SAMPLE = 1 << 18  # bases
SHARE = 8  # lines per line with the least hash of the line before: unsorted lines have fewer


def steady_layout(lines: Lines, codes: npt.NDArray[np.uint8]) -> Layout:
    """Return a layout of a block with the same pieces of each line in any order of lines.

    Equal lines may exchange their pieces.

    Parameters
    ----------
    codes : (used + SPARE,) uint8, 0..3 for A C G T, 4 for any other byte
    """
    order = most_frequent_first(lines, codes)
    own = lines_in(order, lines)
    found = layout(own, to_base_codes(own.text)[: own.text.size])
    line = order[found.line]
    back = np.argsort(line, kind="stable")
    fields = {name: getattr(found, name)[back] for name in Layout._fields[2:]}
    return Layout(found.consensus, line[back], **fields)


def most_frequent_first(lines: Lines, codes: npt.NDArray[np.uint8]) -> Int64s:
    """Return the order of lines by frequency, and by hash among equally frequent ones.

    Frequent lines have few errors, and the first lines determine a contig. Sorted by hash alone,
    reads of a virus took up to 11 % more bytes, depending on the hash function. Sorted by the least
    count of a line's k-mers they took as many bytes, but that needs an index.
    """
    hashes = np.empty(lines.starts.size, np.uint64)
    hash_line_codes(codes, lines.starts, lines.ends, hashes)
    order = np.argsort(hashes, kind="stable")
    ranked = hashes[order]
    begins = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    counts = np.diff(np.append(begins, ranked.size))
    by_count = np.argsort(-np.repeat(counts, counts), kind="stable")
    return order[by_count]


def lines_in(order: Int64s, lines: Lines) -> Lines:
    """Return lines in another order, each with a newline.

    order : (n,) numbers of the lines
    """
    lengths = (lines.ends - lines.starts)[order]
    ends = np.cumsum(lengths + 1) - 1
    own = Lines(np.empty(int(ends[-1]) + 1, np.uint8), ends - lengths, ends, False, order, 0)
    copy_reordered_lines(lines.text, lines.starts[order], own)
    return own


@jit
def copy_reordered_lines(text: Bytes, starts: Int64s, out: Lines) -> None:
    """Copy lines that start at `starts` of a text to the lines of `out`."""
    for i in range(starts.size):
        n = out.ends[i] - out.starts[i]
        for k in range(n):
            out.text[out.starts[i] + k] = text[starts[i] + k]
        out.text[out.ends[i]] = NEWLINE


@jit
def hash_line_codes(codes: Bytes, starts: Int64s, ends: Int64s, hashes: UInt64s) -> None:
    """Write a hash of the bases of each line, (n,), eight at a time; reads SPARE bytes beyond."""
    for i in range(starts.size):
        mixed = np.uint64(ends[i] - starts[i])
        for at in range(starts[i], ends[i], 8):
            word, beyond = load_le64(codes, at), max(0, at + 8 - ends[i])
            mixed = (mixed ^ word << np.uint64(8 * beyond)) * MIX
            mixed ^= mixed >> np.uint64(32)
        hashes[i] = mixed * MIX


def are_sorted(lines: Lines, codes: npt.NDArray[np.uint8], pairs: bool) -> bool:
    """Return True if sampled lines overlap those before them, as lines sorted by a job do.

    For pairs, only first mates count.
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
    """Return the least hash of selected k-mers in each of RUN lines; NONE without a k-mer.

    first : number of the first of these lines
    """
    starts = lines.starts[first : first + RUN]
    text = codes[starts[0] : lines.ends[first + RUN - 1]]
    keys = np.empty(text.size // 2 + 1, np.uint64)
    kmers = np.empty((text.size // 2 + 1, 2), np.uint32)
    n = index_kmers(text, K_OF_SHORT, keys, kmers)
    line = np.searchsorted(starts, starts[0] + (kmers[:n, PLACE] >> 1), side="right") - 1
    least = np.full(RUN, NONE)
    np.minimum.at(least, line, keys[:n] >> np.uint64(32))
    return least
