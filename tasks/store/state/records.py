"""Records of finished chunks, packed into one checksummed object: journal entry and manifest alike.

    8 hexadecimal digits, CRC-32C of all that follows the next space; a space
    one line of JSON: format, job, first, count, raw_bytes
    count rows of 12 bytes, little-endian: stored bytes (uint64), CRC-32C of them (uint32)

A row's chunk is its number in C order, so no key is stored: the array's metadata gives it. A
million chunks are 12 MB. Only the lengths could be compressed: not worth a codec.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.container.checksum import crc32c

FORMAT = 1
ROW = np.dtype([("stored", "<u8"), ("crc32c", "<u4")])


@dataclass(frozen=True, eq=False)
class Records:
    """Finished chunks, numbered without a gap.

    Attributes
    ----------
    job : fingerprint of the job that made them
    first : number of the first chunk
    raw_bytes : of their samples
    rows : (n,) of dtype ROW
    from_journal : whether they were read from the journal
    """

    job: str
    first: int
    raw_bytes: int
    rows: NDArray[np.void]
    from_journal: bool = False

    @property
    def stored_bytes(self) -> int:
        """Sum of the stored bytes."""
        return int(self.rows["stored"].sum())

    @property
    def batch(self) -> range:
        """Numbers of the chunks."""
        return range(self.first, self.first + len(self.rows))

    def pack(self) -> bytes:
        """Return the object's bytes: equal records give equal bytes."""
        header = {
            "format": FORMAT,
            "job": self.job,
            "first": self.first,
            "count": len(self.rows),
            "raw_bytes": self.raw_bytes,
        }
        return sealed(json.dumps(header).encode() + b"\n" + self.rows.tobytes())


def sealed(body: bytes) -> bytes:
    """Return the bytes after their CRC-32C in 8 hexadecimal digits and a space."""
    return b"%08x " % crc32c(body) + body


def unsealed(data: bytes) -> bytes | None:
    """Return the body of the result of `sealed`, or None where it is truncated or damaged."""
    check, body = data[:9], data[9:]
    return body if check == b"%08x " % crc32c(body) else None


def unpack(data: bytes) -> Records | None:
    """Return the records, or None for bytes that are torn, damaged or of an unknown format."""
    if (body := unsealed(data)) is None:
        return None
    line, _, rows = body.partition(b"\n")
    header = json.loads(line)
    if header["format"] != FORMAT or len(rows) != header["count"] * ROW.itemsize:
        return None
    table = np.frombuffer(rows, ROW)
    return Records(header["job"], header["first"], header["raw_bytes"], table)
