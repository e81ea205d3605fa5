"""Steps whose outputs are numbered objects in a folder, written by workers in any order.

The journal is that of arrays (`gangsaw.tasks.store.state.journal`): an entry is written when its
object is on the disk. Once the step is complete, all entries are folded into a manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.engine.report.progress import Meter
from gangsaw.tasks.engine.run.run import run_batches
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix
from gangsaw.tasks.store.state.journal import Journal
from gangsaw.tasks.store.state.manifest import fold_parts, read_manifest, write_manifest
from gangsaw.tasks.store.state.records import ROW, Records

if TYPE_CHECKING:
    from distributed import Client

Made = tuple[bytes, int]  # an object, and the raw bytes that it stands for


@dataclass(frozen=True)
class StepOutputs:
    """Numbered output objects of a preparatory step, with their journal and manifest.

    Attributes
    ----------
    folder : folder of the objects
    job : identity of the job; entries of another job are ignored
    """

    folder: Path
    job: str

    @property
    def prefix(self) -> Prefix:
        """Store prefix of the folder."""
        return open_prefix(self.folder, writable=True)

    @property
    def journal(self) -> Journal:
        """Journal with an entry per object."""
        return Journal(self.prefix, self.job, 1)

    def path(self, number: int) -> Path:
        """Return the path of an object."""
        return self.folder / _key(number)

    def manifest(self) -> Records | None:
        """Return the records of all objects; None if the step is not complete."""
        found = read_manifest(self.prefix)
        return found if found is not None and found.job == self.job else None

    def put(self, number: int, made: Made) -> Records:
        """Write an object by its number; it counts as finished after `journal_records`.

        Parameters
        ----------
        made : bytes of the object, and the raw bytes that it stands for
        """
        data, raw_bytes = made
        self.prefix.put(_key(number), data)
        row = np.array([(len(data), crc32c(data))], ROW)
        return Records(self.job, number, raw_bytes, row)

    def journal_records(self, records: Sequence[Records]) -> None:
        """Flush objects to the disk, then journal them."""
        new = [one for one in records if not one.from_journal]
        self.prefix.flush(_key(one.first) for one in new)
        for one in new:
            self.journal.write(one)

    def finish(self, entries: Sequence[Records]) -> None:
        """Combine the journal entries into the manifest, which marks the step as complete."""
        write_manifest(self.prefix, fold_parts(self.job, entries))
        self.journal.remove()

    def known(self, n: int) -> dict[int, Records]:
        """Return the journalled records among the first n objects, by number."""
        return self.journal.read_all([range(i, i + 1) for i in range(n)])


def _key(number: int) -> str:
    return f"{number:07d}"


@dataclass(frozen=True)
class StepOutputsTask:
    """Engine task that computes and writes the output objects of a step; its limits are per object.

    Attributes
    ----------
    name : name on the dashboard and in messages
    parts : output of the step
    make : function that returns an object by its number; frozen, picklable and small
    peak_bytes : upper bound of the memory of one call of `make`, in bytes
    waits : True, as a commit waits for the disk
    carried_bytes : a positive value, so that the engine uses threads if there is no client
    """

    name: str
    parts: StepOutputs
    make: Callable[[int], Made]
    peak_bytes: int
    waits: bool = True
    carried_bytes: int = 1

    def __call__(self, number: int) -> Records:
        """Compute and write an object, unless it is journalled; return its record."""
        with name_failed_chunk(str(self.parts.path(number))):
            if (found := self.parts.journal.read(range(number, number + 1))) is not None:
                return found
            return self.parts.put(number, self.make(number))

    def commit(self, numbers: Sequence[int], results: Sequence[Records]) -> None:
        """Journal the written objects."""
        with name_failed_chunk(str(self.parts.path(numbers[0]))):
            self.parts.journal_records(results)


def compute_missing(
    task: StepOutputsTask, n: int, client: Client | None, meter: Meter | None = None
) -> Records:
    """Compute those of a step's n output objects that are missing; return the records of all.

    `meter` counts objects. Those of an earlier run are counted at the start.

    Raises
    ------
    BadParams : a worker has less memory than the task needs
    JobFailed : an object failed; finished objects are safe
    """
    meter = meter or Meter(n, None)
    if (manifest := task.parts.manifest()) is not None:
        meter.add(n, manifest.raw_bytes, 0, resumed=True)
        return manifest
    task.parts.prefix.clean()
    entries = task.parts.known(n)
    meter.add(len(entries), sum(one.raw_bytes for one in entries.values()), 0, resumed=True)
    left = [number for number in range(n) if number not in entries]

    def on_done(number: int, records: Records) -> None:
        entries[number] = records
        meter.add(1, records.raw_bytes, 0)

    run_batches(task, left, on_done, client=client)
    whole = list(entries.values())
    task.parts.finish(whole)
    return fold_parts(task.parts.job, whole)
