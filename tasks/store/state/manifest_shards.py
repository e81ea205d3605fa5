"""Parts of a manifest that would be too large for one object: records of PART_ROWS chunks each."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.tasks.store.arrays.chunks import METADATA, README
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.state.records import Records, unpack_records

FOLDER = ".gangsaw"
METADATA_KEYS = {METADATA, README}
PARTS = f"{FOLDER}/parts"
PART_ROWS = 1 << 20  # 12 MiB: memory for each part that a job fills or a reader reads

# row of a part in the root: raw bytes, stored bytes, CRC-32C of the part's object
PART = np.dtype([("raw", "<u8"), ("stored", "<u8"), ("crc32c", "<u4")])


def n_parts(n_chunks: int) -> int:
    """Return the number of manifest parts for `n_chunks` chunks, at least 1."""
    return max(1, -(-n_chunks // PART_ROWS))


def part_range(number: int, n_chunks: int) -> range:
    """Return the numbers of the chunks in a manifest part, given its number."""
    return range(number * PART_ROWS, min((number + 1) * PART_ROWS, n_chunks))


def part_key(number: int) -> str:
    """Return the key of a manifest part, relative to its array."""
    return f"{PARTS}/{number:05d}"


def write_part(array: Prefix, number: int, records: Records) -> np.void:
    """Write a manifest part and flush it to disk; return its row (dtype PART) of the root."""
    data = records.pack()
    array.put(part_key(number), data)
    array.flush([part_key(number)])
    return _row(records, data)


def read_part(array: Prefix, number: int) -> tuple[Records, np.void] | None:
    """Return the records and the row (dtype PART) of a manifest part; None if absent or damaged."""
    stored = array.get(part_key(number))
    if stored is None:
        return None
    data = stored.to_bytes()
    records = unpack_records(data)
    return None if records is None else (records, _row(records, data))


def find_parts(array: Prefix) -> list[int]:
    """Return the numbers of the manifest parts in the store, damaged ones included."""
    return [int(name) for name in (array / PARTS).names() if name.isdecimal()]


def _row(records: Records, data: bytes) -> np.void:
    table = np.array([(records.raw_bytes, records.stored_bytes, crc32c(data, is_alone=True))], PART)
    row: np.void = table[0]
    return row


def is_metadata_key(key: str) -> bool:
    """Return True for the key of an object of an array that is no chunk, such as zarr.json."""
    return key in METADATA_KEYS or key.startswith(f"{FOLDER}/")
