"""Records in their new order, as the output of the steps of an order, read range by range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.genomics.reads.files.kernels import LINES
from gangsaw.tasks.genomics.reads.files.records import Mates, ReadFile
from gangsaw.tasks.genomics.reads.order.groups import ReadGroups, Segments, unpack_groups
from gangsaw.tasks.genomics.reads.order.intake import Facts
from gangsaw.tasks.jobs.steps.step_objects import StepOutputs


@dataclass(frozen=True)
class Arranged:
    """Reads in their new order, as the files of an ordering job, range by range.

    Attributes
    ----------
    parts : step output, one file per range
    n_ranges : number of ranges
    facts : attributes of the input files, number and checksum of the reads
    is_input : True if this is the output of the input stage, in the order of the input
    """

    parts: StepOutputs
    n_ranges: int
    facts: Facts
    is_input: bool = False

    def tried(self) -> Iterator[tuple[str, int]]:
        """Yield the chosen order of each range and its bytes; nothing unless orders were tried."""
        for number in range(self.n_ranges):
            segments = self._segments(number)
            if segments.sizes.size > 1:
                n_bytes, name = segments.read(1).tobytes().decode().split()
                yield name, int(n_bytes)

    def _segments(self, number: int) -> Segments:
        return Segments(self.parts.path(number))

    def groups(self, files: Sequence[ReadFile]) -> Iterator[Mates]:
        """Yield batches of mates; set the attributes of `files` as if they had been read.

        Raises CorruptChunk if number or checksum differ from those of the input.
        """
        for file, own in zip(files, self.facts.files, strict=True):
            own.tell(file)
        n, digest = 0, 0
        for number in range(self.n_ranges):
            segment = self._segments(number).read(0)
            if not segment.size:
                continue
            batch = unpack_groups([segment])
            _note_ends(batch, n, files)
            n, digest = n + len(batch), (digest + batch.digest()) % (1 << 64)
            yield batch.mates
        if (n, digest) != (self.facts.groups, self.facts.digest):
            raise CorruptChunk(
                f"{self.parts.folder}: the records in order are not those that were read: "
                "start again with --overwrite"
            )


def _note_ends(batch: ReadGroups, first: int, files: Sequence[ReadFile]) -> None:
    """Add the lines of a batch with an unusual end to each file's `odd_ends`.

    `first` is the number of the first group.
    """
    per_file = batch.odd.shape[1] // len(files)
    for i, file in enumerate(files):
        own = batch.odd[:, i * per_file : (i + 1) * per_file].reshape(-1)
        records = np.flatnonzero(own)
        bits = own[records, None] >> np.arange(LINES) & 1
        lines = (records + first * per_file)[:, None] * LINES + np.arange(LINES)
        if records.size:
            file.odd_ends.add(lines[bits == 1][:, None])
        file.n_records += own.size
