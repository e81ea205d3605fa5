"""What an index maps: keys of records, 64 bits each, to their numbers.

Two arrays hold it, sorted by key and then by number: a key for each entry, and its number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.reads.files.digest import hash_lines
from gangsaw.tasks.reads.files.kernels import cut_names
from gangsaw.tasks.reads.files.records import Field
from gangsaw.tasks.reads.order.bins.signatures import BIN_BITS, LEFT, NO_BIN, RIGHT, sign_lines
from gangsaw.tasks.reads.stored.stored import Stored

Keys = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class IndexKind:
    """A kind of index.

    Attributes
    ----------
    name : for the user
    keys, numbers : names of its two arrays
    of : name of the array of lines that it is made of
    bits : of a key
    keys_of : from lines to keys (m,) uint64, and the line (m,) int64 that each belongs to
    """

    name: str
    keys: str
    numbers: str
    of: str
    bits: int
    keys_of: Callable[[Field], tuple[Keys, Numbers]]

    def check(self, stored: Stored) -> None:
        """Raise BadParams, with what to do, for a store that has no such index."""
        if not (stored.has(self.keys) and stored.has(self.numbers)):
            raise BadParams(
                f"the store has no index of {self.name}: make one by "
                f"gangsaw index-reads STORE {self.name}"
            )


def identifiers(names: Field) -> Field:
    """Return what of names is looked up: the first word, without /1 and /2 of mates."""
    ends = np.empty_like(names.ends)
    cut_names(*names, ends)
    return names._replace(ends=ends)


def hashes_of(names: Field) -> tuple[Keys, Numbers]:
    """Return XXH64 of the identifiers of names."""
    own = identifiers(names)
    scratch = np.zeros(int((own.ends - own.begins).max(initial=0)) + 8, np.uint8)
    hashes = np.empty(len(own.begins), np.uint64)
    hash_lines(*own, scratch, hashes)
    return hashes, np.arange(hashes.size)


def signatures_of(sequences: Field) -> tuple[Keys, Numbers]:
    """Return the bins of the halves of sequences; none of one that has no signature."""
    bins = sign_lines(*sequences)
    is_own = bins != NO_BIN
    is_own[:, RIGHT] &= bins[:, LEFT] != bins[:, RIGHT]
    lines, _ = np.nonzero(is_own)
    return bins[is_own].astype(np.uint64), lines


NAMES = IndexKind("names", "name_index", "name_line", "name", 64, hashes_of)
BINS = IndexKind("bins", "bin_signature", "bin_line", "sequence", BIN_BITS, signatures_of)
KINDS = {kind.name: kind for kind in (NAMES, BINS)}
