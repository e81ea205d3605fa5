"""Order of a chunk's records by their position in the consensus."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.reads.lines import find_lines
from gangsaw.codecs.reads.sequence.bases import to_base_codes
from gangsaw.codecs.reads.sequence.layout.steady import steady_layout
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.genomics.reads.files.digest import hash_each_line
from gangsaw.tasks.genomics.reads.files.kernels import SEQUENCE, copy_text_lines
from gangsaw.tasks.genomics.reads.files.records import FastqRecords, Mates
from gangsaw.tasks.genomics.reads.order.bins.chain import Numbers
from gangsaw.tasks.genomics.reads.order.groups import main_mate

LANE = 1 << 16  # arbitrary: the layout does not depend on windows
CHUNK_BYTES = 1 << 25  # bytes of a chunk of sequences
NOWHERE = np.iinfo(np.int64).max


def by_place(mates: Mates) -> Mates:
    """Return records sorted by their position in the chunk's consensus, regardless of names."""
    order = order_by_place(mates, has_names=False)
    return tuple(FastqRecords(m.text, m.begins[order], m.ends[order]) for m in mates)


def order_by_place(mates: Mates, has_names: bool) -> Numbers:
    """Return the order of groups by the position of the first mate in the chunk's consensus.

    Unmapped reads are last. Equal lines at the same position are adjacent: the codec has a flag for
    them. The codec finds the same positions only in a chunk of the same lines, so records of
    several chunks are sorted chunk by chunk. Equal lines keep their order, which is cheapest for
    names. With names, unmapped reads keep theirs, too.
    """
    if not len(mates[0]):
        return np.empty(0, np.int64)
    borders = [0, *_borders(mates, CHUNK_BYTES), len(mates[0])]
    parts = [
        first + _order(_some(mates, slice(first, last)), has_names)
        for first, last in pairwise(borders)
    ]
    return np.concatenate(parts)


def _borders(mates: Mates, chunk_bytes: int) -> list[int]:
    """Return the number of the first record of each chunk except the first."""
    lengths = [records.ends[:, SEQUENCE] - records.begins[:, SEQUENCE] + 1 for records in mates]
    ends = np.cumsum(np.sum(lengths, axis=0))
    borders: list[int] = []
    first, end = 0, chunk_bytes
    while (n := max(int(np.searchsorted(ends, end, side="right")), first + 1)) < ends.size:
        borders.append(n)
        first, end = n, int(ends[n - 1]) + chunk_bytes
    return borders


def _some(mates: Mates, which: slice[int, int, None]) -> Mates:
    return tuple(records.some(which) for records in mates)


def _order(mates: Mates, has_names: bool) -> Numbers:
    """Return the order of the records of one chunk by position in its consensus."""
    which = main_mate(mates)
    places = _find_positions(lines_of_mates(mates, SEQUENCE))[which :: len(mates)]
    hashes = hash_sequences(mates[which])
    if has_names:
        hashes[places == NOWHERE] = 0
    order: Numbers = np.lexsort((hashes, places))
    return order


def hash_sequences(records: FastqRecords) -> npt.NDArray[np.uint64]:
    """Return a hash of each sequence: (n,) uint64."""
    own = records.field(SEQUENCE)
    scratch = np.zeros(int((own.ends - own.begins).max(initial=0)) + 9, np.uint8)
    hashes = np.empty(len(records), np.uint64)
    hash_each_line(*own, scratch, hashes)
    return hashes


def lines_of_mates(mates: Mates, line: int) -> Text:
    """Return one line of each record, with mates adjacent, as the codec encodes them."""
    k, n = len(mates), len(mates[0])
    lengths = np.empty(n * k, np.int64)
    for i, records in enumerate(mates):
        lengths[i::k] = records.ends[:, line] - records.begins[:, line] + 1
    starts = np.cumsum(lengths) - lengths
    text = np.empty(int(lengths.sum()), np.uint8)
    for i, records in enumerate(mates):
        copy_text_lines(*records.field(line), starts[i::k], text)
    return text


def _find_positions(text: Text) -> Numbers:
    """Return twice each read's position in the consensus, plus its strand; NOWHERE if unmapped."""
    lines = find_lines(text, LANE)
    found = steady_layout(lines, to_base_codes(lines.text))
    mapped = np.flatnonzero(found.is_mapped)[::-1]  # reversed: the first of several pieces stays
    places = np.full(lines.starts.size, NOWHERE)
    places[found.line[mapped]] = 2 * found.position[mapped] + found.strand[mapped]
    return places
