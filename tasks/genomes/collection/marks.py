"""What letters of genomes are besides bases: runs of others, and of lower case. Compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.nucleotides.letters import BASES
from gangsaw.codecs.core.numba.jit import jit, jit_part
from gangsaw.tasks.sequences.files.text import Places, Text

UPPER = np.frombuffer(bytes(range(256)).upper(), np.uint8)
IS_BASE = np.zeros(256, bool)
IS_BASE[list(BASES)] = True
CASE = ord("a") - ord("A")
KINDS = {
    "other": np.where(IS_BASE[UPPER], 0, UPPER).astype(np.uint8),
    "lower": (np.arange(256) != UPPER).astype(np.uint8),
}
A, C, G, T = BASES
STRETCH = 512  # letters that are looked at together
FAR = (1 << 32) - 1  # letters of a gap or run at most

Table = npt.NDArray[np.uint32]


class LetterMarks:
    """Runs of letters as rows of integers, genome by genome.

    A row is (letters from the end of the run before, letters of the run, the letter in upper case),
    of lower case without the last.
    """

    def __init__(self) -> None:
        self._ends = {"other": 0, "lower": 0}
        self._at = 0

    def rows(self, letters: Text) -> dict[str, Table]:
        """Return the rows of the next letters."""
        found = {
            "other": self._rows("other", letters),
            "lower": self._rows("lower", letters)[:, :2],
        }
        self._at += letters.size
        return found

    def _rows(self, name: str, letters: Text) -> Table:
        """Return the runs of letters of one kind."""
        kinds, own = KINDS[name], np.empty((0, 3), np.int64)
        if n := int(marked(letters, kinds, own)):
            own = np.empty((n, 3), np.int64)
            marked(letters, kinds, own)
            ends = own[:, 0] + own[:, 1] + self._at
            own[:, 0] += self._at - np.append(self._ends[name], ends[:-1])
            self._ends[name] = int(ends[-1])
        return _in_words(own)


@jit_part
def is_plain(letters: Any) -> bool:
    """Whether all letters are ACGT; a loop of vectors."""
    n = 0
    for letter in letters:
        n += (letter == A) | (letter == C) | (letter == G) | (letter == T)
    return bool(n == letters.size)


@jit
def are_bases(letters: Any) -> bool:
    """Whether all of (n,) uint8 letters are ACGT."""
    return is_plain(letters)


@jit
def looked_up(items: Any, table: Any, out: Any) -> None:
    """Fill what a table of (256,) has of (n,) uint8; NumPy itself makes places of them first."""
    for i in range(items.size):
        out[i] = table[items[i]]


@jit
def marked(letters: Any, kinds: Any, out: Any) -> int:
    """Return how many runs there are of letters of one kind that is not 0; fill them.

    Parameters
    ----------
    letters : (t,) uint8
    kinds : (256,) uint8, of each letter
    out : (n, 3) int64, filled with begin, letters and kind as far as there is room
    """
    n, at, size = 0, 0, letters.size
    while at < size:
        while at + STRETCH <= size and is_plain(letters[at : at + STRETCH]):
            at += STRETCH
        if at == size:
            break
        kind = kinds[letters[at]]
        if not kind:
            at += 1
            continue
        end = at + 1
        while end < size and kinds[letters[end]] == kind:
            end += 1
        if n < out.shape[0]:
            out[n, 0], out[n, 1], out[n, 2] = at, end - at, kind
        n += 1
        at = end
    return n


def _in_words(rows: Places) -> Table:
    """Return rows of 32 bits: what is longer is several rows."""
    if not (rows[:, :2] > FAR).any():
        return rows.astype(np.uint32)
    split: list[tuple[int, int, int]] = []
    for gap, n, kind in rows.tolist():
        split += [(FAR, 0, kind)] * (gap // FAR)
        split += [(gap % FAR, min(n, FAR), kind)]
        split += [(0, min(n - at, FAR), kind) for at in range(FAR, n, FAR)]
    return np.array(split, np.uint32)


class MarkedRuns:
    """Runs of a store, to be put over letters.

    Raises CorruptChunk for runs that are not within so many letters, or of no such letter.
    """

    def __init__(self, name: str, rows: Table, n: int) -> None:
        steps = rows[:, :2].astype(np.int64)
        self._ends = np.cumsum(steps.sum(axis=1))
        self._begins = self._ends - steps[:, 1]
        self._kinds = rows[:, 2].astype(np.int64) if name == "other" else None
        is_odd = self._kinds is not None and ((self._kinds < 1) | (self._kinds > 255)).any()
        if is_odd or (self._ends.size and (self._ends.max() > n or self._begins.min() < 0)):
            raise CorruptChunk(f"{name} is not of such letters")

    def put(self, letters: Text, begin: int) -> None:
        """Change letters, which begin at this place of the collection."""
        end = begin + letters.size
        first = int(np.searchsorted(self._ends, begin, "right"))
        last = int(np.searchsorted(self._begins, end, "left"))
        for i in range(first, last):
            own = slice(max(0, int(self._begins[i]) - begin), int(self._ends[i]) - begin)
            if self._kinds is None:
                letters[own] += CASE
            else:
                letters[own] = self._kinds[i]
