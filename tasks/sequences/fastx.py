"""Records of FASTA and FASTQ as pysam reads them, for `verify`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from gangsaw.tasks.formats.format import Paths
from gangsaw.tasks.sequences.text import BZIP2, SIGN_BYTES, XZ, ZSTD

BLANK = re.compile(rb"[ \t\v\f\r]")
AS_BYTES = "surrogateescape"  # names of other encodings than UTF-8 keep their bytes


class FastxRecord(NamedTuple):
    """A record; its name is the first word of its head, the comment what follows the blank."""

    name: bytes
    comment: bytes
    sequence: bytes
    quality: bytes


def pysam_reads(paths: Paths) -> bool:
    """Whether pysam is there and reads these files: text and gzip, which are not read only once."""
    return find_spec("pysam") is not None and all(map(_is_read, paths))


def _is_read(path: str) -> bool:
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return not file.read(SIGN_BYTES).startswith((BZIP2, XZ, ZSTD))


def fastx_records(path: str) -> Iterator[FastxRecord]:
    """Yield the records of a file."""
    import pysam

    before = pysam.get_encoding_error_handler()
    pysam.set_encoding_error_handler(AS_BYTES)
    try:
        with pysam.FastxFile(path) as file:
            for read in file:
                # of an empty line that ends with CR LF it keeps the CR
                lines = (read.name, read.comment, read.sequence, read.quality)
                yield FastxRecord(
                    *((x or "").rstrip("\r").encode("utf-8", AS_BYTES) for x in lines)
                )
    finally:
        pysam.set_encoding_error_handler(before)


def words(head: bytes) -> tuple[bytes, bytes]:
    """Return name and comment of a head, as pysam does."""
    name, *comment = BLANK.split(head, maxsplit=1)
    return name, comment[0] if comment else b""
