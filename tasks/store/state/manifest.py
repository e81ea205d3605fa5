"""The manifest: the journal of a finished array folded into one object."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import accumulate

import numpy as np

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.store.chunks import ArrayCoder
from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.state.journal import FOLDER
from gangsaw.tasks.store.state.records import ROW, Records, unpack

MANIFEST = f"{FOLDER}/manifest"


def fold(job: str, entries: Iterable[Records]) -> Records:
    """Return one record of all chunks of a job; ValueError unless they follow each other."""
    ordered = sorted(entries, key=lambda records: records.first)
    rows = np.concatenate([np.empty(0, ROW), *(records.rows for records in ordered)])
    ends = accumulate(len(records.rows) for records in ordered)
    if any(a.batch.stop != end for a, end in zip(ordered, ends, strict=True)):
        raise ValueError("the journal has a gap")
    return Records(job, 0, sum(records.raw_bytes for records in ordered), rows)


def split(manifest: Records, batches: Iterable[range], coder: ArrayCoder) -> Iterator[Records]:
    """Yield one record of each batch: what `fold` folded, of texts with raw bytes about."""
    n_all = max(1, math.prod(coder.grid.shape))
    for batch in batches:
        n_samples = sum(coder.grid.n_samples(number) for number in batch)
        rows = manifest.rows[batch.start : batch.stop]
        yield Records(manifest.job, batch.start, manifest.raw_bytes * n_samples // n_all, rows)


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
