"""History of a store: command, times and outcome of the jobs that wrote it.

It is stored next to the manifest of the store's first array. Nothing depends on it: a store with a
missing or damaged history is valid.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime

from zarr.core.buffer import Buffer

from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.state.journal import FOLDER
from gangsaw.tasks.store.state_fields import as_count, read_fields

HISTORY = f"{FOLDER}/history"
MOST_ENTRIES = 100  # older entries are dropped
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PastJob:
    """Entry in the history of a store, about a job that ended; a killed job writes none.

    Attributes
    ----------
    command : command of the job, such as "compress"
    version : version of Gangsaw
    began, ended : times of begin and end, ISO 8601 in UTC
    outcome : "done", "failed" or "interrupted"
    chunks, resumed : finished chunks of the store, and how many of them earlier runs had finished
    raw_bytes, stored_bytes : bytes of these chunks
    workers : number of processes that took part
    source_bytes : bytes of the input files; 0 if unknown
    """

    command: str
    version: str
    began: str
    ended: str
    outcome: str
    chunks: int = 0
    resumed: int = 0
    raw_bytes: int = 0
    stored_bytes: int = 0
    workers: int = 0
    source_bytes: int = 0

    @property
    def seconds(self) -> float:
        """Duration of the job in seconds."""
        began, ended = (datetime.fromisoformat(when) for when in (self.began, self.ended))
        return (ended - began).total_seconds()


def append_entry(array: Prefix, entry: PastJob) -> None:
    """Append an entry to the job history of an array; log a failed write without raising."""
    try:
        known = [*_unpacked(array.get(HISTORY)), entry][-MOST_ENTRIES:]
        lines = [json.dumps(asdict(one)) for one in known]
        array.put(HISTORY, "\n".join([*lines, ""]).encode())
    except Exception as error:
        log.debug("%s: no history can be written: %s", array, error)


def read_history(store: Prefix, arrays: Iterable[str]) -> tuple[PastJob, ...]:
    """Return the entries of a store, oldest first.

    Parameters
    ----------
    store : prefix of the store
    arrays : paths of its arrays, one of which has the history below it
    """
    stored = store.get_many([f"{name}/{HISTORY}" if name else HISTORY for name in sorted(arrays)])
    return next((found for one in stored if (found := _unpacked(one))), ())


def _unpacked(stored: Buffer | None) -> tuple[PastJob, ...]:
    """Return the history entries in an object, one JSON line each; invalid lines are skipped."""
    if stored is None:
        return ()
    text = stored.to_bytes().decode(errors="replace")
    found = (_entry(line) for line in text.splitlines())
    return tuple(entry for entry in found if entry is not None)


def _entry(line: str) -> PastJob | None:
    try:
        found = read_fields(line)
        entry = PastJob(
            command=found.text("command"),
            version=found.text("version"),
            began=found.text("began"),
            ended=found.text("ended"),
            outcome=found.text("outcome"),
            chunks=found.count("chunks"),
            resumed=found.count("resumed"),
            raw_bytes=found.count("raw_bytes"),
            stored_bytes=found.count("stored_bytes"),
            workers=found.count("workers"),
            source_bytes=as_count(found.values.get("source_bytes", 0), "source_bytes"),
        )
        return entry if isinstance(entry.seconds, float) else None  # invalid times raise
    except (ValueError, TypeError):  # CorruptChunk is a ValueError
        return None
