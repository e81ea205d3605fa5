"""Search for records of a store by key, in windows of its index."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.genomics.reads.files.records import Field, Int64s
from gangsaw.tasks.genomics.reads.index.kinds import (
    BINS,
    NAMES,
    IndexKind,
    Numbers,
    hash_names,
    identifiers,
    signatures_of,
)
from gangsaw.tasks.genomics.reads.order.bins.signatures import LENGTH
from gangsaw.tasks.genomics.reads.stored.stored import Stored

WINDOW = 1 << 12  # entries that are read at once: one lane
MOST_FOUND = 1 << 20  # largest number of entries of one key


def find_name(stored: Stored, name: bytes) -> list[int]:
    """Return the ascending numbers of records with a name; an empty list if there is none.

    A record matches by its complete name, or by its first word with or without the /1 and /2 of
    mates.

    Raises
    ------
    BadParams : the store has no names, or names without an index; more than 2^20 records match
    """
    kept = stored.contents.settings.names
    if kept == "number":
        return _numbered(stored, name)
    if kept == "none":
        raise BadParams("the store was made without names: select reads by their numbers")
    NAMES.check(stored)
    keys, _ = hash_names(_field(name))
    found = _entries(stored, NAMES, int(keys[0]))
    return [
        i for i in found.tolist() if is_name_match(stored.lines("name", i, i + 1).line(0), name)
    ]


def find_bin(stored: Stored, sequence: bytes) -> list[int]:
    """Return the ascending numbers of reads in the bins of a sequence, with complete pairs.

    A bin has the reads with one signature, a minimizer of half a read.

    Raises
    ------
    BadParams : the sequence has no signature, or the store has no index of bins
    """
    bins, _ = signatures_of(_field(sequence))
    if not bins.size:
        raise BadParams(
            f"{sequence.decode(errors='replace')} has no signature: it needs {LENGTH} adjacent "
            "bases A, C, G and T, of which no three in a row are equal"
        )
    BINS.check(stored)
    found = np.unique(np.concatenate([_entries(stored, BINS, int(key)) for key in bins]))
    contents = stored.contents
    groups = sorted({contents.group_of(int(number)) for number in found})
    return [i for group in groups for i in _records_of(stored, group)]


def is_name_match(stored: bytes, wanted: bytes) -> bool:
    """Return True if `wanted` is a stored name, its first word, or that without /1 or /2."""
    field = identifiers(_field(stored))
    return wanted in (stored, *stored.split(None, 1)[:1], field.line(0))


def _numbered(stored: Stored, name: bytes) -> list[int]:
    """Return the records of a numeric name, in a store whose names are record or pair numbers."""
    if not name.isdigit() or not 1 <= int(name) <= stored.contents.n_groups:
        return []
    return list(_records_of(stored, int(name) - 1))


def _records_of(stored: Stored, group: int) -> range:
    """Return the numbers of the records of a group: a pair or a single read."""
    return range(stored.contents.start_of(group), stored.contents.start_of(group + 1))


def _entries(stored: Stored, kind: IndexKind, key: int) -> Numbers:
    """Return the record numbers of a key in an index, ascending, (n,) int64.

    Raises CorruptChunk if they are invalid.
    """
    begin, end = first_from(stored, kind, key), first_from(stored, kind, key + 1)
    if end - begin > MOST_FOUND:
        raise BadParams(f"there are {end - begin:,} records of it: select them by their numbers")
    found = stored.some(kind.numbers, begin, end).astype(np.uint64)
    if (found >= stored.n_records).any():
        raise CorruptChunk(f"{kind.numbers} names records that are not there")
    return np.unique(found).astype(np.int64)


def first_from(stored: Stored, kind: IndexKind, key: int) -> int:
    """Return the position of the first index entry whose key is not below `key`.

    Keys are hashes, so an entry is near its proportional position. Every other guess is the middle,
    in case the keys are not uniform.
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
    begins: Int64s = np.zeros(1, np.int64)
    return Field(text, begins, np.full(1, len(line), np.int64))
