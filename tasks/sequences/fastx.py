"""Records of FASTA and FASTQ as pysam reads them, for `verify`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gangsaw.tasks.formats.format import Paths
from gangsaw.tasks.sequences.files.streams import BZIP2, SIGN_BYTES, XZ, ZSTD
from gangsaw.tasks.sequences.files.text import Text, text_of

BLANK = re.compile(rb"[ \t\v\f\r]")
NEWLINE = ord("\n")
SIGNS_OF_FASTQ = b"+@"
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


def where_read(paths: Paths, differences: Iterable[str]) -> list[str] | None:
    """Return differences from what pysam reads; None where it does not read all that files hold.

    It ends a line at a NUL byte, and a sequence of FASTA at a line that begins as those of FASTQ.
    Only where there are differences the files are read for that.
    """
    try:
        found = list(differences)
    except ValueError:  # pysam's, of zeros behind the last block of bgzip
        return None
    return None if found and any(map(_is_beyond_pysam, paths)) else found


def _is_beyond_pysam(path: str) -> bool:
    before, is_fasta = np.uint8(NEWLINE), False
    for number, block in enumerate(text_of(path)):
        is_fasta = is_fasta or (number == 0 and bytes(block[:64]).lstrip()[:1] == b">")
        if not block.all() or (is_fasta and _has_fastq_line(before, block)):
            return True
        before = block[-1]
    return False


def _has_fastq_line(before: np.uint8, block: Text) -> bool:
    """Whether a line that begins in a block, behind the byte `before`, begins as one of FASTQ."""
    signs = np.flatnonzero(np.isin(block, np.frombuffer(SIGNS_OF_FASTQ, np.uint8)))
    behind = np.where(signs > 0, block[signs - 1], before)
    return bool((behind == NEWLINE).any())
