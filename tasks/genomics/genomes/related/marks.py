"""Runs of residues other than A, C, G, T, and runs of lower case, in genomes. Compiled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.nucleotides.alphabet import BASES
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.compressed_text.text import Positions, Text

UPPER = np.frombuffer(bytes(range(256)).upper(), np.uint8)
IS_BASE = np.zeros(256, bool)
IS_BASE[list(BASES)] = True
CASE = ord("a") - ord("A")
KINDS = {
    "other": np.where(IS_BASE[UPPER], 0, UPPER).astype(np.uint8),
    "lower": (np.arange(256) != UPPER).astype(np.uint8),
}
A, C, G, T = BASES
STRETCH = 512  # residues that are tested together
FAR = (1 << 32) - 1  # largest length of a gap or run in one row

Table = npt.NDArray[np.uint32]


class ResidueMarks:
    """Encoder of runs of lower case and of residues other than A, C, G, T, genome by genome.

    A row is (gap after the previous run, length of the run, residue in upper case). Rows of lower
    case have no residue.
    """

    def __init__(self) -> None:
        self._ends = {"other": 0, "lower": 0}
        self._at = 0

    def rows(self, residues: Text) -> dict[str, Table]:
        """Return the runs in the next residues, by array name: "other" and "lower"."""
        found = {
            "other": self._rows("other", residues),
            "lower": self._rows("lower", residues)[:, :2],
        }
        self._at += residues.size
        return found

    def _rows(self, name: str, residues: Text) -> Table:
        """Return the rows of one array, "other" or "lower", for the next residues."""
        kinds, own = KINDS[name], np.empty((0, 3), np.int64)
        if n := int(mark_runs(residues, kinds, own)):
            own = np.empty((n, 3), np.int64)
            mark_runs(residues, kinds, own)
            ends = own[:, 0] + own[:, 1] + self._at
            own[:, 0] += self._at - np.append(self._ends[name], ends[:-1])
            self._ends[name] = int(ends[-1])
        return _in_words(own)


@jit(part=True)
def is_acgt(residues: Bytes) -> bool:
    """Return True if all residues are upper-case A, C, G or T; the loop is vectorized."""
    n = 0
    for letter in residues:
        n += (letter == A) | (letter == C) | (letter == G) | (letter == T)
    return bool(n == residues.size)


@jit
def are_bases(residues: Bytes) -> bool:
    """Return True if all residues, (n,) uint8, are upper-case A, C, G or T."""
    return is_acgt(residues)


@jit
def looked_up(items: Bytes, table: Bytes, out: Bytes) -> None:
    """Write table[items] to `out` for (n,) uint8 items; NumPy would first convert them to intp."""
    for i in range(items.size):
        out[i] = table[items[i]]


@jit
def mark_runs(residues: Bytes, kinds: Bytes, out: Int64s) -> int:
    """Write runs of residues of one kind that fit into `out`; return the number of all runs.

    Parameters
    ----------
    residues : (t,) uint8 residues
    kinds : (256,) uint8, kind of each residue, 0 for none
    out : (n, 3) int64, output: position, length and kind
    """
    n, at, size = 0, 0, residues.size
    while at < size:
        while at + STRETCH <= size and is_acgt(residues[at : at + STRETCH]):
            at += STRETCH
        if at == size:
            break
        kind = kinds[residues[at]]
        if not kind:
            at += 1
            continue
        end = at + 1
        while end < size and kinds[residues[end]] == kind:
            end += 1
        if n < out.shape[0]:
            out[n, 0], out[n, 1], out[n, 2] = at, end - at, kind
        n += 1
        at = end
    return n


def _in_words(rows: Positions) -> Table:
    """Return rows of runs as uint32; runs that are too long are split over several rows."""
    if not (rows[:, :2] > FAR).any():
        return rows.astype(np.uint32)
    split: list[tuple[int, int, int]] = []
    for gap, n, kind in rows.tolist():
        split += [(FAR, 0, kind)] * (gap // FAR)
        split += [(gap % FAR, min(n, FAR), kind)]
        split += [(0, min(n - at, FAR), kind) for at in range(FAR, n, FAR)]
    return np.array(split, np.uint32)


class MarkedRuns:
    """Stored runs of lower case and of other residues, to be applied to decoded bases.

    Raises CorruptChunk for runs outside of `n` residues, or with an invalid residue.
    """

    def __init__(self, name: str, rows: Table, n: int) -> None:
        steps = rows[:, :2].astype(np.int64)
        self._ends = np.cumsum(steps.sum(axis=1))
        self._begins = self._ends - steps[:, 1]
        self._kinds = rows[:, 2].astype(np.int64) if name == "other" else None
        is_odd = self._kinds is not None and ((self._kinds < 1) | (self._kinds > 255)).any()
        if is_odd or (self._ends.size and (self._ends.max() > n or self._begins.min() < 0)):
            raise CorruptChunk(f"{name} does not describe runs of these residues")

    def put(self, residues: Text, begin: int) -> None:
        """Apply the runs to decoded residues, in place.

        `begin` is their position in the collection.
        """
        end = begin + residues.size
        first = int(np.searchsorted(self._ends, begin, "right"))
        last = int(np.searchsorted(self._begins, end, "left"))
        for i in range(first, last):
            own = slice(max(0, int(self._begins[i]) - begin), int(self._ends[i]) - begin)
            if self._kinds is None:
                residues[own] += CASE
            else:
                residues[own] = self._kinds[i]
