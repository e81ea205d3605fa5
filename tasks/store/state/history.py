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

from gangsaw.tasks.store.objects.prefix import Place
from gangsaw.tasks.store.state.journal import FOLDER
from gangsaw.tasks.store.typed import as_count, read_fields

HISTORY = f"{FOLDER}/history"
MOST_ENTRIES = 100  # older entries are dropped
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PastJob:
    """Entry of a job that ended; a killed job writes none.

    Attributes
    ----------
    command : such as "compress"
    version : version of Gangsaw
    began, ended : ISO 8601, UTC
    outcome : "done", "failed" or "interrupted"
    chunks : of the store that were done by then, `resumed` of them by earlier runs
    raw_bytes, stored_bytes : of these chunks
    workers : processes that took part
    source_bytes : of the files that the store was made of; 0 where that is not known
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


def note(array: Place, entry: PastJob) -> None:
    """Add an entry; a failed write is logged and raises nothing."""
    try:
        known = [*_unpacked(array.get(HISTORY)), entry][-MOST_ENTRIES:]
        lines = [json.dumps(asdict(one)) for one in known]
        array.put(HISTORY, "\n".join([*lines, ""]).encode())
    except Exception as error:
        log.debug("%s: no history can be written: %s", array, error)


def read_history(store: Place, arrays: Iterable[str]) -> tuple[PastJob, ...]:
    """Return the entries of a store, oldest first.

    Parameters
    ----------
    store : prefix of the store
    arrays : paths of its arrays, one of which has the history
    """
    stored = store.get_many([f"{name}/{HISTORY}" if name else HISTORY for name in sorted(arrays)])
    return next((found for one in stored if (found := _unpacked(one))), ())


def _unpacked(stored: Buffer | None) -> tuple[PastJob, ...]:
    """Return the entries in an object; invalid lines are skipped."""
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
