"""One genome of a collection, as if it were a store's only one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.genomes.parts import LINE_RECORD
from gangsaw.tasks.genomes.stored import StoredGenome
from gangsaw.tasks.sequences.files.text import Places, Text


class StoredSample(StoredGenome):
    """The records of a sample by number, from 0; see `StoredGenome`."""

    def __init__(self, whole: StoredGenome, number: int) -> None:
        samples = whole.info.samples
        sample = samples[number]
        self._whole, self.n_records = whole, sample.records
        self._first = sum(one.records for one in samples[:number])
        self._start = sum(one.residues for one in samples[:number])
        self.info = replace(
            whole.info,
            records=sample.records,
            width=sample.width,
            returns=sample.returns,
            open=sample.open,
            before=sample.before,
            samples=(),
            added=(),
        )
        ends = [self._start, self._start + sample.residues]
        borders = [self._first, self._first + sample.records]
        if [int(whole.starts(border, border)[0]) for border in borders] != ends:
            raise CorruptChunk(f"record_offset is not that of {sample.file}")

    def starts(self, first: int, last: int) -> Places:
        """Return where records first..last - 1 start, and what follows the last of them."""
        return self._whole.starts(first + self._first, last + self._first) - self._start

    def letters(self, begin: int, end: int) -> Text:
        """Return residues of the sample, begin..end - 1."""
        return self._whole.letters(begin + self._start, end + self._start)

    def heads(self, first: int, last: int) -> tuple[Text, Places]:
        """Return heads of records, a newline behind each, and the bytes of each without it."""
        return self._whole.heads(first + self._first, last + self._first)

    def odd_heads(self, first: int, last: int) -> Places:
        """Return which of records first..last - 1 have a head that ends unlike most lines."""
        return self._whole.odd_heads(first + self._first, last + self._first)

    def lines(self, begin: int, end: int) -> Places:
        """Return rows begin..end - 1 of the lines that are kept, as `GenomePart.lines`."""
        rows = self._whole.lines(begin, end)
        shift = np.zeros(rows.shape[1], np.int64)
        shift[LINE_RECORD] = self._first
        return rows - shift

    def between(self, name: str, low: int, high: int) -> tuple[int, int]:
        """Return which items of an array of growing numbers are low..high - 1: first and end."""
        return self._whole.between(name, low + self._first, high + self._first)


def sample_of(whole: StoredGenome, name: str) -> StoredSample:
    """Return the sample of this name, or of this file; BadParams where there is none."""
    for number, sample in enumerate(whole.info.samples):
        if name in (sample.name, sample.file):
            return StoredSample(whole, number)
    there = ", ".join(sample.name for sample in whole.info.samples[:5])
    raise BadParams(f"there is no sample {name!r}; there is {there}, ...")
