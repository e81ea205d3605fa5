"""Records of FASTA and FASTQ read by pysam, for `verify`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gangsaw.tasks.compressed_text.streams import GZIP, SIGN_BYTES, packed_sign
from gangsaw.tasks.compressed_text.text import Text, read_blocks
from gangsaw.tasks.formats.contract.format import Paths

BLANK = re.compile(rb"[ \t\v\f\r]")
NEWLINE = ord("\n")
SIGNS_OF_FASTQ = b"+@"
AS_BYTES = "surrogateescape"  # preserves the bytes of names in other encodings than UTF-8


class FastxRecord(NamedTuple):
    """Record of FASTA or FASTQ: name (first word of the header), comment, sequence, quality."""

    name: bytes
    comment: bytes
    sequence: bytes
    quality: bytes


def pysam_reads(paths: Paths) -> bool:
    """Return True if pysam is installed and can read these files again: plain text and gzip."""
    return find_spec("pysam") is not None and all(map(_is_read, paths))


def _is_read(path: str) -> bool:
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return packed_sign(file.read(SIGN_BYTES)) in (None, GZIP)


def fastx_records(path: str) -> Iterator[FastxRecord]:
    """Yield the records of a FASTA or FASTQ file, as pysam reads them."""
    import pysam

    before = pysam.get_encoding_error_handler()
    pysam.set_encoding_error_handler(AS_BYTES)
    try:
        with pysam.FastxFile(path) as file:
            for read in file:
                # for an empty line with CR LF, pysam returns the CR
                lines = (read.name, read.comment, read.sequence, read.quality)
                yield FastxRecord(
                    *((x or "").rstrip("\r").encode("utf-8", AS_BYTES) for x in lines)
                )
    finally:
        pysam.set_encoding_error_handler(before)


def split_header(head: bytes) -> tuple[bytes, bytes]:
    """Return name and comment of a header, as pysam does."""
    name, *comment = BLANK.split(head, maxsplit=1)
    return name, comment[0] if comment else b""


def where_read(paths: Paths, differences: Iterable[str]) -> list[str] | None:
    """Return the differences from pysam's records; None if pysam does not read the whole files.

    pysam ends a line at a NUL byte, and a FASTA sequence at a line that starts like FASTQ. Files
    are checked for this only if there are differences.
    """
    try:
        found = list(differences)
    except ValueError:  # raised by pysam for zeros after the last block of bgzip
        return None
    return None if found and any(map(_is_beyond_pysam, paths)) else found


def _is_beyond_pysam(path: str) -> bool:
    before, is_fasta = np.uint8(NEWLINE), False
    for number, block in enumerate(read_blocks(path)):
        is_fasta = is_fasta or (number == 0 and bytes(block[:64]).lstrip()[:1] == b">")
        if not block.all() or (is_fasta and _has_fastq_line(before, block)):
            return True
        before = block[-1]
    return False


def _has_fastq_line(before: np.uint8, block: Text) -> bool:
    """Return True if a line that begins in a block of text starts like FASTQ, with "@" or "+".

    `before` is the byte before the block.
    """
    signs = np.flatnonzero(np.isin(block, np.frombuffer(SIGNS_OF_FASTQ, np.uint8)))
    behind = np.where(signs > 0, block[signs - 1], before)
    return bool((behind == NEWLINE).any())
