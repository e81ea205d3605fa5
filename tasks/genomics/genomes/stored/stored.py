"""Checked access to the arrays of a genome store."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

import numpy as np

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.codecs.dna.params import USUAL_BLOCK
from gangsaw.tasks.compressed_text.text import Positions, Text
from gangsaw.tasks.genomics.genomes.files.fasta_kernels import BLANK, MOST_EMPTY
from gangsaw.tasks.genomics.genomes.files.file_parts import NO_RECORDS, first_word
from gangsaw.tasks.genomics.genomes.info import GenomeInfo
from gangsaw.tasks.genomics.genomes.related.chained import as_one
from gangsaw.tasks.genomics.genomes.stored.stream import LINES
from gangsaw.tasks.genomics.sequences.cached_chunks import CachedChunks, are_lost
from gangsaw.tasks.genomics.sequences.likeness import READS
from gangsaw.tasks.sources.source import SourceArray

NEEDED = ("sequence", "record_offset", "name", "name_offset")
NEWLINE = 10
RECORDS = 1 << 16  # records whose headers are read at once
BLOCK = USUAL_BLOCK  # residues that are decoded together for short ranges
CACHED_BLOCKS = 4
# residues of a collection that are decoded together for short ranges, mostly of one window;
# the windows have a cache of their own
JOINED, JOINED_HELD = 1 << 12, 256


class StoredGenome:
    """Records of a genome store or collection by number: residues, headers, layout of lines.

    Attributes
    ----------
    info : description of the genome in the store's attributes
    n_records : number of records
    """

    def __init__(self, arrays: Sequence[SourceArray], attrs: Mapping[str, object]) -> None:
        info = GenomeInfo.from_attrs(attrs)
        if info is None and READS in attrs:
            raise BadParams(
                "it holds reads, no genome: compress FASTA with --format genome for records by name"
            )
        if info is None:
            raise BadParams("it holds no genome: gangsaw compress makes such stores of FASTA")
        self.info, self.n_records = info, info.records
        own = as_one(arrays, info) if info.samples else {array.name: array for array in arrays}
        for name in NEEDED:
            if name not in own:
                raise BadParams(f"it holds a genome, but no array {name}: select all of its arrays")
        self._arrays = {name: CachedChunks(array) for name, array in own.items()}
        self._arrays["sequence"] = self._residues(own["sequence"])
        for name in ("record_offset", "name_offset"):
            if self._arrays[name].size != self.n_records + 1:
                raise CorruptChunk(f"{name} is not of {self.n_records} records")

    def _residues(self, array: SourceArray) -> CachedChunks:
        """Return the residues of all records, with a cache; those of a collection are decoded."""
        if not self.info.samples:
            return CachedChunks(array, BLOCK, CACHED_BLOCKS)
        return CachedChunks(array, JOINED, JOINED_HELD)

    def starts(self, first: int, last: int) -> Positions:
        """Return the residue offsets of records first..last - 1, and the end of the last one."""
        return self._borders("record_offset", "sequence", first, last)

    def read_residues(self, begin: int, end: int) -> Text:
        """Return residues begin..end - 1 of the whole store: (n,) uint8.

        Short ranges are decoded by blocks, which are cached; long ranges are decoded in parallel.
        """
        held = self._arrays["sequence"]
        if end - begin <= held.step or not 0 <= begin <= end <= held.size:
            return held.read(begin, end).astype(np.uint8, copy=False)
        return held.array.read((slice(begin, end),)).astype(np.uint8, copy=False)

    def heads(self, first: int, last: int) -> tuple[Text, Positions]:
        """Return headers of records, each with a newline, and their sizes in bytes without it."""
        borders = self._borders("name_offset", "name", first, last)
        found = self._arrays["name"].read(int(borders[0]), int(borders[-1]))
        text: Text = found.astype(np.uint8, copy=False)
        if not np.array_equal(np.flatnonzero(text == NEWLINE), borders[1:] - borders[0] - 1):
            raise CorruptChunk("name_offset does not say where lines of name begin")
        return text, np.diff(borders) - 1

    def names(self) -> tuple[bytes, ...]:
        """Return the names of all records; in a collection after the sample's: "strain/chr1"."""
        owners = [f"{one.name}/".encode() for one in self.info.samples for _ in range(one.records)]
        found: list[bytes] = []
        for first in range(0, self.n_records, RECORDS):
            last = min(first + RECORDS, self.n_records)
            heads = self.heads(first, last)[0].tobytes().split(b"\n")[:-1]
            found += map(first_word, heads)
        return tuple(map(bytes.__add__, owners, found)) if owners else tuple(found)

    def odd_heads(self, first: int, last: int) -> Positions:
        """Return the records in first..last - 1 whose header has an unusual line end."""
        return self._numbers("odd_head", *self.between("odd_head", first, last)) - first

    def lines(self, begin: int, end: int) -> Positions:
        """Return rows begin..end - 1 of the stored lines of unusual layout: `GenomePart.lines`."""
        rows = np.stack([self._numbers(name, begin, end) for name in LINES], axis=1)
        records, lengths, counts, ends = rows.T
        if (records < 0).any() or (np.diff(records) < 0).any():
            raise CorruptChunk("line_record does not grow")
        if (lengths < 0).any() or (counts < 1).any() or (ends > BLANK).any():
            raise CorruptChunk("line_length, line_count or line_end describes no line")
        if (counts[lengths == 0] > MOST_EMPTY).any():
            raise CorruptChunk("line_count has too many empty lines")
        return rows

    def between(self, name: str, low: int, high: int) -> tuple[int, int]:
        """Return the range of items with values low..high - 1 in a sorted array of records."""
        size = self._arrays[name].size if name in self._arrays else 0

        def first(number: int) -> int:
            return bisect_left(
                range(size), number, key=lambda i: int(self._numbers(name, i, i + 1)[0])
            )

        return first(low), max(first(low), first(high))

    def are_lost(self, first: int, last: int) -> bool:
        """Return True if all of records first..last - 1 are known to be damaged."""
        pairs = (("record_offset", "sequence"), ("name_offset", "name"))
        return any(are_lost(self._arrays[a], self._arrays[b], first, last) for a, b in pairs)

    def _borders(self, name: str, of: str, first: int, last: int) -> Positions:
        found = self._arrays[name].read(first, last + 1).astype(np.int64)
        size = self._arrays[of].size
        if found[0] < 0 or found[-1] > size or (np.diff(found) < 0).any():
            raise CorruptChunk(f"{name} does not grow within {of}")
        return found

    def _numbers(self, name: str, begin: int, end: int) -> Positions:
        if name not in self._arrays:
            return NO_RECORDS
        return self._arrays[name].read(begin, end).astype(np.int64)
