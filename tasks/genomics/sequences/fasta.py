"""Detection of FASTA from the first bytes, and of protein in it."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.alphabet import BASES, both_cases
from gangsaw.tasks.compressed_text.names import FASTA_NAMES, FASTQ_NAMES, is_called
from gangsaw.tasks.compressed_text.streams import may_be_packed
from gangsaw.tasks.compressed_text.text import Text, beginning
from gangsaw.tasks.store.objects.versions import version_of

HEAD, NEWLINE = b">\n"
HEAD_SIGN = b">"
BLANKS = b" \t\v\f\r\n"
NUCLEOTIDES = np.frombuffer(both_cases(BASES + b"UN"), np.uint8)
SHARE = 0.5  # least share of nucleotide letters in a sample; protein has about a quarter
# letters that are no nucleotide code, including ambiguity codes; a third of protein
RESIDUES = np.frombuffer(both_cases(b"EFIJLOPQZ"), np.uint8)
LEAST_RESIDUES = 0.05
ALPHABET = np.frombuffer(both_cases(bytes(range(ord("A"), ord("Z") + 1))), np.uint8)
BEGINNING = 1 << 16  # bytes of text to decide whether a file of any name is FASTA
# a name directly after >, and letters or gaps below it: a quoted mail has neither
RECORD = re.compile(rb">[^\s>][^\n]*(\n\s*|\r)(>[^\s>]|[A-Za-z*.\-]+[ \t]*([\r\n]|\Z))")


def refuse_protein(text: Text, name: str, kind: str) -> None:
    """Raise BadParams if residues look like protein; `kind` is the name of the format.

    Gaps and other characters than letters are ignored.
    """
    counts = np.bincount(text, minlength=256)
    n = counts[ALPHABET].sum()
    if not n or counts[NUCLEOTIDES].sum() / n >= SHARE:
        return
    if counts[RESIDUES].sum() / n >= LEAST_RESIDUES:
        raise protein(name, kind)


def protein(name: str, kind: str) -> BadParams:
    """Return the error for a file of protein; `kind` is the name of the format."""
    return BadParams(
        f"{name} holds protein rather than nucleotides, which no codec here makes smaller "
        f"than Zstandard does: --format {kind} --codec zstd stores it all the same"
    )


def is_fasta_file(path: str, start: bytes) -> bool:
    """Return True if a file with the first bytes `start` is FASTA.

    Blank lines may precede the first record. For a file with a name of FASTA, the first letter
    decides; if it is compressed, the name alone. For all others the first record does.
    """
    is_packed = may_be_packed(start)
    is_named = is_called(path, FASTA_NAMES if is_packed else FASTA_NAMES + FASTQ_NAMES)
    first = start.lstrip(BLANKS)[:1]
    if is_named and (is_packed or first == HEAD_SIGN):
        return True
    if not is_packed and first not in (b"", HEAD_SIGN):
        return False
    text = _beginning(path, version_of(path)).lstrip(BLANKS)
    return text.startswith(HEAD_SIGN) if is_named else RECORD.match(text) is not None


@lru_cache(maxsize=16)
def _beginning(path: str, _: str) -> bytes:
    return beginning(path, BEGINNING)
