"""Kinds of indexes, which map 64-bit keys of records to record numbers.

An index has two arrays with one item per entry, key and record number, sorted by both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.reads.files.digest import hash_each_line
from gangsaw.tasks.genomics.reads.files.kernels import cut_names
from gangsaw.tasks.genomics.reads.files.records import Field
from gangsaw.tasks.genomics.reads.order.bins.signatures import (
    BIN_BITS,
    LEFT,
    NO_BIN,
    RIGHT,
    sign_lines,
)
from gangsaw.tasks.genomics.reads.stored.stored import Stored

Keys = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class IndexKind:
    """Kind of an index of reads, by name or by bin: its arrays and its key function.

    Attributes
    ----------
    name : name for the user: "names" or "bins"
    keys, numbers : names of its two arrays
    of : name of the array of lines that is indexed
    bits : bits of a key
    keys_of : function from lines to keys (m,) uint64, and the line (m,) int64 of each key
    """

    name: str
    keys: str
    numbers: str
    of: str
    bits: int
    keys_of: Callable[[Field], tuple[Keys, Numbers]]

    def check(self, stored: Stored) -> None:
        """Raise BadParams, with the command to run, for a store without such an index."""
        if not (stored.has(self.keys) and stored.has(self.numbers)):
            raise BadParams(
                f"the store has no index of {self.name}: make one by "
                f"gangsaw index-reads STORE {self.name}"
            )


def identifiers(names: Field) -> Field:
    """Return the identifiers in names: first words, without the /1 and /2 of mates."""
    ends = np.empty_like(names.ends)
    cut_names(*names, ends)
    return names._replace(ends=ends)


def hash_names(names: Field) -> tuple[Keys, Numbers]:
    """Return XXH64 of the identifier in each name as keys, and the number of each name."""
    own = identifiers(names)
    scratch = np.zeros(int((own.ends - own.begins).max(initial=0)) + 8, np.uint8)
    hashes = np.empty(len(own.begins), np.uint64)
    hash_each_line(*own, scratch, hashes)
    return hashes, np.arange(hashes.size)


def signatures_of(sequences: Field) -> tuple[Keys, Numbers]:
    """Return the bins of both halves of sequences as keys, and the sequence of each key.

    Halves without a signature have none.
    """
    bins = sign_lines(*sequences)
    is_own = bins != NO_BIN
    is_own[:, RIGHT] &= bins[:, LEFT] != bins[:, RIGHT]
    lines, _ = np.nonzero(is_own)
    return bins[is_own].astype(np.uint64), lines


NAMES = IndexKind("names", "name_index", "name_line", "name", 64, hash_names)
BINS = IndexKind("bins", "bin_signature", "bin_line", "sequence", BIN_BITS, signatures_of)
KINDS = {kind.name: kind for kind in (NAMES, BINS)}
