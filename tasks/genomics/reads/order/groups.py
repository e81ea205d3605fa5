"""Groups of records in a shuffle: in memory as offsets into a text, in files as columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numcodecs.zstd import Zstd

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.genomics.reads.files.digest import sum_records
from gangsaw.tasks.genomics.reads.files.kernels import LINES, SEQUENCE, copy_text_lines
from gangsaw.tasks.genomics.reads.files.records import FastqRecords, Mates

Numbers: TypeAlias = npt.NDArray[np.int64]

ZSTD = Zstd(level=1, checksum=True)  # level 3 saved 4 % of scratch space and took twice as long
WORD = np.dtype("<i8")
PER_RECORD = 100  # bytes of memory per record in addition to its text


@dataclass(frozen=True)
class ReadGroups:
    """Batch of groups of records: pairs, or single reads.

    Attributes
    ----------
    mates : batches of records, one for each of the k mates of a group
    odd : (n, k) uint8, bit i is set if line i of the record has an unusual end for its file
    keys, ranges : (n,) int64, sort key and range of the new order of each group; 0 until known
    """

    mates: Mates
    odd: npt.NDArray[np.uint8]
    keys: Numbers
    ranges: Numbers

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self.odd)

    def take(self, which: Numbers) -> ReadGroups:
        """Return the groups with these numbers, in this order."""
        mates = tuple(FastqRecords(m.text, m.begins[which], m.ends[which]) for m in self.mates)
        return ReadGroups(mates, self.odd[which], self.keys[which], self.ranges[which])

    def pack(self) -> npt.NDArray[np.uint8]:
        """Return the groups as bytes, the input of `unpack_groups`."""
        return pack_groups([self.mates], self.odd, self.keys, self.ranges)

    def digest(self) -> int:
        """Return the checksum of the groups: the sum of their hashes, modulo 2^64."""
        fields = [records.field(line) for records in self.mates for line in range(LINES)]
        size = sum(int((one.ends - one.begins).max(initial=0)) + 1 for one in fields)
        return int(sum_records(tuple(fields), np.zeros(size + 8, np.uint8)))


def measure_groups(mates: Mates) -> tuple[Numbers, Numbers]:
    """Return the bytes of sequences, and of all lines, of each pair or read: (n,) int64 each."""
    lengths = np.stack([records.ends - records.begins + 1 for records in mates])
    return lengths[:, :, SEQUENCE].sum(axis=0), lengths.sum(axis=(0, 2))


def main_mate(mates: Mates) -> int:
    """Return the mate whose sequences determine the order: the first of a pair, else the longest.

    Index reads are too short to have a signature.
    """
    if len(mates) <= 2:
        return 0
    field = [records.field(SEQUENCE) for records in mates]
    return int(np.argmax([int((one.ends - one.begins).sum()) for one in field]))


def pack_groups(
    pieces: Sequence[Mates], odd: npt.NDArray[np.uint8], keys: Numbers, ranges: Numbers
) -> npt.NDArray[np.uint8]:
    """Pack groups of several batches into bytes.

    Layout: number of groups and of mates (int64); keys, ranges, lengths of the lines without
    newlines (k, 4, n), int64; odd ends (n, k); then the lines, for each mate all names, all
    sequences, and so on.
    """
    n, k = odd.shape
    lengths = np.empty((k, LINES, n), WORD)
    at = 0
    for mates in pieces:
        for i, records in enumerate(mates):
            lengths[i, :, at : at + len(records)] = (records.ends - records.begins).T
        at += len(mates[0])
    head = [np.array([n, k], WORD), keys.astype(WORD), ranges.astype(WORD), lengths.reshape(-1)]
    fixed = b"".join([*(array.tobytes() for array in head), odd.tobytes()])
    starts = len(fixed) + _starts(lengths)
    out = np.empty(int(starts[-1]), np.uint8)
    out[: len(fixed)] = np.frombuffer(fixed, np.uint8)
    _copy(pieces, starts[:-1].reshape(lengths.shape), out)
    return out


def _starts(lengths: npt.NDArray[np.int64]) -> Numbers:
    """Return the offsets (n + 1) of lines of these lengths."""
    ends: Numbers = np.cumsum(lengths.reshape(-1) + 1)
    return np.concatenate((np.zeros(1, np.int64), ends))


def _copy(pieces: Iterable[Mates], starts: npt.NDArray[np.int64], out: Text) -> None:
    at = 0
    for mates in pieces:
        own = slice(at, at + len(mates[0]))
        for i, records in enumerate(mates):
            for line in range(LINES):
                copy_text_lines(*records.field(line), starts[i, line, own], out)
        at = own.stop


def unpack_groups(segments: Sequence[npt.NDArray[np.uint8]]) -> ReadGroups:
    """Return the groups in bytes of `pack_groups`, in order; at least one segment is required."""
    text = segments[0] if len(segments) == 1 else np.concatenate(segments)
    parts, at = [], 0
    for segment in segments:
        parts.append(_part(text, at))
        at += segment.size
    mates = tuple(
        FastqRecords(
            text,
            np.concatenate([part.mates[i].begins for part in parts]),
            np.concatenate([part.mates[i].ends for part in parts]),
        )
        for i in range(len(parts[0].mates))
    )
    odd, keys, ranges = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("odd", "keys", "ranges")
    )
    return ReadGroups(mates, odd, keys, ranges)


def _part(text: Text, at: int) -> ReadGroups:
    """Return the groups whose packed bytes begin at an offset of a text."""
    n, k = np.frombuffer(text, WORD, 2, at).tolist()
    words = np.frombuffer(text, WORD, 2 * n + k * LINES * n, at + 2 * WORD.itemsize)
    lengths = words[2 * n :].reshape(k, LINES, n)
    fixed = at + WORD.itemsize * (2 + words.size)
    odd = np.frombuffer(text, np.uint8, n * k, fixed).reshape(n, k)
    begins = (fixed + n * k + _starts(lengths)[:-1]).reshape(lengths.shape)
    mates = tuple(
        FastqRecords(text, begins[i].T.copy(), (begins[i] + lengths[i]).T.copy()) for i in range(k)
    )
    return ReadGroups(mates, odd, words[:n].astype(np.int64), words[n : 2 * n].astype(np.int64))


def compress_segments(segments: Iterable[NumpyArray]) -> tuple[bytes, int]:
    """Return the content of a step's output file, compressed segments, and their original size.

    An index precedes them: the number of segments, then compressed and uncompressed bytes of each
    (int64).
    """
    index, coded = [], []
    for segment in segments:
        code = ZSTD.encode(np.ascontiguousarray(segment)) if segment.size else b""
        index.append((len(code), segment.nbytes))
        coded.append(code)
    head = np.array([len(index), *(n for pair in index for n in pair)], WORD)
    return b"".join([head.tobytes(), *coded]), sum(raw for _, raw in index)


class Segments:
    """Reader of the compressed segments in a step's output file.

    Attributes
    ----------
    sizes : (n,) int64, uncompressed bytes of each segment
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            (n,) = np.frombuffer(file.read(WORD.itemsize), WORD).tolist()
            index = np.frombuffer(file.read(2 * n * WORD.itemsize), WORD).reshape(n, 2)
        first = WORD.itemsize * (1 + 2 * n)
        stored, sizes = index.T
        self.sizes: Numbers = sizes.astype(np.int64)
        self._ends: Numbers = first + np.concatenate(([0], np.cumsum(stored)))

    def read(self, number: int) -> npt.NDArray[np.uint8]:
        """Decompress a segment to (n,) uint8; raise CorruptChunk if its bytes are damaged."""
        begin, end = self._ends[number : number + 2].tolist()
        out = np.empty(int(self.sizes[number]), np.uint8)
        with self.path.open("rb") as file:
            file.seek(begin)
            code = file.read(end - begin)
        if not out.size:
            return out
        try:
            ZSTD.decode(code, out)
        except RuntimeError as error:
            raise CorruptChunk(f"{self.path}: scratch is damaged: {error}") from error
        return out

    def words(self, number: int) -> Numbers:
        """Decompress a segment to (n,) int64."""
        return self.read(number).view(np.int64)


def cuts(keys: Numbers, borders: Numbers) -> list[slice[int, int, None]]:
    """Return the slices of ascending keys between consecutive borders."""
    places = np.searchsorted(keys, borders).tolist()
    return [slice(a, b) for a, b in pairwise(places)]
