"""Reader of UCSC's 2bit files: https://genome.ucsc.edu/FAQ/FAQformat.html, ".2bit format".

Each byte has four bases, the first in the high bits: T 0, C 1, A 2, G 3. Runs of N and of lower
case precede the bases of each record, as starts and lengths.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.packing import build_unpacking_table, packed_size
from gangsaw.tasks.compressed_text.measured import MeasuredFile
from gangsaw.tasks.compressed_text.text import Positions, Text
from gangsaw.tasks.genomics.genomes.files.file_parts import GenomeFile, GenomePart, NameCheck

SIGNATURE = 0x1A412743
BASES = b"TCAG"
WIDTH = 50  # residues per line, as twoBitToFa writes them
SLAB = 1 << 20  # bytes of packed bases that are unpacked at once
LOWER = 32  # bit of lower case in ASCII
N = ord("N")
# bases of each byte value: (256, 4) uint8
UNPACKED = build_unpacking_table(BASES)


class Entry(NamedTuple):
    """Index entry of a 2bit record: its name and its offset in the file."""

    name: bytes
    offset: int


class TwoBitHead(NamedTuple):
    """Fields of a 2bit record before its bases.

    Attributes
    ----------
    size : number of bases
    unknown, masked : (n, 2) int64 each, begin and end of runs of N, and of lower case
    start : offset of the bases in the file
    """

    size: int
    unknown: Positions
    masked: Positions
    start: int


class TwoBitGenome(GenomeFile):
    """File of UCSC's 2bit format, in either byte order, with offsets of 32 or 64 bits."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.width = WIDTH
        self._names = NameCheck(path)
        self._n_bytes = Path(path).stat().st_size
        self._left = self._n_bytes  # each byte has one record: no short file is endless
        self._order, self._record = "<", ""

    def parts(self) -> Iterator[GenomePart]:
        """Yield parts of the records.

        Raise BadParams with the record for wrong sizes or offsets.
        """
        with MeasuredFile(self.path) as file:
            for number, entry in enumerate(self._index(file)):
                self._record = f"record {number + 1}"
                name = np.frombuffer(entry.name + b"\n", np.uint8)
                self._names.add(name, [self._record])
                begun = np.zeros(1, np.int64)
                yield GenomePart(name[:0], name, begun, begun)
                for letters in self._read_residues(file, self._head(file, entry.offset)):
                    yield GenomePart(letters, name[:0], begun[:0], begun[:0])

    def _index(self, file: IO[bytes]) -> list[Entry]:
        """Read the index of records, in the order of the file."""
        self._record = "its header"
        for self._order in "<>":
            file.seek(0)
            signature, version, count, _ = self._numbers(file, 4).tolist()
            if signature == SIGNATURE:
                break
        else:
            raise self._wrong("it does not begin with the number 0x1A412743: it is no 2bit file")
        if version not in (0, 1):
            raise self._wrong(f"version {version} is not supported")
        if count == 0:
            raise self._wrong("it holds no records")
        return [self._entry(file, 8 if version else 4) for _ in range(count)]

    def _entry(self, file: IO[bytes], width: int) -> Entry:
        (length,) = self._read_bytes(file, 1)
        name = self._read_bytes(file, length)
        if any(letter <= 32 for letter in name):
            raise self._wrong(f"the index has the name {name!r:.40}, with a blank")
        (offset,) = self._numbers(file, 1, width).tolist()
        return Entry(name, offset)

    def _head(self, file: IO[bytes], offset: int) -> TwoBitHead:
        file.seek(min(offset, self._n_bytes))
        (size,) = self._numbers(file, 1).tolist()
        unknown, masked = self._runs(file, size), self._runs(file, size)
        self._numbers(file, 1)  # reserved
        start = file.tell()
        n_packed = packed_size(size)
        self._left -= n_packed
        if start + n_packed > self._n_bytes or self._left < 0:
            raise self._wrong(f"its {size:,} bases do not fit the file")
        return TwoBitHead(size, unknown, masked, start)

    def _runs(self, file: IO[bytes], size: int) -> Positions:
        """Read the runs of N or of lower case of a record: begin and end, (n, 2) int64, ascending.

        `size` is the number of bases of the record.
        """
        (n,) = self._numbers(file, 1).tolist()
        first = self._numbers(file, n)
        runs = np.stack([first, first + self._numbers(file, n)], axis=1)
        self._left -= 8 * n
        flat = runs.ravel()
        if n and ((np.diff(flat) < 0).any() or (np.diff(first) < 1).any() or flat[-1] > size):
            raise self._wrong(f"its runs of N or lower case are not within its {size:,} bases")
        return runs

    def _read_residues(self, file: IO[bytes], head: TwoBitHead) -> Iterator[Text]:
        file.seek(head.start)
        for begin in range(0, head.size, 4 * SLAB):
            end = min(begin + 4 * SLAB, head.size)
            packed = np.frombuffer(self._read_bytes(file, packed_size(end - begin)), np.uint8)
            letters = UNPACKED[packed].ravel()[: end - begin]
            letters[covered(head.unknown, begin, end)] = N
            letters[covered(head.masked, begin, end)] |= LOWER
            yield letters

    def _numbers(self, file: IO[bytes], n: int, width: int = 4) -> Positions:
        data = self._read_bytes(file, n * width)
        return np.frombuffer(data, f"{self._order}u{width}").astype(np.int64)

    def _read_bytes(self, file: IO[bytes], n: int) -> bytes:
        """Return the next n bytes of the file.

        Raises BadParams, before allocating memory, if the file has fewer.
        """
        if n > self._n_bytes - file.tell():
            raise self._wrong("it ends too early, or a number in it is wrong")
        return file.read(n)

    def _wrong(self, why: str) -> BadParams:
        return BadParams(f"{self.path}: {self._record}: {why}")


def covered(
    runs: Positions, begin: int, end: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return a mask of the positions begin..end - 1 in runs (n, 2): (end - begin,) bool."""
    firsts, ends = runs.T
    first, last = np.searchsorted(ends, begin, "right"), np.searchsorted(firsts, end)
    own = np.clip(runs[first:last] - begin, 0, end - begin)
    steps = np.zeros(end - begin + 1, np.int8)
    own_firsts, own_ends = own.T
    np.add.at(steps, own_firsts, 1)
    np.add.at(steps, own_ends, -1)
    return np.cumsum(steps[:-1], dtype=np.int8).astype(bool)
