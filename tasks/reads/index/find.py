"""Records of a store by a key: found in an index by where its keys must be, window by window."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.reads.files.records import Field, Places
from gangsaw.tasks.reads.index.kinds import (
    BINS,
    NAMES,
    IndexKind,
    Numbers,
    hashes_of,
    identifiers,
    signatures_of,
)
from gangsaw.tasks.reads.order.bins.signatures import LENGTH
from gangsaw.tasks.reads.stored.stored import Stored

WINDOW = 1 << 12  # entries that are read at once: those of a lane
MOST_FOUND = 1 << 20  # entries of a key


def find_name(stored: Stored, name: bytes) -> list[int]:
    """Return the numbers of records of a name, ascending; none where it is not there.

    Names are equal, or their first words are, also without the /1 and /2 of mates.

    Raises
    ------
    BadParams : the store has no names, or has them and no index; there are more than 2^20
    """
    kept = stored.contents.settings.names
    if kept == "number":
        return _numbered(stored, name)
    if kept == "none":
        raise BadParams("the store was made without names: take reads by their numbers")
    NAMES.check(stored)
    keys, _ = hashes_of(_field(name))
    found = _entries(stored, NAMES, int(keys[0]))
    return [i for i in found.tolist() if is_same(stored.lines("name", i, i + 1).letters(0), name)]


def find_bin(stored: Stored, sequence: bytes) -> list[int]:
    """Return the numbers of records of the bins of a sequence, ascending; pairs are whole.

    Raises
    ------
    BadParams : the sequence has no signature, the store no index of bins
    """
    bins, _ = signatures_of(_field(sequence))
    if not bins.size:
        raise BadParams(
            f"{sequence.decode(errors='replace')} has no signature: it needs {LENGTH} letters of "
            "A, C, G and T that follow each other, of which no three are equal"
        )
    BINS.check(stored)
    found = np.unique(np.concatenate([_entries(stored, BINS, int(key)) for key in bins]))
    contents = stored.contents
    groups = sorted({contents.group_of(int(number)) for number in found})
    return [i for group in groups for i in _records_of(stored, group)]


def is_same(stored: bytes, wanted: bytes) -> bool:
    """Whether a record of this name is wanted."""
    field = identifiers(_field(stored))
    return wanted in (stored, *stored.split(None, 1)[:1], field.letters(0))


def _numbered(stored: Stored, name: bytes) -> list[int]:
    """Return the records of a name that is a number, which records or pairs are named by."""
    if not name.isdigit() or not 1 <= int(name) <= stored.contents.n_groups:
        return []
    return list(_records_of(stored, int(name) - 1))


def _records_of(stored: Stored, group: int) -> range:
    """Return the numbers of the records of a group."""
    return range(stored.contents.start_of(group), stored.contents.start_of(group + 1))


def _entries(stored: Stored, kind: IndexKind, key: int) -> Numbers:
    """Return the numbers (n,) int64 of a key, ascending; CorruptChunk for those of no record."""
    begin, end = first_from(stored, kind, key), first_from(stored, kind, key + 1)
    if end - begin > MOST_FOUND:
        raise BadParams(f"there are {end - begin:,} records of it: take them by their numbers")
    found = stored.some(kind.numbers, begin, end).astype(np.uint64)
    if (found >= stored.n_records).any():
        raise CorruptChunk(f"{kind.numbers} names records that are not there")
    return np.unique(found).astype(np.int64)


def first_from(stored: Stored, kind: IndexKind, key: int) -> int:
    """Return the first entry whose key is not below this one.

    Keys are hashes, so an entry is near its share of the whole; every other guess is the middle, in
    case that they are not.
    """
    low, high, is_share = 0, stored.size(kind.keys), True
    n = high
    if key >> kind.bits:
        return n
    while low < high:
        guess = (key * n >> kind.bits) if is_share else (low + high) // 2
        begin = min(max(low, guess - WINDOW // 2), high - 1)
        end = min(high, begin + WINDOW)
        keys = stored.some(kind.keys, begin, end)
        if keys[0] >= key:
            high = begin
        elif keys[-1] < key:
            low = end
        else:
            return begin + int(np.searchsorted(keys, np.uint64(key)))
        is_share = not is_share
    return low


def _field(line: bytes) -> Field:
    text = np.frombuffer(line + b"\n", np.uint8)
    begins: Places = np.zeros(1, np.int64)
    return Field(text, begins, np.full(1, len(line), np.int64))
