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


def by_place(mates: Mates) -> Mates:
    """Return records by the place of the first mate's first piece, those without one last.

    Of one place, equal lines are together: the codec has a flag for those. It finds the same places
    only in a chunk of the same lines, so records that begin a chunk, and are more than it holds,
    are sorted chunk by chunk.
    """
    if not len(mates[0]):
        return mates
    borders = [0, *_borders(mates, ROOM), len(mates[0])]
    parts = [first + _order(_some(mates, slice(first, last))) for first, last in pairwise(borders)]
    order = np.concatenate(parts)
    return tuple(FastqRecords(m.text, m.begins[order], m.ends[order]) for m in mates)


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


def _order(mates: Mates) -> Numbers:
    """Return the order of the records of a chunk."""
    which = main_mate(mates)
    places = _places(_sequences(mates))[which :: len(mates)]
    order: Numbers = np.lexsort((hashes_of(mates[which]), places))
    return order


def hashes_of(records: FastqRecords) -> npt.NDArray[np.uint64]:
    """Return (n,) uint64, a hash of each sequence."""
    own = records.field(SEQUENCE)
    scratch = np.zeros(int((own.ends - own.begins).max(initial=0)) + 9, np.uint8)
    hashes = np.empty(len(records), np.uint64)
    hash_lines(*own, scratch, hashes)
    return hashes


def _sequences(mates: Mates) -> Text:
    """Return the sequences as lines, mates side by side, as the codec will meet them."""
    k, n = len(mates), len(mates[0])
    lengths = np.empty(n * k, np.int64)
    for i, records in enumerate(mates):
        lengths[i::k] = records.ends[:, SEQUENCE] - records.begins[:, SEQUENCE] + 1
    starts = np.cumsum(lengths) - lengths
    text = np.empty(int(lengths.sum()), np.uint8)
    for i, records in enumerate(mates):
        copy_lines(*records.field(SEQUENCE), starts[i::k], text)
    return text


def _places(text: Text) -> Numbers:
    """Return the place of each record; the highest number for those without."""
    lines = lines_of(text, LANE)
    found = steady_layout(lines, codes_of(lines.text))
    mapped = np.flatnonzero(found.is_mapped)[::-1]  # of several pieces the first one stays
    places = np.full(lines.starts.size, np.iinfo(np.int64).max)
    places[found.line[mapped]] = found.position[mapped]
    return places
