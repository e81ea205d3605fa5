"""Sampled positions of an index: sampling, checks, and walks to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.codecs.core.memory.aligned import aligned_zeros
from gangsaw.tasks.search.kernels import bases, bits, seeds, tree, walks

RowsT = TypeVar("RowsT", bases.BaseRows, tree.ByteRows)
Positions = npt.NDArray[np.int64]
Walk = Callable[[RowsT, walks.Samples, Positions, Positions, Positions], None]
Suffixes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
MOST_SEEDS = 1 << 22  # most seeds of a query in a text
MOST_RATE = 1 << 16


def build_samples(
    text: npt.NDArray[np.uint8], suffixes: npt.NDArray[np.int32], rate: int, *, has_breaks: bool
) -> walks.Samples:
    """Sample the text positions of rows: every `rate`-th position, the end, and after breaks."""
    marks = aligned_zeros(bits.count_bit_words(text.size + 1), np.uint64)
    walks.fill_marks(text, suffixes, rate, has_breaks, marks)
    positions = np.empty(bits.fill_counts(marks), np.uint32)
    walks.fill_marked_positions(suffixes, marks, positions)
    return walks.Samples(marks, positions, rate)


def check_samples(
    marks: npt.NDArray[np.uint64], positions: npt.NDArray[np.uint32], rate: int, n: int
) -> walks.Samples:
    """Return sampled positions read from an index of n letters.

    Raise CorruptChunk if inconsistent.
    """
    if not 1 <= rate <= MOST_RATE:
        raise CorruptChunk(f"positions of every {rate}th suffix")
    if bits.checked_ones(marks, n + 1) != positions.size or int(positions.max(initial=0)) > n:
        raise CorruptChunk("sampled positions are not those of a text")
    return walks.Samples(marks, positions, rate)


def find_seeds(
    of: bases.BaseRows | tree.ByteRows, query: Bytes, length: int
) -> tuple[Positions, Positions]:
    """Return starts and rows (k,) of a query's windows that occur, with unequal letters before.

    Windows have `length` letters. Raises BadParams if there are more than MOST_SEEDS.
    """
    of_bases = of if isinstance(of, bases.BaseRows) else None
    of_bytes = of if isinstance(of, tree.ByteRows) else None
    windows = np.empty((max(0, query.size - length + 1), 3), np.int64)
    windows = windows[: seeds.find_seed_windows(of_bases, of_bytes, query, length, windows)]
    n = int((windows[:, seeds.HIGH] - windows[:, seeds.LOW]).sum())
    if n > MOST_SEEDS:
        raise BadParams(
            f"windows of {length} bytes occur more than {MOST_SEEDS:,} times: look for "
            "longer matches"
        )
    begins, rows = np.empty(n, np.int64), np.empty(n, np.int64)
    used = seeds.expand_windows(of_bases, of_bytes, query, windows, begins, rows)
    return begins[:used], rows[:used]


def locate_rows(
    walk: Walk[RowsT], of: RowsT, samples: walks.Samples, rows: Positions, n: int
) -> Positions:
    """Return the text positions of rows (k,) int64, by walks to sampled rows.

    Raises CorruptChunk if the index is invalid.
    """
    out = np.empty(rows.size, np.int64)
    scratch = np.empty(walks.AT_ONCE * walks.WALK, np.int64)
    walk(of, samples, np.ascontiguousarray(rows), scratch, out)
    if out.size and not 0 <= int(out.min()) <= int(out.max()) <= n:
        raise CorruptChunk("the index describes no text: a walk has no end")
    return out
