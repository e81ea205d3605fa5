"""The manifest: the journal of a finished array folded into one object."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.journal import FOLDER
from gangsaw.tasks.place import Place
from gangsaw.tasks.records import Records, unpack

MANIFEST = f"{FOLDER}/manifest"


def fold(entries: Iterable[Records]) -> Records:
    """Return one record of all chunks; the entries must cover them without a gap."""
    ordered = sorted(entries, key=lambda records: records.first)
    rows = np.concatenate([records.rows for records in ordered])
    if [r.first for r in ordered] != [0, *np.cumsum([len(r.rows) for r in ordered])][:-1]:
        raise AssertionError("a manifest with a gap")
    return Records(ordered[0].job, 0, sum(r.raw_bytes for r in ordered), rows)


def write_manifest(array: Place, records: Records) -> None:
    """Write the manifest; from then on the array counts as finished."""
    array.put(MANIFEST, records.pack())
    array.flush([MANIFEST])


def read_manifest(array: Place) -> Records | None:
    """Return the manifest, or None where there is none; raise CorruptChunk for damaged bytes."""
    stored = array.get(MANIFEST)
    if stored is None:
        return None
    if (records := unpack(stored.to_bytes())) is None:
        raise CorruptChunk("the manifest is damaged", store=str(array), chunk=MANIFEST)
    return records
