"""Records of a chunk in the order of their places in its consensus."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.reads.lines import lines_of
from gangsaw.codecs.reads.sequence.layout.steady import steady_layout
from gangsaw.codecs.reads.sequence.letters import codes_of
from gangsaw.tasks.reads.digest import hash_lines
from gangsaw.tasks.reads.fastq import SEQUENCE, FastqRecords
from gangsaw.tasks.reads.kernels import LINES, copy_lines
from gangsaw.tasks.reads.order.chain import Numbers
from gangsaw.tasks.reads.text import Text

LANE = 1 << 16  # any: the layout does not depend on windows
Mates = tuple[FastqRecords, ...]


def sorted_chunks(ranges: Iterator[Mates], room: int) -> Iterator[Mates]:
    """Yield the records of all ranges by place, as many at a time as a chunk of sequences holds.

    The codec finds the same places only in a chunk that holds the same lines: each of these is to
    begin a chunk. A group that is longer than a chunk is alone.

    Parameters
    ----------
    room : bytes of a chunk
    """
    waiting: Mates = ()
    for mates in filter(None, ranges):
        waiting = _appended(waiting, mates)
        n = _fitting(waiting, room)
        while n < len(waiting[0]):
            yield by_place(_some(waiting, slice(0, n)))
            waiting = _some(waiting, slice(n, None))
            n = _fitting(waiting, room)
    if waiting and len(waiting[0]):
        yield by_place(waiting)


def _some(mates: Mates, which: slice[int | None, int | None, int | None]) -> Mates:
    return tuple(records.some(which) for records in mates)


def _fitting(mates: Mates, room: int) -> int:
    """Return how many records or pairs a chunk holds; at least one where there is one."""
    lengths = [records.ends[:, SEQUENCE] - records.begins[:, SEQUENCE] + 1 for records in mates]
    ends = np.cumsum(np.sum(lengths, axis=0))
    return min(max(1, int(np.searchsorted(ends, room, side="right"))), ends.size)


def _appended(waiting: Mates, mates: Mates) -> Mates:
    """Return records that wait, and behind them others; of the former no text but their own."""
    if not waiting or not len(waiting[0]):
        return mates
    return tuple(_joined(a, b) for a, b in zip(waiting, mates, strict=True))


def _joined(first: FastqRecords, second: FastqRecords) -> FastqRecords:
    lengths = (first.ends - first.begins).ravel() + 1
    ends = np.cumsum(lengths)
    begins = ends - lengths
    text = np.empty(int(ends[-1]) + second.text.size, np.uint8)
    copy_lines(first.text, first.begins.ravel(), first.ends.ravel(), begins, text)
    text[ends[-1] :] = second.text
    return FastqRecords(
        text,
        np.concatenate((begins.reshape(-1, LINES), second.begins + ends[-1])),
        np.concatenate((ends.reshape(-1, LINES) - 1, second.ends + ends[-1])),
    )


def by_place(mates: Mates) -> Mates:
    """Return records by the place of the first mate's first piece, those without one last.

    Of one place, equal lines are together: the codec has a flag for those.
    """
    if not len(mates[0]):
        return mates
    places = _places(_sequences(mates), len(mates))
    order = np.lexsort((hashes_of(mates[0]), places))
    return tuple(FastqRecords(m.text, m.begins[order], m.ends[order]) for m in mates)


def hashes_of(records: FastqRecords) -> npt.NDArray[np.uint64]:
    """Return (n,) uint64, a hash of each sequence."""
    begins, ends = (np.ascontiguousarray(p[:, SEQUENCE]) for p in (records.begins, records.ends))
    scratch = np.zeros(int((ends - begins).max(initial=0)) + 9, np.uint8)
    hashes = np.empty(len(records), np.uint64)
    hash_lines(records.text, begins, ends, scratch, hashes)
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
        begins = np.ascontiguousarray(records.begins[:, SEQUENCE])
        ends = np.ascontiguousarray(records.ends[:, SEQUENCE])
        copy_lines(records.text, begins, ends, starts[i::k], text)
    return text


def _places(text: Text, n_mates: int) -> Numbers:
    """Return the place of each record, or of each pair; the highest number for those without."""
    lines = lines_of(text, LANE)
    found = steady_layout(lines, codes_of(lines.text))
    mapped = np.flatnonzero(found.is_mapped)[::-1]  # of several pieces the first one stays
    places = np.full(lines.starts.size, np.iinfo(np.int64).max)
    places[found.line[mapped]] = found.position[mapped]
    return places[::n_mates]
