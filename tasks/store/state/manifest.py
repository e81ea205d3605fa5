"""Manifest of a finished array: its journal as one object, or as parts below a root.

Up to PART_ROWS chunks are one object in the format of `records`. More are in `.gangsaw/parts`, an
object of records for each PART_ROWS chunks, and the manifest is their root:

    8 hexadecimal digits, CRC-32C of all that follows the next space; a space
    one line of JSON: format (2), job, count (of chunks), raw_bytes, part_rows
    a row of 20 bytes for each part, little-endian: raw bytes and stored bytes (uint64), CRC-32C of
    the part's object (uint32)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.store.arrays.chunks import ArrayCoder
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.state import manifest_shards
from gangsaw.tasks.store.state.manifest_shards import FOLDER, PART, read_part, write_part
from gangsaw.tasks.store.state.records import (
    Records,
    add_checksum,
    concatenate_records,
    strip_checksum,
    unpack_records,
)
from gangsaw.tasks.store.state_fields import StateFields, read_fields

MANIFEST = f"{FOLDER}/manifest"
IN_PARTS = 2  # value of "format" in a root
CACHED_PARTS = 2  # cached parts: one that is read, one that the next batches need


@dataclass(frozen=True, eq=False)
class Manifest:
    """Manifest of a finished array: stored bytes and checksum of each chunk, read part by part.

    Attributes
    ----------
    array : store prefix of the array
    job : fingerprint of the job that wrote it
    n_chunks, raw_bytes, stored_bytes : number, raw size and stored size of all chunks
    whole : all records if they are one object; None if they are in parts
    table : (parts,) of dtype PART, sizes and checksum of each part
    part_rows : chunks of each part but the last
    """

    array: Prefix
    job: str
    n_chunks: int
    raw_bytes: int
    stored_bytes: int
    whole: Records | None
    table: NDArray[np.void]
    part_rows: int

    def part(self, number: int) -> Records:
        """Return the records of a part by its number; raise CorruptChunk if absent or damaged."""
        return self.whole if self.whole is not None else _part(self, number)

    def parts(self) -> Iterator[Records]:
        """Yield the records of each part in order."""
        return map(self.part, range(1 if self.whole is not None else len(self.table)))

    def cut(self, batch: range) -> Records:
        """Return the records of a batch that lies within one part; raw bytes of strings are 0."""
        part = self.part(batch.start // self.part_rows)
        first = batch.start - part.first
        return Records(self.job, batch.start, 0, part.rows[first : first + len(batch)])

    def check(self) -> None:
        """Raise CorruptChunk if a part is absent or damaged."""
        for number in range(len(self.table)):
            self.checked_part(number)

    def checked_part(self, number: int) -> Records:
        """Return the records of a part; raise CorruptChunk if they do not match their table row."""
        rows = range(number * self.part_rows, min((number + 1) * self.part_rows, self.n_chunks))
        found = read_part(self.array, number)
        if found is None or found[1] != self.table[number] or found[0].batch != rows:
            key = manifest_shards.part_key(number)
            where = str(self.array)
            raise CorruptChunk("a part of the manifest is damaged", store=where, chunk=key)
        return found[0]


@lru_cache(maxsize=CACHED_PARTS)
def _part(manifest: Manifest, number: int) -> Records:
    return manifest.checked_part(number)


def fold_parts(job: str, entries: Iterable[Records]) -> Records:
    """Concatenate journal entries in any order to the records of all chunks of a job.

    Raises ValueError if a chunk is missing.
    """
    ordered = sorted(entries, key=lambda records: records.first)
    ends = [0, *(records.batch.stop for records in ordered)]
    if any(one.first != end for one, end in zip(ordered, ends, strict=False)):
        raise ValueError("the journal has a gap")
    return concatenate_records(job, 0, ordered)


def split_records(
    records: Records, batches: Iterable[range], coder: ArrayCoder
) -> Iterator[Records]:
    """Yield the records of each batch; raw bytes of strings are approximate."""
    n_all = max(1, sum(map(coder.grid.n_samples, records.batch)))
    for batch in batches:
        n_samples = sum(map(coder.grid.n_samples, batch))
        first = batch.start - records.first
        rows = records.rows[first : first + len(batch)]
        yield Records(records.job, batch.start, records.raw_bytes * n_samples // n_all, rows)


def write_manifest(array: Prefix, records: Records) -> None:
    """Write the manifest, which marks the array as finished."""
    n_chunks = len(records.rows)
    if manifest_shards.n_parts(n_chunks) == 1:
        _put(array, records.pack())
        return
    table = np.empty(manifest_shards.n_parts(n_chunks), PART)
    for number in range(len(table)):
        batch = manifest_shards.part_range(number, n_chunks)
        before = records.raw_bytes * batch.start // n_chunks
        raw_bytes = records.raw_bytes * batch.stop // n_chunks - before
        rows = records.rows[batch.start : batch.stop]
        part = Records(records.job, batch.start, raw_bytes, rows)
        table[number] = write_part(array, number, part)
    write_root(array, records.job, n_chunks, table)


def write_root(array: Prefix, job: str, n_chunks: int, table: NDArray[np.void]) -> None:
    """Write the root of a manifest in parts, which marks the array as finished.

    Parameters
    ----------
    job : fingerprint of the job
    n_chunks : number of chunks of the array
    table : (parts,) of dtype PART
    """
    header = {
        "format": IN_PARTS,
        "job": job,
        "count": n_chunks,
        "raw_bytes": int(table["raw"].sum()),
        "part_rows": manifest_shards.PART_ROWS,
    }
    _put(array, add_checksum(json.dumps(header).encode() + b"\n" + table.tobytes()))


def open_manifest(array: Prefix) -> Manifest | None:
    """Return the manifest, or None if it is absent; raise CorruptChunk for damaged bytes."""
    stored = array.get(MANIFEST)
    if stored is None:
        return None
    data = stored.to_bytes()
    try:
        return _opened(array, data)
    except CorruptChunk as error:
        reason = f"the manifest is damaged: {error.reason}"
        raise CorruptChunk(reason, store=str(array), chunk=MANIFEST) from None


def read_manifest(array: Prefix) -> Records | None:
    """Return the records of all chunks, or None without a manifest; see `open_manifest`."""
    found = open_manifest(array)
    if found is None:
        return None
    if found.whole is not None:
        return found.whole
    whole = concatenate_records(found.job, 0, list(found.parts()))
    return Records(found.job, 0, found.raw_bytes, whole.rows)


def _put(array: Prefix, data: bytes) -> None:
    array.put(MANIFEST, data)
    array.flush([MANIFEST])


def _opened(array: Prefix, data: bytes) -> Manifest:
    if (body := strip_checksum(data)) is None:
        raise CorruptChunk("the checksum differs")
    line, _, rows = body.partition(b"\n")
    header = read_fields(line)
    if header.count("format") == IN_PARTS:
        return _of_parts(array, header, rows)
    if (whole := unpack_records(data)) is None:
        raise CorruptChunk("its fields are not those of a manifest")
    if whole.first:
        raise CorruptChunk(f"it begins at chunk {whole.first}")
    n = len(whole.rows)
    sums = whole.raw_bytes, whole.stored_bytes
    return Manifest(array, whole.job, n, *sums, whole, np.empty(0, PART), max(1, n))


def _of_parts(array: Prefix, header: StateFields, rows: bytes) -> Manifest:
    n_chunks, part_rows = header.count("count"), header.count("part_rows")
    if part_rows < 1 or len(rows) != -(-n_chunks // part_rows) * PART.itemsize:
        raise CorruptChunk("its parts are not as many as its chunks need")
    table = np.frombuffer(rows, PART)
    sums = header.count("raw_bytes"), int(table["stored"].sum())
    return Manifest(array, header.text("job"), n_chunks, *sums, None, table, part_rows)
