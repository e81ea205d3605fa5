"""Encoder of genomes relative to reference bases: pieces, rows of edits, bundles of pieces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.nucleotides.alphabet import NOT_A_BASE
from gangsaw.tasks.compressed_text.text import Positions, Text
from gangsaw.tasks.genomics.genomes.related.bundles import BUNDLE, bundled
from gangsaw.tasks.genomics.genomes.related.pieces import (
    END_ROW,
    FIRST_ROW,
    LETTERS,
    PIECE_COLUMNS,
    WINDOW,
    WINDOW_BITS,
    A,
    cut_pieces,
    orient_rows,
)
from gangsaw.tasks.genomics.genomes.related.runs import (
    KNOWN,
    KNOWN_LETTERS,
    STRAND,
    TEXT,
    TEXT_END,
    find_runs,
)
from gangsaw.tasks.genomics.genomes.related.seeds import NO_ENTRY, STRIDE, choose_k, enter

ROW_BITS, PIECE_BITS, LETTER_BITS = 13, 64, 1.9  # estimated bits of a row, a piece and a novel base
NO_ROWS = np.empty((0, 3), np.int64)
ROWS_PER_STEP = 1 << 18  # rows of a table per step
MOST_POSITION = (1 << 32) - 1
LEAST_BITS = 10
NO_RESIDUES = np.empty(0, np.uint8)

Table = npt.NDArray[np.uint32]


class Known:
    """Reference bases that genomes share, with a hash table of the positions of their k-mers.

    Attributes
    ----------
    letters : (capacity,) uint8 codes, of which the first `n` are in use
    n : number of reference bases
    k : bases of a k-mer
    table, bits : hash table of positions, as `enter` fills it, and log2 of its entries
    """

    def __init__(self, n_first: int) -> None:
        self.letters, self.n = np.empty(0, np.uint8), 0
        self.k = choose_k(n_first)
        self._allocate(n_first + n_first // 4 + 1024)  # spare capacity for novel bases

    def add(self, codes: Text) -> int:
        """Append bases to the reference.

        Return the position of the first. Other residues become A.
        """
        begin, end = self.n, self.n + codes.size
        if end > self.letters.size:
            self._allocate(2 * end)
        self.letters[begin:end] = np.where(codes < NOT_A_BASE, codes, 0)
        self.n = end
        enter(self.letters, max(0, begin - self.k + 1), end, self.k, self.table, self.bits)
        return begin

    def _allocate(self, capacity: int) -> None:
        """Enlarge the base array, and the hash table to 2 to 4 entries per entered k-mer."""
        letters = np.empty(capacity, np.uint8)
        letters[: self.n] = self.letters[: self.n]
        self.letters = letters
        self.bits = max(LEAST_BITS, (2 * capacity // STRIDE - 1).bit_length())
        self.table = np.full(1 << self.bits, NO_ENTRY, np.uint32)
        enter(self.letters, 0, self.n, self.k, self.table, self.bits)


class Collected:
    """Encoder of related genomes: reference bases, and pieces of genomes with edits of them.

    `n_first` is the approximate number of bases of the first genome.

    Attributes
    ----------
    known : reference bases so far
    seeks : if True, genomes are aligned to the reference bases; else all bases are added to these
    """

    def __init__(self, n_first: int, *, seeks: bool = True, before: Text = NO_RESIDUES) -> None:
        """Start with the reference bases of earlier genomes, `before`: codes (n,) uint8."""
        self.known, self.seeks = Known(max(n_first, before.size)), seeks
        if before.size:
            self.known.add(before)
        self._pieces: list[Positions] = []
        self._rows: list[Positions | Table] = [np.empty((0, 3), np.uint32)]
        self._n_rows = 0

    def add(self, codes: Text) -> None:
        """Encode the residues of one genome, codes (n,) uint8."""
        known, at, k = self.known, 0, 0
        sought = codes if self.seeks and known.n else codes[:0]
        runs, edits = find_runs(sought, known.letters, known.n, known.k, known.table, known.bits)
        room = 2 * len(runs) + 2 + 3 * (codes.size // WINDOW + len(runs) + 1)
        pieces = np.empty((room + int(runs[:, KNOWN_LETTERS].sum()) // WINDOW, PIECE_COLUMNS), "i8")
        for run in runs:
            rows = orient_rows(run, edits, codes, known.letters)
            if ROW_BITS * len(rows) + PIECE_BITS > LETTER_BITS * (run[TEXT_END] - run[TEXT]):
                continue
            k = self._novel(codes[at : run[TEXT]], pieces, k)
            a, b = _span(run)
            k = int(cut_pieces(rows, a, b, int(run[STRAND]), self._n_rows, pieces, k))
            # copy: a view would keep the kernel's whole buffer, and most positions fit 32 bits
            is_short = known.n <= MOST_POSITION
            self._rows.append(rows.astype(np.uint32) if is_short else rows.astype(np.int64))
            self._n_rows += len(rows)
            at = int(run[TEXT_END])
        k = self._novel(codes[at:], pieces, k)
        self._pieces.append(pieces[:k].copy())

    def _novel(self, codes: Text, pieces: Positions, k: int) -> int:
        """Add bases that the reference lacks to it, and pieces that refer to them.

        Returns the new number of pieces, k before.
        """
        if not codes.size:
            return k
        begin = self.known.add(codes)
        return int(cut_pieces(NO_ROWS, begin, begin + codes.size, 1, self._n_rows, pieces, k))

    @property
    def memory_bytes(self) -> int:
        """Memory of reference bases, pieces and edits, in bytes."""
        known = self.known.letters.nbytes + self.known.table.nbytes
        return known + sum(part.nbytes for part in (*self._pieces, *self._rows))

    def parts(self) -> Iterator[Mapping[str, Table]]:
        """Yield the arrays of the encoded genomes, some rows at a time.

        `piece` has the reference range of each piece, `edit` rows of edits, and `bundle` the number
        of edit rows per bundle (pieces that are encoded relative to each other).
        """
        pieces, rows = np.concatenate(self._pieces), cast(Table, np.concatenate(self._rows))
        self._pieces, self._rows = [pieces], [rows]
        window = pieces[:, A] >> WINDOW_BITS
        order = np.argsort(window, kind="stable")
        numbers = numbers_in(window, order)
        said = self._encode_pieces(pieces, numbers)
        for at in range(0, len(said), ROWS_PER_STEP):
            yield {"piece": said[at : at + ROWS_PER_STEP]}
        starts = np.append(np.flatnonzero(numbers[order] % BUNDLE == 0), len(pieces))
        sizes = (pieces[order, END_ROW] - pieces[order, FIRST_ROW] + 1).cumsum()
        ends = np.append(0, sizes)[starts]  # upper bound: the rows of its pieces, and their heads
        first = 0
        while first < starts.size - 1:
            last = max(
                first + 1, int(np.searchsorted(ends, ends[first] + ROWS_PER_STEP, "right")) - 1
            )
            edit = np.empty((int(ends[last] - ends[first]), 3), np.uint32)
            head = np.empty(last - first + 1, np.int64)
            n = int(bundled(pieces, rows, order, starts[first : last + 1], edit, head))
            yield {"edit": edit[:n], "bundle": np.diff(head).astype(np.uint32)[:, None]}
            first = last

    def tables(self) -> Mapping[str, Table]:
        """Return the arrays of `parts`, concatenated: only for small sets."""
        found: dict[str, list[Table]] = {name: [] for name in ("piece", "edit", "bundle")}
        for part in self.parts():
            for name, table in part.items():
                found[name].append(table)
        return {name: np.concatenate(tables) for name, tables in found.items() if tables}

    def _encode_pieces(self, pieces: Positions, numbers: Positions) -> Table:
        """Return the rows of the array `piece`, (n, 5): differences from the previous piece."""
        a, b, d, letters = pieces[:, :END_ROW].T[: LETTERS + 1]
        ahead = np.where(d > 0, a - np.append(0, b[:-1]), np.append(0, a[:-1]) - b)
        ends = np.minimum(((a >> WINDOW_BITS) + 1) << WINDOW_BITS, self.known.n)
        short = np.where(d > 0, ends - b, a & WINDOW - 1)
        more, steps = letters - (b - a), np.diff(numbers, prepend=0)
        columns = encode_zigzag(ahead), d < 0, short, encode_zigzag(more), encode_zigzag(steps)
        return np.stack(columns, axis=1).astype(np.uint32)


def _span(run: Positions) -> tuple[int, int]:
    """Return the reference range, begin and end, of a run (alignment) of either strand."""
    place, n = int(run[KNOWN]), int(run[KNOWN_LETTERS])
    return (place, place + n) if run[STRAND] > 0 else (place + 1 - n, place + 1)


def numbers_in(window: Positions, order: Positions) -> Positions:
    """Return the number of each piece among the pieces of its reference window.

    Parameters
    ----------
    window : (n,) int64, number of each piece's window of 2^16 reference bases
    order : (n,) int64, pieces sorted by window
    """
    numbers, n = np.empty(len(window), np.int64), len(window)
    firsts = np.flatnonzero(np.diff(window[order], prepend=-1))
    numbers[order] = np.arange(n) - np.repeat(firsts, np.diff(np.append(firsts, n)))
    return numbers


def encode_zigzag(values: Positions) -> Positions:
    """Return the zigzag code of signed integers: 0, -1, 1, -2 are 0, 1, 2, 3."""
    return np.where(values < 0, -2 * values - 1, 2 * values)


def decode_zigzag(values: Positions) -> Positions:
    """Return the signed integers of zigzag codes."""
    return np.where(values & 1, -(values + 1 >> 1), values >> 1)
