"""Supplementary information tables in headers (123.0-B-2, 5.3.2)."""

from __future__ import annotations

from gangsaw.codecs.ccsds123.header.bits import RESERVED, Fields, HeaderReader
from gangsaw.codecs.ccsds123.image import Image
from gangsaw.codecs.core.errors import BadParams, CorruptChunk

TABLE: Fields = (
    ("type", 2),
    (RESERVED, 2),
    ("purpose", 4),
    (RESERVED, 1),
    ("structure", 2),
    (RESERVED, 1),
    ("user", 4),
)
FLOAT_TABLE = 2  # type code of a supplementary table
PURPOSES = (0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15)


def check_supplementary_table(table: bytes, image: Image) -> None:
    """Raise BadParams if bytes are no whole supplementary table of an image."""
    source = HeaderReader(table)
    try:
        read_supplementary_table(source, image)
    except CorruptChunk as error:
        raise BadParams(f"supplementary table: {error.reason}") from None
    if source.n_bytes != len(table):
        raise BadParams(f"supplementary table has {len(table)} bytes, needs {source.n_bytes}")


def read_supplementary_table(source: HeaderReader, image: Image) -> bytes:
    """Return the bytes of a supplementary table.

    Its elements belong to the user; only its length is checked.
    """
    start = source.n_bytes
    values = source.get(TABLE)
    if values["type"] > FLOAT_TABLE or values["purpose"] not in PURPOSES:
        raise CorruptChunk(f"header: a supplementary table of unknown kind: {values}")
    n_bands, n_rows, n_columns = image.shape
    n_elements = (1, n_bands, n_bands * n_columns, n_rows * n_columns)[values["structure"]]
    source.skip(n_elements * _element_bits(source, values["type"]))
    source.align()
    return bytes(source.data[start : source.n_bytes])


def _element_bits(source: HeaderReader, kind: int) -> int:
    if kind != FLOAT_TABLE:
        return source.bits(5) or 32
    significand, exponent = source.bits(5), source.bits(3) or 8
    source.skip(exponent)  # bias
    return 1 + exponent + significand
