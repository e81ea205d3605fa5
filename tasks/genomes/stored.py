"""The arrays of a genome's store, held against each other as they are read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

import numpy as np

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.codecs.dna.params import USUAL_BLOCK
from gangsaw.tasks.genomes.chained import as_one
from gangsaw.tasks.genomes.fasta_kernels import BLANK, MOST_EMPTY
from gangsaw.tasks.genomes.info import GenomeInfo
from gangsaw.tasks.genomes.parts import NO_RECORDS, first_word
from gangsaw.tasks.genomes.stream import LINES
from gangsaw.tasks.sequences.files.text import Places, Text
from gangsaw.tasks.sequences.held import HeldChunks
from gangsaw.tasks.sequences.likeness import READS
from gangsaw.tasks.source import SourceArray

NEEDED = ("sequence", "record_offset", "name", "name_offset")
NEWLINE = 10
RECORDS = 1 << 16  # of which heads are read at once
BLOCK = USUAL_BLOCK  # residues that are decoded together where a few are wanted
BLOCKS_HELD = 4
# letters of a collection that are joined where a few are wanted, of one window mostly; its windows
# are held themselves
JOINED, JOINED_HELD = 1 << 12, 256


class StoredGenome:
    """The records of a store by number.

    Attributes
    ----------
    info : what the store says of itself
    n_records : how many there are
    """

    def __init__(self, arrays: Sequence[SourceArray], attrs: Mapping[str, object]) -> None:
        info = GenomeInfo.from_attrs(attrs)
        if info is None and READS in attrs:
            raise BadParams(
                "it holds reads: FASTA that is compressed with --format genome has records by name"
            )
        if info is None:
            raise BadParams("it holds no genome")
        self.info, self.n_records = info, info.records
        own = as_one(arrays, info) if info.samples else {array.name: array for array in arrays}
        for name in NEEDED:
            if name not in own:
                raise BadParams(f"it holds a genome, but no array {name}: take all of its arrays")
        self._arrays = {name: HeldChunks(array) for name, array in own.items()}
        self._arrays["sequence"] = self._residues(own["sequence"])
        for name in ("record_offset", "name_offset"):
            if self._arrays[name].size != self.n_records + 1:
                raise CorruptChunk(f"{name} is not of {self.n_records} records")

    def _residues(self, array: SourceArray) -> HeldChunks:
        """Return the letters of all records; those of a collection are joined."""
        if not self.info.samples:
            return HeldChunks(array, BLOCK, BLOCKS_HELD)
        return HeldChunks(array, JOINED, JOINED_HELD)

    def starts(self, first: int, last: int) -> Places:
        """Return where records first..last - 1 start, and what follows the last of them."""
        return self._borders("record_offset", "sequence", first, last)

    def letters(self, begin: int, end: int) -> Text:
        """Return residues of the whole store, begin..end - 1.

        Of a few the blocks are decoded, and held; many are decoded side by side.
        """
        held = self._arrays["sequence"]
        if end - begin <= held.step or not 0 <= begin <= end <= held.size:
            return held.read(begin, end).astype(np.uint8, copy=False)
        return held.array.read((slice(begin, end),)).astype(np.uint8, copy=False)

    def heads(self, first: int, last: int) -> tuple[Text, Places]:
        """Return heads of records, a newline behind each, and the bytes of each without it."""
        borders = self._borders("name_offset", "name", first, last)
        found = self._arrays["name"].read(int(borders[0]), int(borders[-1]))
        text: Text = found.astype(np.uint8, copy=False)
        if not np.array_equal(np.flatnonzero(text == NEWLINE), borders[1:] - borders[0] - 1):
            raise CorruptChunk("name_offset does not say where lines of name begin")
        return text, np.diff(borders) - 1

    def names(self) -> tuple[bytes, ...]:
        """Return the names of all records; in a collection behind the sample's: "strain/chr1"."""
        owners = [f"{one.name}/".encode() for one in self.info.samples for _ in range(one.records)]
        found: list[bytes] = []
        for first in range(0, self.n_records, RECORDS):
            last = min(first + RECORDS, self.n_records)
            heads = self.heads(first, last)[0].tobytes().split(b"\n")[:-1]
            found += map(first_word, heads)
        return tuple(map(bytes.__add__, owners, found)) if owners else tuple(found)

    def odd_heads(self, first: int, last: int) -> Places:
        """Return which of records first..last - 1 have a head that ends unlike most lines."""
        return self._numbers("odd_head", *self.between("odd_head", first, last)) - first

    def lines(self, begin: int, end: int) -> Places:
        """Return rows begin..end - 1 of the lines that are kept, as `GenomePart.lines`."""
        rows = np.stack([self._numbers(name, begin, end) for name in LINES], axis=1)
        records, lengths, counts, ends = rows.T
        if (records < 0).any() or (np.diff(records) < 0).any():
            raise CorruptChunk("line_record does not grow")
        if (lengths < 0).any() or (counts < 1).any() or (ends > BLANK).any():
            raise CorruptChunk("line_length, line_count or line_end is of no line")
        if (counts[lengths == 0] > MOST_EMPTY).any():
            raise CorruptChunk("line_count has too many empty lines")
        return rows

    def between(self, name: str, low: int, high: int) -> tuple[int, int]:
        """Return which items of an array of growing numbers are low..high - 1: first and end."""
        size = self._arrays[name].size if name in self._arrays else 0

        def first(number: int) -> int:
            return bisect_left(
                range(size), number, key=lambda i: int(self._numbers(name, i, i + 1)[0])
            )

        return first(low), max(first(low), first(high))

    def _borders(self, name: str, of: str, first: int, last: int) -> Places:
        found = self._arrays[name].read(first, last + 1).astype(np.int64)
        size = self._arrays[of].size
        if found[0] < 0 or found[-1] > size or (np.diff(found) < 0).any():
            raise CorruptChunk(f"{name} does not grow within {of}")
        return found

    def _numbers(self, name: str, begin: int, end: int) -> Places:
        if name not in self._arrays:
            return NO_RECORDS
        return self._arrays[name].read(begin, end).astype(np.int64)
