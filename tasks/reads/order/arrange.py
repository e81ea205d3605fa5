"""Records of a chunk in the order of their places in its consensus."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.reads.lines import lines_of
from gangsaw.codecs.reads.sequence.layout.steady import steady_layout
from gangsaw.codecs.reads.sequence.letters import codes_of
from gangsaw.tasks.reads.files.digest import hash_lines
from gangsaw.tasks.reads.files.kernels import SEQUENCE, copy_lines
from gangsaw.tasks.reads.files.records import FastqRecords, Mates
from gangsaw.tasks.reads.order.bins.chain import Numbers
from gangsaw.tasks.reads.order.groups import main_mate
from gangsaw.tasks.sequences.files.text import Text

LANE = 1 << 16  # any: the layout does not depend on windows
ROOM = 1 << 25  # bytes of a chunk of sequences
NOWHERE = np.iinfo(np.int64).max


def by_place(mates: Mates) -> Mates:
    """Return records by their places, as `order_by_place` orders them without their names."""
    order = order_by_place(mates, has_names=False)
    return tuple(FastqRecords(m.text, m.begins[order], m.ends[order]) for m in mates)


def order_by_place(mates: Mates, has_names: bool) -> Numbers:
    """Return the order by the place of the first mate's first piece, those without one last.

    Of one place, equal lines are together: the codec has a flag for those. It finds the same places
    only in a chunk of the same lines, so records that begin a chunk, and are more than it holds,
    are sorted chunk by chunk. Equal lines stay as they are, which costs names least; where there
    are names, lines without a place do, too.
    """
    if not len(mates[0]):
        return np.empty(0, np.int64)
    borders = [0, *_borders(mates, ROOM), len(mates[0])]
    parts = [
        first + _order(_some(mates, slice(first, last)), has_names)
        for first, last in pairwise(borders)
    ]
    return np.concatenate(parts)


def _borders(mates: Mates, room: int) -> list[int]:
    """Return the first record of each chunk but the first."""
    lengths = [records.ends[:, SEQUENCE] - records.begins[:, SEQUENCE] + 1 for records in mates]
    ends = np.cumsum(np.sum(lengths, axis=0))
    borders: list[int] = []
    first, end = 0, room
    while (n := max(int(np.searchsorted(ends, end, side="right")), first + 1)) < ends.size:
        borders.append(n)
        first, end = n, int(ends[n - 1]) + room
    return borders


def _some(mates: Mates, which: slice[int, int, None]) -> Mates:
    return tuple(records.some(which) for records in mates)


def _order(mates: Mates, has_names: bool) -> Numbers:
    """Return the order of the records of a chunk."""
    which = main_mate(mates)
    places = _places(lines_of_mates(mates, SEQUENCE))[which :: len(mates)]
    hashes = hashes_of(mates[which])
    if has_names:
        hashes[places == NOWHERE] = 0
    order: Numbers = np.lexsort((hashes, places))
    return order


def hashes_of(records: FastqRecords) -> npt.NDArray[np.uint64]:
    """Return (n,) uint64, a hash of each sequence."""
    own = records.field(SEQUENCE)
    scratch = np.zeros(int((own.ends - own.begins).max(initial=0)) + 9, np.uint8)
    hashes = np.empty(len(records), np.uint64)
    hash_lines(*own, scratch, hashes)
    return hashes


def lines_of_mates(mates: Mates, line: int) -> Text:
    """Return a line of each record, mates side by side, as the codec will meet them."""
    k, n = len(mates), len(mates[0])
    lengths = np.empty(n * k, np.int64)
    for i, records in enumerate(mates):
        lengths[i::k] = records.ends[:, line] - records.begins[:, line] + 1
    starts = np.cumsum(lengths) - lengths
    text = np.empty(int(lengths.sum()), np.uint8)
    for i, records in enumerate(mates):
        copy_lines(*records.field(line), starts[i::k], text)
    return text


def _places(text: Text) -> Numbers:
    """Return the place of each record, twice it and the strand; NOWHERE for those without."""
    lines = lines_of(text, LANE)
    found = steady_layout(lines, codes_of(lines.text))
    mapped = np.flatnonzero(found.is_mapped)[::-1]  # of several pieces the first one stays
    places = np.full(lines.starts.size, NOWHERE)
    places[found.line[mapped]] = 2 * found.position[mapped] + found.strand[mapped]
    return places
