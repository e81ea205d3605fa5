"""Some records of a store, as if they were all of them, such as one genome of a collection."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.compressed_text.text import Positions, Text
from gangsaw.tasks.genomics.genomes.files.file_parts import LINE_RECORD
from gangsaw.tasks.genomics.genomes.info import GenomeInfo
from gangsaw.tasks.genomics.genomes.stored.stored import StoredGenome


class StoredPart(StoredGenome):
    """Consecutive records of a store, numbered from 0, with the interface of `StoredGenome`.

    Parameters
    ----------
    whole : all records of the store
    first : number of the first record of the part
    start : offset of its first residue
    info : description of the part, as if a store had no other records
    """

    def __init__(self, whole: StoredGenome, first: int, start: int, info: GenomeInfo) -> None:
        self._whole, self._first, self._start = whole, first, start
        self.info, self.n_records = info, info.records

    def starts(self, first: int, last: int) -> Positions:
        """Return the residue offsets of records first..last - 1, and the end of the last one."""
        return self._whole.starts(first + self._first, last + self._first) - self._start

    def read_residues(self, begin: int, end: int) -> Text:
        """Return residues of these records, begin..end - 1."""
        return self._whole.read_residues(begin + self._start, end + self._start)

    def heads(self, first: int, last: int) -> tuple[Text, Positions]:
        """Return headers of records, each with a newline, and their sizes in bytes without it."""
        return self._whole.heads(first + self._first, last + self._first)

    def odd_heads(self, first: int, last: int) -> Positions:
        """Return the records in first..last - 1 whose header has an unusual line end."""
        return self._whole.odd_heads(first + self._first, last + self._first)

    def lines(self, begin: int, end: int) -> Positions:
        """Return rows begin..end - 1 of the stored lines of unusual layout: `GenomePart.lines`."""
        rows = self._whole.lines(begin, end)
        shift = np.zeros(rows.shape[1], np.int64)
        shift[LINE_RECORD] = self._first
        return rows - shift

    def are_lost(self, first: int, last: int) -> bool:
        """Return True if all of records first..last - 1 are known to be damaged."""
        return self._whole.are_lost(first + self._first, last + self._first)

    def between(self, name: str, low: int, high: int) -> tuple[int, int]:
        """Return the range of items with values low..high - 1 in a sorted array of records."""
        return self._whole.between(name, low + self._first, high + self._first)


class StoredSample(StoredPart):
    """Records of one sample (genome) of a collection, numbered from 0.

    Parameters
    ----------
    whole : all records of the collection
    number : number of the sample
    is_checked : True to check that the sample's residues begin and end at those of records
    """

    def __init__(self, whole: StoredGenome, number: int, *, is_checked: bool = True) -> None:
        samples = whole.info.samples
        sample = samples[number]
        first = sum(one.records for one in samples[:number])
        start = sum(one.residues for one in samples[:number])
        info = replace(
            whole.info,
            records=sample.records,
            width=sample.width,
            returns=sample.returns,
            open=sample.open,
            before=sample.before,
            samples=(),
            added=(),
        )
        super().__init__(whole, first, start, info)
        ends = [start, start + sample.residues]
        borders = [first, first + sample.records]
        if is_checked and [int(whole.starts(border, border)[0]) for border in borders] != ends:
            raise CorruptChunk(f"record_offset is not that of {sample.file}")


def select_records(whole: StoredGenome, first: int, last: int) -> StoredPart:
    """Return records first..last - 1; blank lines before the first record belong to that one."""
    info = replace(
        whole.info,
        records=last - first,
        open=whole.info.open and last == whole.n_records,
        before="" if first else whole.info.before,
    )
    return StoredPart(whole, first, int(whole.starts(first, first)[0]), info)


def find_sample(whole: StoredGenome, name: str, *, is_checked: bool = True) -> StoredSample:
    """Return the sample with this name or file name; raise BadParams if there is none."""
    for number, sample in enumerate(whole.info.samples):
        if name in (sample.name, sample.file):
            return StoredSample(whole, number, is_checked=is_checked)
    there = ", ".join(sample.name for sample in whole.info.samples[:5])
    raise BadParams(f"there is no sample {name!r}; there is {there}, ...")
