"""Steps of numbered objects in a folder: made in any order, on workers, each once journalled.

The journal is that of arrays (`gangsaw.tasks.store.state.journal`): an entry is written when its
object is on the disk, and all are folded into a manifest when the step is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.tasks.engine.failure import naming
from gangsaw.tasks.engine.progress import Meter
from gangsaw.tasks.engine.window import run
from gangsaw.tasks.store.place import Place, open_place
from gangsaw.tasks.store.state.journal import Journal
from gangsaw.tasks.store.state.manifest import fold, read_manifest, write_manifest
from gangsaw.tasks.store.state.records import ROW, Records

if TYPE_CHECKING:
    from distributed import Client

Made = tuple[bytes, int]  # an object, and the bytes that it holds


@dataclass(frozen=True)
class Parts:
    """The objects of a step.

    Attributes
    ----------
    folder : where they are
    job : what they belong to; entries of another job do not count
    """

    folder: Path
    job: str

    @property
    def place(self) -> Place:
        """The folder as the journal knows it."""
        return open_place(self.folder, writable=True)

    @property
    def journal(self) -> Journal:
        """An entry per object."""
        return Journal(self.place, self.job, 1)

    def path(self, number: int) -> Path:
        """Return the file of an object."""
        return self.folder / _key(number)

    def manifest(self) -> Records | None:
        """Return the records of all objects; None where the step is not complete."""
        found = read_manifest(self.place)
        return found if found is not None and found.job == self.job else None

    def put(self, number: int, made: Made) -> Records:
        """Write an object; it counts when `note` was called."""
        data, raw_bytes = made
        self.place.put(_key(number), data)
        row = np.array([(len(data), crc32c(data))], ROW)
        return Records(self.job, number, raw_bytes, row)

    def note(self, records: Sequence[Records]) -> None:
        """Journal objects, when they are on the disk."""
        new = [one for one in records if not one.from_journal]
        self.place.flush(_key(one.first) for one in new)
        for one in new:
            self.journal.write(one)

    def finish(self, entries: Sequence[Records]) -> None:
        """Fold the journal into the manifest: the step is complete."""
        write_manifest(self.place, fold(self.job, entries))
        self.journal.remove()

    def known(self, n: int) -> dict[int, Records]:
        """Return the records of the first n objects that are journalled."""
        return self.journal.read_all([range(i, i + 1) for i in range(n)])


def _key(number: int) -> str:
    return f"{number:07d}"


@dataclass(frozen=True)
class PartsTask:
    """The engine's task that makes objects; its promises are of one object.

    Attributes
    ----------
    name : what the dashboard and messages call it
    parts : where they go
    make : returns an object; frozen, picklable and small
    peak_bytes : memory that it needs at most
    waits : that a commit takes time
    carried_bytes : more than none lets the engine do objects in threads where there is no client
    """

    name: str
    parts: Parts
    make: Callable[[int], Made]
    peak_bytes: int
    waits: bool = True
    carried_bytes: int = 1

    def __call__(self, number: int) -> Records:
        """Make an object and write it; one that is journalled is not made again."""
        with naming(str(self.parts.path(number))):
            if (found := self.parts.journal.read(range(number, number + 1))) is not None:
                return found
            return self.parts.put(number, self.make(number))

    def commit(self, numbers: Sequence[int], results: Sequence[Records]) -> None:
        """Journal objects that are written."""
        with naming(str(self.parts.path(numbers[0]))):
            self.parts.note(results)


def complete(task: PartsTask, n: int, client: Client | None, meter: Meter | None = None) -> Records:
    """Make those of n objects that are not there yet; return the records of all.

    `meter` counts objects, those of an earlier run at once.

    Raises
    ------
    BadParams : a worker has less memory than the task needs
    JobFailed : an object could not be made; those that were are safe
    """
    meter = meter or Meter(n, None)
    if (manifest := task.parts.manifest()) is not None:
        meter.add(n, manifest.raw_bytes, 0, resumed=True)
        return manifest
    task.parts.place.clean()
    entries = task.parts.known(n)
    meter.add(len(entries), sum(one.raw_bytes for one in entries.values()), 0, resumed=True)
    left = [number for number in range(n) if number not in entries]

    def on_done(number: int, records: Records) -> None:
        entries[number] = records
        meter.add(1, records.raw_bytes, 0)

    run(task, left, on_done, client=client)
    whole = list(entries.values())
    task.parts.finish(whole)
    return fold(task.parts.job, whole)
