"""Comparison of a source with a store in another order, by their checksums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.genomics.reads.files.digest import sum_records
from gangsaw.tasks.genomics.reads.files.records import Field
from gangsaw.tasks.genomics.reads.stored.info import ATTRIBUTE
from gangsaw.tasks.genomics.reads.stored.record_text import read_plus_lines
from gangsaw.tasks.genomics.reads.stored.stored import Stored
from gangsaw.tasks.sources.source import Coordinate, Described, Stream

BATCH = 1 << 15  # records, pairs or other groups that are summed at once
COMPARED = ("records", "digest", "figures")  # compared fields of the attribute


class SummedStream(Stream, Protocol):
    """Stream that provides, after it was read, the Zarr attribute that a store of it would have."""

    @property
    def outcome(self) -> Mapping[str, object]:
        """Zarr attribute by name, known at the end of the stream."""


@dataclass(frozen=True)
class UnorderedReads:
    """Stream of a source's reads for the comparison with a store in another order, by checksum.

    It has no arrays, since those would depend on the order. At the end its `outcome` is the
    attribute that the store would have. It implements `gangsaw.tasks.sources.source.Stream`.

    Attributes
    ----------
    stream : the source, in its own order
    stored : the store that it is compared with
    """

    stream: SummedStream
    stored: Stored
    arrays: tuple[Described, ...] = ()
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict)
    outcome: dict[str, object] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        """Name of the source."""
        return self.stream.name

    def pieces(self) -> Iterator[Mapping[str, NumpyArray]]:
        """Read the source to its end; raise CorruptChunk if the store's checksum is wrong."""
        contents = self.stored.contents
        if digest_records(self.stored) != int(contents.digest, 16):
            raise CorruptChunk("the records of the store do not add up to its digest")
        for _ in self.stream.pieces():
            pass
        found = self.stream.outcome[ATTRIBUTE]
        assert isinstance(found, dict)
        own = {name: found[name] for name in COMPARED if name in found}
        self.outcome[ATTRIBUTE] = contents.to_dict() | own
        yield from ()


def digest_records(stored: Stored) -> int:
    """Return the checksum of a store's records, the sum of their hashes.

    A pair is hashed as one.
    """
    total = 0
    for own in stored.contents.parts:
        step = BATCH * own.together
        for first in range(own.first, own.last, step):
            total += _sum(stored, first, min(first + step, own.last), own.together)
    return total % (1 << 64)


def _sum(stored: Stored, first: int, last: int, together: int) -> int:
    fields = _fields(stored, first, last)
    several = [one.some(i, together) for i in range(together) for one in fields]
    size = sum(int((one.ends - one.begins).max(initial=0)) + 1 for one in several)
    return int(sum_records(tuple(several), np.zeros(size + 8, np.uint8)))


def _fields(stored: Stored, first: int, last: int) -> list[Field]:
    """Return the names, sequences, plus lines and qualities of records; empty if not stored."""
    nothing = np.zeros(last - first, np.int64)
    none = Field(np.empty(0, np.uint8), nothing, nothing)
    name, sequence, quality = (
        stored.lines(name, first, last) if stored.has(name) else none
        for name in ("name", "sequence", "quality")
    )
    return [name, sequence, read_plus_lines(stored, name, first, last), quality]
