"""Detection of genomes and reads in FASTA, from the first records.

Drafts of many contigs and reads without qualities look similar: names and lengths decide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.text import read_blocks
from gangsaw.tasks.genomics.sequences.fasta import BLANKS, HEAD_SIGN
from gangsaw.tasks.store.objects.versions import version_of

# a file with fewer records, or with a median length above this, is a genome
GENOME_RECORDS, GENOME_LETTERS = 1000, 50_000
LEAST_TEXT, MOST_TEXT = 1 << 23, 1 << 26  # bytes of text to read for the decision
READS = "gangsaw_reads"  # attribute of stores of reads
SAMPLE = 5000  # records to check
SHARE = 0.9  # share of records of one length, or short
EQUAL_BASES = 1000  # longest reads of equal length
SHORT_BASES = 300  # longest short reads, including merged mates
NAMED = 0.5  # share of records named by a machine, or by an assembler
MACHINES = re.compile(
    rb"[^\s:]+(:[^\s:]+){4,}|"  # Illumina: instrument, run, flow cell, lane, tile, x, y
    rb"[SED]RR\d+\.\d+|"  # archives
    rb"m\d+\w*/\d+(/|\s|$)|"  # PacBio: movie, hole
    rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|"  # Oxford Nanopore
    rb"\S+/[12](\s|$)"  # mates
)
ASSEMBLERS = re.compile(
    rb"NODE_\d|k\d+_\d|\S*(contig|scaffold|ctg|scf|tig\d|TRINITY_)", re.IGNORECASE
)


class Likeness(NamedTuple):
    """Decision whether a FASTA file is a genome or reads.

    Attributes
    ----------
    is_genome : True for a genome, False for reads
    why : reason in words; "" if there is no doubt
    """

    is_genome: bool
    why: str = ""


def is_genome(path: str) -> bool:
    """Return True if FASTA is a genome rather than reads.

    Fewer than 1,000 records are a genome, and so are long ones. Others are a genome unless they
    look like reads: by names of machines, equal or short lengths, or repeated names. The decision
    uses the first 8 MiB of text if its records are long, else at least 1,000 records, and at most
    64 MiB. The result is False if the file cannot be read.
    """
    return likeness(path).is_genome


def is_one_of_genomes(path: str) -> bool:
    """Return True if one of several FASTA files is a genome: a small file may hold mates."""
    if not is_genome(path):
        return False
    text = bytearray()
    is_whole = _read(path, text)
    return _judged(bytes(text.lstrip(BLANKS)), is_whole=is_whole).is_genome


def likeness(path: str) -> Likeness:
    """Decide whether a FASTA file is a genome or reads, with the reason."""
    return _likeness(path, version_of(path))


@lru_cache(maxsize=16)
def _likeness(path: str, _: str) -> Likeness:
    text, is_whole = bytearray(), False
    try:
        is_whole = _read(path, text)
    except (BadParams, OSError):  # opening the file reports the error
        return Likeness(bool(text))
    begun = text.lstrip(BLANKS)
    if not begun.startswith(HEAD_SIGN):
        return Likeness(False)
    if is_whole and _n_records(text) < GENOME_RECORDS:
        return Likeness(True)
    if len(begun) < len(text):  # reads do not preserve blank lines before the first record
        return Likeness(True)
    return _judged(bytes(begun), is_whole=is_whole)


def _read(path: str, text: bytearray) -> bool:
    """Read as much of a FASTA text as the decision needs; return True if it was read to the end."""
    for block in read_blocks(path):
        text += block.tobytes()
        enough = LEAST_TEXT if len(text) // max(1, _n_records(text)) > GENOME_LETTERS else MOST_TEXT
        if len(text) >= enough or _n_records(text) >= GENOME_RECORDS:
            return False
    return True


def _n_records(text: bytearray) -> int:
    return text.count(b"\n>") + text.startswith(HEAD_SIGN)


def _judged(text: bytes, *, is_whole: bool) -> Likeness:
    """Decide whether FASTA records are a genome or reads, by their names and lengths."""
    records = list(islice(_records(text), SAMPLE + 1))
    if not is_whole or len(records) > SAMPLE:
        records.pop()  # the last record may be cut
    names = [name for name, _ in records]
    lengths = np.array([length for _, length in records] or [len(text)])
    if np.median(lengths) > GENOME_LETTERS:
        return Likeness(True)
    if (why := _why_reads(names, lengths)) is not None:
        return Likeness(False, why)
    return Likeness(True, "its records have many lengths, and no sequencer's names")


def _why_reads(
    names: list[bytes], lengths: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
) -> str | None:
    n = len(names)
    if sum(MACHINES.match(name) is not None for name in names) >= NAMED * n:
        return "machines named its records"
    (length, times), *_ = Counter(lengths.tolist()).most_common(1)
    if times >= SHARE * n and length <= EQUAL_BASES:
        return f"its records have one length, {length}"
    is_assembled = sum(ASSEMBLERS.match(name) is not None for name in names) >= NAMED * n
    if (lengths <= SHORT_BASES).mean() >= SHARE and not is_assembled:
        return "its records are short"
    first_words = {name.split(None, 1)[0] if name[:1].strip() else b"" for name in names}
    return "its names repeat, or are empty" if len(first_words) < n or b"" in first_words else None


def _records(text: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield header and number of residues of each FASTA record."""
    at = 0
    while at < len(text):
        end = text.find(b"\n>", at)
        head, _, body = text[at + 1 : end if end >= 0 else None].partition(b"\n")
        yield head, len(body) - body.count(b"\n") - body.count(b"\r")
        at = end + 1 if end >= 0 else len(text)
