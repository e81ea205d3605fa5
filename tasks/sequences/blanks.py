"""Whether names have more than their first word: what other formats have no place for."""

from __future__ import annotations

import numpy as np

from gangsaw.tasks.source import Source

BLANKS = np.frombuffer(b" \t", np.uint8)
PIECE = 16 << 20  # letters that are looked at together


def has_words(source: Source, array: str = "name") -> bool:
    """Whether there is a blank in the names of a store; the first one ends the search."""
    for names in (found for found in source.arrays if found.name == array):
        step = max(PIECE, (names.chunks or (0,))[0])
        for begin in range(0, names.shape[0], step):
            piece = names.read((slice(begin, min(begin + step, names.shape[0])),))
            if np.isin(piece, BLANKS).any():
                return True
    return False
