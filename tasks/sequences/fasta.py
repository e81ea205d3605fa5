"""What FASTA holds, by its beginning: nucleotides or protein, a genome or reads."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.letters import BASES, both_cases
from gangsaw.tasks.sequences.files.text import Places, Text, text_of
from gangsaw.tasks.store.stamps import version_of

HEAD, NEWLINE = b">\n"
NUCLEOTIDES = np.frombuffer(both_cases(BASES + b"UN"), np.uint8)
SHARE = 0.5  # of these letters in a sample; protein has about a quarter
# fewer records, or half of them longer than this, are a genome
GENOME_RECORDS, GENOME_LETTERS = 1000, 50_000
LEAST_TEXT, MOST_TEXT = 1 << 23, 1 << 26  # bytes of text that are read to tell


def refuse_protein(letters: Text, name: str, kind: str) -> None:
    """Raise BadParams where letters are not mostly nucleotides; `kind` is the format's name."""
    if letters.size and np.isin(letters, NUCLEOTIDES).mean() < SHARE:
        raise BadParams(
            f"{name} holds protein rather than nucleotides, which no codec here makes smaller "
            f"than Zstandard does: --format {kind} --codec zstd stores it all the same"
        )


def is_genome(path: str) -> bool:
    """Say whether FASTA is a genome rather than reads: fewer than 1,000 records, or long ones.

    The first 8 MiB of the text tell where its records are long, the first 1,000 records where they
    are not; no more than 64 MiB are read. What cannot be read is none.
    """
    return _is_genome(path, version_of(path))


@lru_cache(maxsize=16)
def _is_genome(path: str, _: str) -> bool:
    heads, n, is_start = [np.empty(0, np.int64)], 0, True
    try:
        for block in text_of(path):
            if n == 0 and block[0] != HEAD:
                return False
            heads.append(_heads(block, is_start) + n)
            n, is_start = n + block.size, bool(block[-1] == NEWLINE)
            n_records = sum(map(len, heads))
            is_told = n >= LEAST_TEXT and _are_long(heads, n)
            if n_records >= GENOME_RECORDS or is_told or n >= MOST_TEXT:
                return _are_long(heads, n)
    except (BadParams, OSError):  # opening it says what is wrong
        return n > 0
    return n > 0


def _heads(block: Text, is_start: bool) -> Places:
    """Return where lines with names begin in a block."""
    found = np.flatnonzero(block == HEAD)
    is_head = block[found - 1] == NEWLINE
    if found.size and found[0] == 0:
        is_head[0] = is_start
    heads: Places = found[is_head]
    return heads


def _are_long(heads: list[Places], n: int) -> bool:
    """Say whether records that begin there, in so many bytes, are those of a genome."""
    lengths = np.diff(np.append(np.concatenate(heads), n))
    return bool(np.median(lengths) > GENOME_LETTERS)
