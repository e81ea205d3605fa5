"""Header of a frame: its kind and the lengths of its parts, checked before memory is allocated."""

from __future__ import annotations

from struct import Struct, error
from typing import NamedTuple

from gangsaw.codecs.core.container.checksum import Bytes, crc32c
from gangsaw.codecs.core.errors import CorruptChunk, NewerFormat
from gangsaw.codecs.strings.items import FIELD

MAGIC, VERSION = b"GSTR", 1
FIELDS = Struct("<4sBBBBIII")
CHECKSUM = Struct("<I")
HEADER_BYTES = FIELDS.size + CHECKSUM.size
MOST_BYTES = 1 << 30  # bytes of a chunk: invalid headers cannot request more memory
STORED, PLAIN, EQUAL, ENDED, LENGTHS = range(5)  # kinds of frames
WIDTHS = (1, 2, 4)  # bytes of a length


class StringsHeader(NamedTuple):
    """Header of a frame of strings, "Frame" of SPEC.md.

    Attributes
    ----------
    kind : how the data after the header are coded: STORED, PLAIN, EQUAL, ENDED or LENGTHS
    end : byte value that follows each item, for ENDED
    width : bytes per length of an item, for LENGTHS
    n_bytes : bytes of the serialized chunk
    n_items : strings in the chunk
    detail : checksum of the bytes, for STORED; bytes of the frame of lengths, for LENGTHS
    """

    kind: int
    n_bytes: int
    n_items: int = 0
    end: int = 0
    width: int = 0
    detail: int = 0

    @property
    def item_bytes(self) -> int:
        """Bytes of all strings without their lengths."""
        return self.n_bytes - FIELD * (1 + self.n_items)

    @property
    def body_bytes(self) -> int:
        """Bytes that the inner codec codes: the strings, with an end byte each for ENDED."""
        if self.kind in (STORED, PLAIN):
            return self.n_bytes
        return self.item_bytes + (self.n_items if self.kind == ENDED else 0)

    def pack(self) -> bytes:
        """Return the stored form of the header."""
        sizes = self.n_bytes, self.n_items, self.detail
        data = FIELDS.pack(MAGIC, VERSION, self.kind, self.end, self.width, *sizes)
        return data + CHECKSUM.pack(crc32c(data))


def parse(frame: Bytes) -> StringsHeader:
    """Parse the header of a frame.

    Raises
    ------
    CorruptChunk : it is cut short, damaged, or describes an impossible chunk
    NewerFormat : a later version wrote it
    """
    data = bytes(frame[:HEADER_BYTES])
    try:
        magic, version, kind, end, width, n_bytes, count, detail = FIELDS.unpack_from(data)
        (checksum,) = CHECKSUM.unpack_from(data, FIELDS.size)
    except error:
        raise CorruptChunk(f"a frame of {len(data)} bytes is cut short") from None
    if magic != MAGIC or checksum != crc32c(data[: FIELDS.size]):
        raise CorruptChunk("the header of the strings is damaged")
    if version > VERSION:
        raise NewerFormat(f"strings of version {version}; this Gangsaw knows {VERSION}")
    header = StringsHeader(kind, n_bytes, count, end, width, detail)
    if reason := _wrong(version, header):
        raise CorruptChunk(f"the header of the strings is damaged: {reason}")
    return header


def _wrong(version: int, header: StringsHeader) -> str:
    """Return a description of field values that no encoder writes, or "" if all are valid."""
    if version < 1 or header.kind > LENGTHS:
        return f"version {version}, kind {header.kind}"
    if header.n_bytes > MOST_BYTES:
        return f"{header.n_bytes:,} bytes, more than {MOST_BYTES:,}"
    has_items = header.kind not in (STORED, PLAIN)
    if has_items and header.item_bytes < 0:
        return f"{header.n_items} items in {header.n_bytes} bytes"
    if not has_items and header.n_items:
        return f"{header.n_items} items of none"
    if header.kind == EQUAL and (not header.n_items or header.item_bytes % header.n_items):
        return f"{header.item_bytes} bytes of {header.n_items} equal items"
    if header.kind == LENGTHS and header.width not in WIDTHS:
        return f"lengths of {header.width} bytes"
    unused = _unused(header)
    return f"fields that are not used are {unused}" if any(unused) else ""


def _unused(header: StringsHeader) -> tuple[int, ...]:
    end = 0 if header.kind == ENDED else header.end
    width = 0 if header.kind == LENGTHS else header.width
    return end, width, 0 if header.kind in (STORED, LENGTHS) else header.detail
