"""Scale of qualities: the ASCII offset of quality 0, and the bins of qualities.

Sanger's scale begins at ASCII 33, that of Illumina 1.3 to 1.7 at 64 (Cock et al. 2010, "The Sanger
FASTQ file format", Nucleic Acids Research 38).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.genomics.reads.files.kernels import QUALITY
from gangsaw.tasks.genomics.reads.files.records import FastqRecords, Mates
from gangsaw.tasks.genomics.sequences.kernels import LETTERS, TABLES, count_bytes

PHRED = 33  # ASCII offset of quality 0
# bins of sequencers: least quality of each bin -> quality that replaces the bin
BINS = {2: 6, 10: 15, 20: 22, 25: 27, 30: 33, 35: 37, 40: 40}
# Solexa's -5 is ASCII 59; binned qualities of Sanger's scale have few above ASCII 75, Q42
LEAST_OF_64, MOST_OF_33 = 59, 75
USUAL = 42  # Phred: higher qualities are reported if they are binned


def bin_map(zero: int) -> Text:
    """Return the binned value of each quality byte, (256,) uint8; `zero` is the ASCII offset."""
    values = np.arange(256, dtype=np.uint8)
    bounds = [*(zero + least for least in BINS), 127]
    for (least, following), value in zip(pairwise(bounds), BINS.values(), strict=True):
        values[least:following] = zero + value
    return values


def refuse_other_scale(groups: Iterator[Mates], name: str) -> Iterator[Mates]:
    """Yield batches of records unchanged.

    Raise BadParams if qualities look like ASCII offset 64.
    """
    found = np.zeros(LETTERS, np.int64)
    for mates in groups:
        found += sum(map(_counts, mates))
        letters = np.flatnonzero(found)
        if letters.size and letters[0] >= LEAST_OF_64 and letters[-1] > MOST_OF_33:
            raise BadParams(
                f"{name}: its qualities look like Phred+64 ({chr(letters[0])!r} to "
                f"{chr(letters[-1])!r}), whose bins are others: pass --phred 64, or --phred 33 if "
                "they are that good"
            )
        yield mates


def describe_binning(highest: int) -> tuple[str, ...]:
    """Return a message about binned high qualities; `highest` is a Phred value."""
    last = max(BINS.values())
    return (f"qualities from {last} on, up to {highest}, became {last}",) if highest > USUAL else ()


def highest_of(records: FastqRecords) -> int:
    """Return the highest quality byte of records; 0 if they have none."""
    return int(np.flatnonzero(_counts(records)).max(initial=0))


def _counts(records: FastqRecords) -> npt.NDArray[np.int64]:
    tables = np.zeros((TABLES, LETTERS), np.int64)
    count_bytes(*records.field(QUALITY), tables)
    counts: npt.NDArray[np.int64] = tables.sum(axis=0)
    return counts
