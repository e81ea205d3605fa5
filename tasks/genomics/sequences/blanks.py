"""Detection of names with more than one word, which other formats cannot represent."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.sources.source import Source, SourceArray
from gangsaw.tasks.store.readable_ranges import find_readable_ranges

BLANKS = np.frombuffer(b" \t", np.uint8)
PIECE = 16 << 20  # letters that are looked at together
DAMAGED_PIECE = 1 << 12  # that are passed over together, where some are damaged


def has_words(source: Source, array: str = "name") -> bool:
    """Return True if a record name in a store contains a blank; stop at the first one."""
    for names in (found for found in source.arrays if found.name == array):
        step = max(PIECE, (names.chunks or (0,))[0])
        for begin in range(0, names.shape[0], step):
            if _has_blank(names, begin, min(begin + step, names.shape[0])):
                return True
    return False


def _has_blank(names: SourceArray, begin: int, end: int) -> bool:
    """Return True if a blank is among characters begin..end - 1; skip damaged chunks."""
    found: list[bool] = []

    def read(first: int, last: int) -> None:
        found.append(bool(np.isin(names.read((slice(first, last),)), BLANKS).any()))

    try:
        read(begin, end)
    except CorruptChunk:
        find_readable_ranges(begin, end, DAMAGED_PIECE, read)
    return any(found)
