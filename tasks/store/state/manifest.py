"""The manifest: the journal of a finished array folded into one object, or into parts below a root.

Up to PART_ROWS chunks are one object, as `records` has it. More are in `.gangsaw/parts`, an object
of records for each PART_ROWS chunks, and the manifest is their root:

    8 hexadecimal digits, CRC-32C of all that follows the next space; a space
    one line of JSON: format (2), job, count (of chunks), raw_bytes, part_rows
    a row of 20 bytes for each part, little-endian: raw bytes and stored bytes (uint64), CRC-32C of
    the part's object (uint32)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.store.chunks import ArrayCoder
from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.state import parts
from gangsaw.tasks.store.state.parts import FOLDER, PART, read_part, write_part
from gangsaw.tasks.store.state.records import Records, joined, sealed, unpack, unsealed

MANIFEST = f"{FOLDER}/manifest"
IN_PARTS = 2  # format of a root
HELD = 2  # parts that a reader holds: one that is read, one that the next batches need


@dataclass(frozen=True, eq=False)
class Manifest:
    """Records of all chunks of an array, read part by part.

    Attributes
    ----------
    array : place of the array
    job : fingerprint of the job that made it
    n_chunks, raw_bytes, stored_bytes : of all
    whole : all records, where they are one object; None where they are in parts
    table : (parts,) of dtype PART
    part_rows : chunks of each part but the last
    """

    array: Place
    job: str
    n_chunks: int
    raw_bytes: int
    stored_bytes: int
    whole: Records | None
    table: NDArray[np.void]
    part_rows: int

    def part(self, number: int) -> Records:
        """Return the records of a part; raise CorruptChunk where it is absent or damaged."""
        return self.whole if self.whole is not None else _part(self, number)

    def parts(self) -> Iterator[Records]:
        """Yield the records of one part after the other."""
        return map(self.part, range(1 if self.whole is not None else len(self.table)))

    def cut(self, batch: range) -> Records:
        """Return the records of chunks within one part, of texts with raw bytes unknown: 0."""
        part = self.part(batch.start // self.part_rows)
        first = batch.start - part.first
        return Records(self.job, batch.start, 0, part.rows[first : first + len(batch)])

    def check(self) -> None:
        """Raise CorruptChunk where a part is absent or damaged."""
        for number in range(len(self.table)):
            self.checked_part(number)

    def checked_part(self, number: int) -> Records:
        """Read a part, and compare it with its row."""
        rows = range(number * self.part_rows, min((number + 1) * self.part_rows, self.n_chunks))
        found = read_part(self.array, number)
        if found is None or found[1] != self.table[number] or found[0].batch != rows:
            key = parts.part_key(number)
            where = str(self.array)
            raise CorruptChunk("a part of the manifest is damaged", store=where, chunk=key)
        return found[0]


@lru_cache(maxsize=HELD)
def _part(manifest: Manifest, number: int) -> Records:
    return manifest.checked_part(number)


def fold(job: str, entries: Iterable[Records]) -> Records:
    """Return one record of all chunks of a job; ValueError unless they follow each other."""
    ordered = sorted(entries, key=lambda records: records.first)
    ends = [0, *(records.batch.stop for records in ordered)]
    if any(one.first != end for one, end in zip(ordered, ends, strict=False)):
        raise ValueError("the journal has a gap")
    return joined(job, 0, ordered)


def split(records: Records, batches: Iterable[range], coder: ArrayCoder) -> Iterator[Records]:
    """Yield one record of each batch within others: of texts with raw bytes about."""
    n_all = max(1, sum(map(coder.grid.n_samples, records.batch)))
    for batch in batches:
        n_samples = sum(map(coder.grid.n_samples, batch))
        first = batch.start - records.first
        rows = records.rows[first : first + len(batch)]
        yield Records(records.job, batch.start, records.raw_bytes * n_samples // n_all, rows)


def write_manifest(array: Place, records: Records) -> None:
    """Write the manifest; from then on the array counts as finished."""
    n_chunks = len(records.rows)
    if parts.n_parts(n_chunks) == 1:
        _put(array, records.pack())
        return
    table = np.empty(parts.n_parts(n_chunks), PART)
    for number in range(len(table)):
        batch = parts.part_range(number, n_chunks)
        before = records.raw_bytes * batch.start // n_chunks
        raw_bytes = records.raw_bytes * batch.stop // n_chunks - before
        rows = records.rows[batch.start : batch.stop]
        part = Records(records.job, batch.start, raw_bytes, rows)
        table[number] = write_part(array, number, part)
    write_root(array, records.job, n_chunks, table)


def write_root(array: Place, job: str, n_chunks: int, table: NDArray[np.void]) -> None:
    """Write the manifest of parts that are written; from then on the array counts as finished."""
    header = {
        "format": IN_PARTS,
        "job": job,
        "count": n_chunks,
        "raw_bytes": int(table["raw"].sum()),
        "part_rows": parts.PART_ROWS,
    }
    _put(array, sealed(json.dumps(header).encode() + b"\n" + table.tobytes()))


def open_manifest(array: Place) -> Manifest | None:
    """Return the manifest, or None where there is none; raise CorruptChunk for damaged bytes."""
    stored = array.get(MANIFEST)
    if stored is None:
        return None
    data = stored.to_bytes()
    if (found := _opened(array, data)) is None:
        raise CorruptChunk("the manifest is damaged", store=str(array), chunk=MANIFEST)
    return found


def read_manifest(array: Place) -> Records | None:
    """Return the records of all chunks at once; else as `open_manifest`."""
    found = open_manifest(array)
    if found is None:
        return None
    if found.whole is not None:
        return found.whole
    whole = joined(found.job, 0, list(found.parts()))
    return Records(found.job, 0, found.raw_bytes, whole.rows)


def _put(array: Place, data: bytes) -> None:
    array.put(MANIFEST, data)
    array.flush([MANIFEST])


def _opened(array: Place, data: bytes) -> Manifest | None:
    if (body := unsealed(data)) is None:
        return None
    line, _, rows = body.partition(b"\n")
    header = json.loads(line)
    if header["format"] == IN_PARTS:
        return _of_parts(array, header, rows)
    if (whole := unpack(data)) is None:
        return None
    n = len(whole.rows)
    sums = whole.raw_bytes, whole.stored_bytes
    return Manifest(array, whole.job, n, *sums, whole, np.empty(0, PART), max(1, n))


def _of_parts(array: Place, header: Mapping[str, int | str], rows: bytes) -> Manifest | None:
    n_chunks, part_rows = int(header["count"]), int(header["part_rows"])
    if part_rows < 1 or len(rows) != -(-n_chunks // part_rows) * PART.itemsize:
        return None
    table = np.frombuffer(rows, PART)
    sums = int(header["raw_bytes"]), int(table["stored"].sum())
    return Manifest(array, str(header["job"]), n_chunks, *sums, None, table, part_rows)
