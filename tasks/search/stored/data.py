"""Arrays of a store that can be indexed, their content, and record borders in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, JobFailed
from gangsaw.codecs.core.plugins.contents import CONTENT, NUCLEOTIDES, READ_SEQUENCES, TEXT
from gangsaw.codecs.core.plugins.options import join_words
from gangsaw.tasks.genomics.genomes.info import ATTRIBUTE as GENOME
from gangsaw.tasks.search.fm_index.base_runs import NO_BORDERS
from gangsaw.tasks.search.fm_index.kinds import Kind
from gangsaw.tasks.search.fm_index.packed import Bytes
from gangsaw.tasks.search.fm_index.samples import Positions
from gangsaw.tasks.sources.source import Described, Region, SourceArray
from gangsaw.tasks.store.dataset.carried import is_carried
from gangsaw.tasks.store.source import ZarrSource, open_zarr

BORDERS = {"sequence": "record_offset"}  # record offsets of a genome
STARTS = "sequence_offset"  # start offsets of reads, which have line ends between them
OF_BASES = (NUCLEOTIDES, READ_SEQUENCES)


@dataclass(frozen=True)
class StoredText:
    """Array of a store that is indexed or searched as a text of letters.

    Attributes
    ----------
    array : the array, (n,) uint8
    kind : kind of its index, "bases" or "bytes"
    borders : array of record starts, and the end of the last one; None for a plain text
    reads : array of read starts, and the end of the last one; None if there are no reads
    content : array and borders, as a source
    identity : fingerprint of that content when it was opened
    """

    array: SourceArray
    kind: Kind
    borders: SourceArray | None
    reads: SourceArray | None
    content: ZarrSource
    identity: str

    @property
    def size(self) -> int:
        """Number of letters."""
        return self.array.shape[0]

    def read(self, begin: int, end: int) -> Bytes:
        """Return letters begin..end - 1."""
        if begin >= end:
            return np.empty(0, np.uint8)
        return np.asarray(self.array.read((slice(begin, end),))).astype(np.uint8, copy=False)

    def with_checks(self) -> CheckedArray:
        """Return the array as one that raises JobFailed on read if the store changed."""
        own = self.array
        return CheckedArray(
            name=own.name, shape=own.shape, dtype=own.dtype, dims=own.dims, chunks=own.chunks,
            of=self,
        )  # fmt: skip

    def check(self) -> None:
        """Raise JobFailed if the store's content changed since it was opened."""
        try:
            now = self.content.identity()
        except OSError as error:
            raise JobFailed(f"{self.content.name} went away while it was searched") from error
        if now != self.identity:
            raise JobFailed(
                f"{self.content.name} changed while it was searched: index it again, by "
                "gangsaw index --overwrite"
            )

    def borders_in(self, begin: int, end: int) -> Positions:
        """Return the record borders in letters begin..end - 1, relative to `begin`."""
        if self.borders is None:
            return NO_BORDERS
        starts = _starts(self)
        first, last = np.searchsorted(starts, [begin, end])
        return starts[first:last] - begin

    def record_at(self, place: int) -> tuple[int, int]:
        """Return the range of the record at a position; the whole text if it has no records."""
        if self.borders is None or not 0 <= place < self.size:
            return 0, self.size
        starts = _starts(self)
        record = int(np.searchsorted(starts, place, "right"))
        return int(starts[record - 1]), int(starts[record])


@dataclass(frozen=True, kw_only=True)
class CheckedArray(Described):
    """Array of a text that checks after each read that the store did not change."""

    of: StoredText

    def read(self, region: Region) -> NumpyArray:
        """Return the items of a region; raise JobFailed if the store changed."""
        found = self.of.array.read(region)
        self.of.check()
        return found


def open_texts(
    store: str, variables: Sequence[str] = ()
) -> tuple[ZarrSource, dict[str, StoredText]]:
    """Open a store and its arrays to index: the named ones, else the main ones.

    Raises
    ------
    BadParams : there is none, or a named array is not a text
    """
    source = open_zarr(store)
    texts = {array.name: array for array in source.arrays if _is_text(array)}
    if unknown := [name for name in variables if name not in texts]:
        there = join_words(list(texts)) if texts else "none"
        raise BadParams(f"{store}: {unknown[0]} is no array of bytes on one axis; there is {there}")
    wanted = list(variables) or _main(texts, source.attrs)
    if not wanted and GENOME in source.attrs:
        raise BadParams(
            f"{store} holds a collection of genomes, which is not indexed: gangsaw align finds "
            "sequences in it, and one genome is a store of its own by decompress --sample"
        )
    if not wanted:
        raise BadParams(f"{store} holds no text: no array of bytes on one axis")
    return source, {name: _build_stored_text(source, texts[name]) for name in wanted}


def _is_text(array: SourceArray) -> bool:
    is_bytes = len(array.shape) == 1 and array.dtype == np.uint8
    return is_bytes and not is_carried(array.attrs)


def _main(texts: Mapping[str, SourceArray], attrs: Mapping[str, object]) -> list[str]:
    """Return the names of sequence arrays if there are any, else of all arrays of plain text."""
    sequences = [name for name, array in texts.items() if array.attrs.get(CONTENT) in OF_BASES]
    plain = [name for name, array in texts.items() if array.attrs.get(CONTENT, TEXT) == TEXT]
    return sequences or plain


def _build_stored_text(source: ZarrSource, array: SourceArray) -> StoredText:
    kind: Kind = "bases" if array.attrs.get(CONTENT) in OF_BASES else "bytes"
    others = {other.name: other for other in source.arrays}
    borders = others.get(BORDERS.get(array.name, "")) if GENOME in source.attrs else None
    names = {array.name} if borders is None else {array.name, borders.name}
    own = tuple(one for one in source.there if one.name in names)
    content = replace(source, arrays=(), there=own, coords=(), attrs={})
    reads = others.get(STARTS) if array.attrs.get(CONTENT) == READ_SEQUENCES else None
    return StoredText(array, kind, borders, reads, content, content.identity())


@lru_cache(maxsize=4)
def _starts(text: StoredText) -> Positions:
    """Return the offsets of records; raise CorruptChunk unless they ascend to the text's end."""
    borders, size = text.borders, text.size
    assert borders is not None
    found = np.asarray(borders.read((slice(0, borders.shape[0]),))).astype(np.int64)
    if found[0] != 0 or found[-1] != size or (np.diff(found) < 0).any():
        raise CorruptChunk(f"{borders.name} does not ascend to the end of the text")
    return found
