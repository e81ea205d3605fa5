"""The history of a store: which jobs wrote it, when, and how they ended; beside the manifest of its
first array. Nothing stands on it: a store without one, or with a damaged one, is as good.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import datetime

from zarr.core.buffer import Buffer

from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.state.journal import FOLDER

HISTORY = f"{FOLDER}/history"
MOST_ENTRIES = 100  # the last ones are kept
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PastJob:
    """A job that ended; one that was killed could not say so.

    Attributes
    ----------
    command : such as "compress"
    version : of Gangsaw
    began, ended : ISO 8601, UTC
    outcome : "done", "failed" or "interrupted"
    chunks : of the store that were done by then, `resumed` of them by earlier runs
    raw_bytes, stored_bytes : of these chunks
    workers : processes that took part
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

    @property
    def seconds(self) -> float:
        """From its begin to its end."""
        began, ended = (datetime.fromisoformat(when) for when in (self.began, self.ended))
        return (ended - began).total_seconds()


TYPES = {field.name: {"str": str, "int": int}[str(field.type)] for field in fields(PastJob)}


def note(array: Place, entry: PastJob) -> None:
    """Add an entry; that it cannot be written is logged, and fails nothing."""
    try:
        known = [*_unpacked(array.get(HISTORY)), entry][-MOST_ENTRIES:]
        lines = [json.dumps(asdict(one)) for one in known]
        array.put(HISTORY, "\n".join([*lines, ""]).encode())
    except Exception as error:
        log.debug("%s: no history can be written: %s", array, error)


def read_history(store: Place, arrays: Iterable[str]) -> tuple[PastJob, ...]:
    """Return the entries of a store, the oldest one first.

    Parameters
    ----------
    store : its place
    arrays : paths of its arrays, one of which holds them
    """
    stored = store.get_many([f"{name}/{HISTORY}" if name else HISTORY for name in sorted(arrays)])
    return next((found for one in stored if (found := _unpacked(one))), ())


def _unpacked(stored: Buffer | None) -> tuple[PastJob, ...]:
    """Return the entries of an object; lines that are none are left out."""
    if stored is None:
        return ()
    text = stored.to_bytes().decode(errors="replace")
    found = (_entry(line) for line in text.splitlines())
    return tuple(entry for entry in found if entry is not None)


def _entry(line: str) -> PastJob | None:
    try:
        values = json.loads(line)
        entry = PastJob(**{name: kind(values[name]) for name, kind in TYPES.items()})
        return entry if isinstance(entry.seconds, float) else None  # times that are none raise
    except (ValueError, TypeError, LookupError):
        return None
