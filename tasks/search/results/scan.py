"""Scan of a chunk's text for patterns with so many occurrences that index walks take longer.

An index walk to one occurrence takes about 3 us, and a scan of the text 1.5 ns per base or byte.
The index gives the number of occurrences from its rows alone, before any walk.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.nucleotides.codes import CODES
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.search.fm_index.byte_index import count_byte_values
from gangsaw.tasks.search.fm_index.packed import Bytes
from gangsaw.tasks.search.fm_index.row_index import RowIndex, count_row_ranges
from gangsaw.tasks.search.fm_index.samples import Positions
from gangsaw.tasks.search.stored.indexed_text import IndexedText

DENSE = 512  # a pattern is dense, and scanned for, with a hit per so many bases of the chunk
WORTH = 64  # a scan needs a dense hit per so many bases: the text must be read and decoded
LEAST = 1 << 12  # least dense hits in a chunk for a scan
LONGEST = 64  # longest scanned pattern: each base is compared at all remaining candidates
COPIES = 4  # bytes of memory per base of a chunk: the text, its codes, comparison masks


def locate_in_chunk(
    text: IndexedText, number: int, index: RowIndex, patterns: RaggedArray
) -> tuple[Positions, Positions]:
    """Locate patterns in a chunk by its index, or by a scan of its text if they occur often.

    Parameters
    ----------
    text : indexed text
    number : number of the chunk
    index : index of the chunk
    patterns : patterns to find

    Returns
    -------
    tuple : (n,) int64 pattern indexes and (n,) int64 positions from the start of the chunk, in any
        order
    """
    rows = index.rows(patterns)
    counts, lengths = count_row_ranges(rows), patterns.lengths
    is_dense = (counts * DENSE > index.n) & (lengths <= LONGEST)
    n_dense = int(counts[is_dense].sum())
    if n_dense < LEAST or n_dense * WORTH < index.n:
        return index.locate_in_ranges(rows)
    sparse = np.flatnonzero(~is_dense)
    which, place = index.locate_in_ranges(rows[sparse])
    parts = [(sparse[which], place)]
    find = _finder(text, number)
    for one in np.flatnonzero(is_dense).tolist():
        own = find(patterns[one])
        parts.append((np.full(own.size, one), own))
    return np.concatenate([one for one, _ in parts]), np.concatenate([own for _, own in parts])


def _finder(text: IndexedText, number: int) -> Callable[[Bytes], Positions]:
    """Return a function that finds all positions of a pattern in a chunk."""
    begin, end = text.how.window(number)
    letters = text.stored.read(begin, end)
    if text.how.kind == "bytes":
        counts = count_byte_values(letters)
        return lambda pattern: find_pattern(letters, pattern, counts)
    codes, borders = CODES[letters], text.stored.borders_in(begin, end)
    totals = count_byte_values(codes)

    def find(pattern: Bytes) -> Positions:
        found = find_pattern(codes, pattern, totals)
        return found[~_crosses(found, pattern.size, borders)]

    return find


def find_pattern(text: Bytes, pattern: Bytes, counts: Positions) -> Positions:
    """Return the positions of a pattern in a text, ascending, with overlapping matches.

    Parameters
    ----------
    text, pattern : (n,) and (m,) uint8
    counts : (256,) int64, number of occurrences of each byte in the text; the rarest byte of the
        pattern is compared first

    Returns
    -------
    (k,) int64
    """
    order = np.argsort(counts[pattern], kind="stable")
    n = text.size - pattern.size + 1
    if n < 1:
        return np.empty(0, np.int64)
    first = int(order[0])
    found: Positions = np.flatnonzero(text[first : first + n] == pattern[first])
    for i in order[1:].tolist():
        found = found[text[found + i] == pattern[i]]
    return found


def _crosses(positions: Positions, length: int, borders: Positions) -> npt.NDArray[np.bool_]:
    """Return a mask of the matches that contain a border between records.

    Parameters
    ----------
    positions : (k,) int64, positions of the matches
    length : length of the pattern
    borders : (b,) int64, ascending positions of the borders

    Returns
    -------
    (k,) bool
    """
    ends = np.append(borders, np.iinfo(np.int64).max)
    crosses: npt.NDArray[np.bool_] = ends[np.searchsorted(borders, positions, "right")] < (
        positions + length
    )
    return crosses
