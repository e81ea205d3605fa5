"""Records of finished chunks, packed into one checksummed object: journal entry or manifest.

    8 hexadecimal digits, CRC-32C of all that follows the next space; a space
    one line of JSON: format, job, first, count, raw_bytes
    count rows of 12 bytes, little-endian: stored bytes (uint64), CRC-32C of them (uint32)

A row belongs to the chunk `first` plus its index, in C order. So no key is stored: the array's
metadata gives it. A million chunks are 12 MB. Only the lengths are compressible, so there is no
codec. A journal entry of several batches lists for each, as `batches`, its number of rows and its
raw_bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from zarr.core.buffer import Buffer

from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.store.state_fields import read_fields

FORMAT = 1
ROW = np.dtype([("stored", "<u8"), ("crc32c", "<u4")])


@dataclass(frozen=True, eq=False)
class Records:
    """Stored size and checksum of each of some consecutive finished chunks.

    Attributes
    ----------
    job : fingerprint of the job that wrote them
    first : number of the first chunk
    raw_bytes : size of the samples of all these chunks
    rows : (n,) of dtype ROW: stored bytes and CRC-32C of each chunk
    from_journal : True if they were read from the journal
    """

    job: str
    first: int
    raw_bytes: int
    rows: NDArray[np.void]
    from_journal: bool = False

    @property
    def stored_bytes(self) -> int:
        """Sum of the stored bytes of the chunks."""
        return int(self.rows["stored"].sum())

    @property
    def batch(self) -> range:
        """Numbers of the chunks."""
        return range(self.first, self.first + len(self.rows))

    def pack(self) -> bytes:
        """Serialize the records as a journal entry or manifest; equal records give equal bytes."""
        return self._pack({})

    def _pack(self, more: dict[str, object]) -> bytes:
        header = {
            "format": FORMAT,
            "job": self.job,
            "first": self.first,
            "count": len(self.rows),
            "raw_bytes": self.raw_bytes,
        }
        rows = np.ascontiguousarray(self.rows).view(np.uint8).data
        return add_checksum(json.dumps(header | more).encode() + b"\n", rows)


def check_stored(stored: Buffer, row: np.void) -> None:
    """Raise CorruptChunk unless length and CRC of a stored chunk match its row of the manifest."""
    if len(stored) != row["stored"]:
        raise CorruptChunk(f"{len(stored)} bytes, the manifest says {row['stored']}")
    if crc32c(stored.as_numpy_array()) != row["crc32c"]:
        raise CorruptChunk("the checksum differs from the manifest's")


def add_checksum(*body: bytes | memoryview) -> bytes:
    """Return the concatenated pieces after their CRC-32C in 8 hexadecimal digits and a space."""
    check = 0
    for piece in body:
        check = crc32c(piece, check, is_alone=True)
    return b"".join((b"%08x " % check, *body))


def strip_checksum(data: bytes) -> bytes | None:
    """Return the data that `add_checksum` prefixed, or None if they are truncated or damaged."""
    return data[9:] if _has_valid_checksum(data) else None


def _has_valid_checksum(data: bytes) -> bool:
    return data[:9] == b"%08x " % crc32c(memoryview(data)[9:], is_alone=True)


def concatenate_records(job: str, first: int, several: Sequence[Records]) -> Records:
    """Concatenate the records of consecutive batches; the sequence may be empty."""
    rows = np.concatenate([np.empty(0, ROW), *(records.rows for records in several)])
    return Records(job, first, sum(records.raw_bytes for records in several), rows)


def pack_batches(several: Sequence[Records]) -> bytes:
    """Serialize consecutive batches as one journal entry; a single one as `Records.pack` does."""
    whole = concatenate_records(several[0].job, several[0].first, several)
    counts = [[len(records.rows), records.raw_bytes] for records in several]
    return whole._pack({"batches": counts} if len(several) > 1 else {})


def unpack_records(data: bytes) -> Records | None:
    """Return the records in a journal entry or manifest; None if damaged or of unknown format."""
    found = _unpacked(data)
    return None if found is None else found[0]


def unpack_batches(data: bytes) -> list[Records] | None:
    """Return the records of each batch in a journal entry; None as for `unpack_records`."""
    if (found := _unpacked(data)) is None:
        return None
    whole, counts = found
    return list(_cut(whole, counts)) if counts else [whole]


def _unpacked(data: bytes) -> tuple[Records, list[list[int]]] | None:
    if not _has_valid_checksum(data):
        return None
    try:
        return _read(data)
    except CorruptChunk:
        return None


def _read(data: bytes) -> tuple[Records, list[list[int]]]:
    start = data.find(b"\n") + 1
    header = read_fields(data[9:start])
    n, counts = header.count("count"), header.counts("batches", 2)
    if header.count("format") != FORMAT or len(data) - start != n * ROW.itemsize:
        raise CorruptChunk("of an unknown format, or truncated")
    if counts and sum(rows for rows, _ in counts) != n:
        raise CorruptChunk("its batches have other rows")
    table = np.frombuffer(data, ROW, offset=start)  # a view: a million rows are not copied
    first, raw_bytes = header.count("first"), header.count("raw_bytes")
    return Records(header.text("job"), first, raw_bytes, table), counts


def _cut(whole: Records, counts: Sequence[Sequence[int]]) -> Iterator[Records]:
    first = 0
    for n, raw_bytes in counts:
        yield Records(whole.job, whole.first + first, raw_bytes, whole.rows[first : first + n])
        first += n
