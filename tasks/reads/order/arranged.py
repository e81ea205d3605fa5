"""Records in their new order, as the steps of an order left them: read range by range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.jobs.parts import Parts
from gangsaw.tasks.reads.files.kernels import LINES
from gangsaw.tasks.reads.files.records import Mates, ReadFile
from gangsaw.tasks.reads.order.groups import ReadGroups, Segments, unpacked
from gangsaw.tasks.reads.order.intake import Facts


@dataclass(frozen=True)
class Arranged:
    """ReadGroups of records in order.

    Attributes
    ----------
    parts : an object per range
    n_ranges : how many
    facts : of the input
    is_input : whether they are the parts of the input, in its order
    """

    parts: Parts
    n_ranges: int
    facts: Facts
    is_input: bool = False

    def tried(self) -> Iterator[tuple[str, int]]:
        """Yield the order of each range, by its name, and its bytes; none without a trial."""
        for number in range(self.n_ranges):
            segments = self._segments(number)
            if segments.sizes.size > 1:
                n_bytes, name = segments.read(1).tobytes().decode().split()
                yield name, int(n_bytes)

    def _segments(self, number: int) -> Segments:
        return Segments(self.parts.path(number))

    def groups(self, files: Sequence[ReadFile]) -> Iterator[Mates]:
        """Yield the groups; `files`, which are not read, know what they would know.

        Raises CorruptChunk where they are not those that were read.
        """
        for file, own in zip(files, self.facts.files, strict=True):
            own.tell(file)
        n, digest = 0, 0
        for number in range(self.n_ranges):
            segment = self._segments(number).read(0)
            if not segment.size:
                continue
            batch = unpacked([segment])
            _note_ends(batch, n, files)
            n, digest = n + len(batch), (digest + batch.digest()) % (1 << 64)
            yield batch.mates
        if (n, digest) != (self.facts.groups, self.facts.digest):
            raise CorruptChunk(
                f"{self.parts.folder}: the records in order are not those that were read: "
                "start again with --overwrite"
            )


def _note_ends(batch: ReadGroups, first: int, files: Sequence[ReadFile]) -> None:
    """Add the lines of groups that end unlike most, numbered as those of each file."""
    per_file = batch.odd.shape[1] // len(files)
    for i, file in enumerate(files):
        own = batch.odd[:, i * per_file : (i + 1) * per_file].reshape(-1)
        records = np.flatnonzero(own)
        bits = own[records, None] >> np.arange(LINES) & 1
        lines = (records + first * per_file)[:, None] * LINES + np.arange(LINES)
        if records.size:
            file.odd_ends.add(lines[bits == 1][:, None])
        file.n_records += own.size
