"""The journal: which batches of a job are finished, stored in the target with their chunks. It is a
hidden folder below the array, which neither a listing of the group nor the array sees. At the root
of a group every reader would warn of an object unknown to Zarr.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace

from zarr.core.buffer import Buffer

from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.state.records import FORMAT, Records, unpack

FOLDER = ".gangsaw"
BATCH_CHUNKS = 64  # hides the scheduling of a task; 10^6 chunks are 16 k journal entries
BATCH_BYTES = 64 << 20  # at most this many bytes of raw samples are redone after a kill
ENTRY_BYTES = 1 << 10  # of a journal entry, about
MIN_BATCHES = 256  # small jobs keep many workers busy to the end


@dataclass(frozen=True)
class Job:
    """What makes a job the same job: resume compares it field by field.

    Attributes
    ----------
    source : identity of the source and name of its array
    array : sha256 of the target array's metadata: shape, dtype, chunks, codec and parameters
    n_chunks : number of chunks
    batch_chunks : chunks per journal entry
    """

    source: str
    array: str
    n_chunks: int
    batch_chunks: int

    @property
    def fingerprint(self) -> str:
        """64 hexadecimal digits."""
        return hashlib.sha256(self.to_json()).hexdigest()

    @property
    def batches(self) -> list[range]:
        """Numbers of the chunks of each batch."""
        step = self.batch_chunks
        return [range(i, min(i + step, self.n_chunks)) for i in range(0, self.n_chunks, step)]

    def to_json(self) -> bytes:
        """Return canonical JSON."""
        return json.dumps({"format": FORMAT, **asdict(self)}, sort_keys=True).encode()


def batch_chunks(n_chunks: int, chunk_bytes: int) -> int:
    """Return the number of chunks per batch: from the data alone, so that any resume agrees."""
    return max(1, min(BATCH_CHUNKS, n_chunks // MIN_BATCHES, BATCH_BYTES // max(1, chunk_bytes)))


@dataclass(frozen=True)
class Journal:
    """The journal of one array.

    Attributes
    ----------
    array : place of the target array
    job : fingerprint; entries of another job do not count
    batch_chunks : chunks per entry
    """

    array: Place
    job: str
    batch_chunks: int

    def read(self, batch: range) -> Records | None:
        """Return the batch's entry; None where there is none, or a torn or foreign one."""
        return self._checked(self.array.get(self._key(batch)), batch)

    def begin(self, batch: range) -> bool:
        """Begin to read an entry; False where nothing is gained by that. See `Place`, for all."""
        return self.array.begin(self._key(batch), ENTRY_BYTES)

    def ready(self, batch: range) -> None:
        """Wait for an entry that `begin` began."""
        self.array.ready(self._key(batch))

    def forget(self, batch: range) -> None:
        """Let go of an entry that `begin` began and nobody asked for."""
        self.array.forget(self._key(batch))

    def write(self, records: Records) -> None:
        """Add the entry of a finished batch; its chunks must be safe in the store already.

        The entry itself is not synced: if a power cut loses it, its batch is repeated.
        """
        self.array.put(self._key(records.batch), records.pack())

    def read_all(self, batches: list[range]) -> dict[int, Records]:
        """Return all valid entries of these batches by their first chunk."""
        present = set((self.array / FOLDER / "journal").names())
        listed = [batch for batch in batches if self._name(batch) in present]
        stored = self.array.get_many(self._key(batch) for batch in listed)
        entries = map(self._checked, stored, listed)
        return {records.first: records for records in entries if records is not None}

    def delete(self, batch: range) -> None:
        """Delete the entry of a batch if there is one: its chunks are gone."""
        self.array.delete(self._key(batch))

    def remove(self) -> None:
        """Delete all entries: the manifest holds them now."""
        (self.array / FOLDER / "journal").delete_all()

    def _checked(self, stored: Buffer | None, batch: range) -> Records | None:
        records = None if stored is None else unpack(stored.to_bytes())
        valid = records is not None and records.job == self.job and records.batch == batch
        return replace(records, from_journal=True) if records is not None and valid else None

    def _name(self, batch: range) -> str:
        return f"{batch.start // self.batch_chunks:08d}"

    def _key(self, batch: range) -> str:
        return f"{FOLDER}/journal/{self._name(batch)}"
