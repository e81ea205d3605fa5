"""Job folder: a prefix that a job writes, whose it is, and whether the job has finished."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.state.journal import FOLDER
from gangsaw.tasks.store.state.manifest import MANIFEST
from gangsaw.tasks.store.state_fields import fields_at, text_at

JOB = f"{FOLDER}/job.json"  # job of an array in a store
ORIGIN = f"{FOLDER}/stream.json"  # job of a stream before anything was read from it
STEPS_JOB = "job.json"  # job of a folder with the outputs of steps


class FolderOwner(Enum):
    """Owner of a folder, seen from one job."""

    NOBODY = auto()
    THIS_JOB = auto()
    OTHER_JOB = auto()


class FolderState(Enum):
    """State of a folder: how far the job that writes it is."""

    FOREIGN = auto()  # no job began: the array is absent, or of another program
    UNFINISHED = auto()
    FINISHED = auto()


@dataclass(frozen=True)
class JobFolder:
    """Prefix that a job writes, and the object in it that identifies the job.

    Attributes
    ----------
    place : store prefix of an array, or of a folder with the outputs of steps
    key : key of the identity: `JOB`, `ORIGIN` or `STEPS_JOB`
    """

    place: Prefix
    key: str = JOB

    @property
    def has_job(self) -> bool:
        """True if a job began here."""
        return self.place.has(self.key)

    @property
    def state(self) -> FolderState:
        """State of the job: it has finished as soon as there is a manifest."""
        # one byte of each: a manifest may be long
        job, manifest = self.place.get_heads([self.key, MANIFEST], 1)
        if manifest is not None:
            return FolderState.FINISHED
        return FolderState.FOREIGN if job is None else FolderState.UNFINISHED

    def identity(self) -> bytes | None:
        """Return the identity of the job that began here; None without one."""
        found = self.place.get(self.key)
        return None if found is None else found.to_bytes()

    def owner(self, identity: bytes) -> FolderOwner:
        """Return whose folder it is, seen from the job of this identity."""
        found = self.identity()
        if found is None:
            return FolderOwner.NOBODY
        return FolderOwner.THIS_JOB if found == identity else FolderOwner.OTHER_JOB

    def claim(self, identity: bytes) -> bool:
        """Write the identity if the folder is nobody's; return False if it is another job's."""
        owner = self.owner(identity)
        if owner is FolderOwner.NOBODY:
            self.place.put(self.key, identity)
        return owner is not FolderOwner.OTHER_JOB

    def fields(self) -> Mapping[str, object] | None:
        """Return the fields of the identity, or None without a job.

        Raises
        ------
        CorruptChunk : it is no JSON object; the error names the store
        """
        found = self.identity()
        return None if found is None else fields_at(found, str(self.place), self.key).values

    def text(self, name: str) -> str:
        """Return a string field of the identity; "" without a job.

        Raises
        ------
        CorruptChunk : there is no such field; the error names the store
        """
        found = self.identity()
        return "" if found is None else text_at(found, name, str(self.place), self.key)
