"""Transform as runs of equal letters: an r-index (Gagie, Navarro, Prezza, 2020).

For each run it has the start, the number of equal letters before it, and the position of its last
row. For its first row it has the position, and that of the row before. Two consecutive rows in a
run have the same difference of positions as those of the suffixes one letter longer. All other
positions follow from the stored ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit

ALPHABET_SIZE = 256
LOW, HIGH, PLACE = range(3)  # fields of a pattern: its rows, and the position of the last one
NOWHERE = -1


class RepeatRows(NamedTuple):
    """Runs of equal letters in a Burrows-Wheeler transform, with positions: an r-index.

    Attributes
    ----------
    own : (257,) int64, first run of each letter, in the order by letter, and number of runs
    begins : (r,) uint32, starts of runs in the transform without the primary row; by letter
    before : (r + 1,) uint32, letters in the runs before, in the order by letter
    ends : (r,) uint32, text position of the last row of each run
    heads : (h,) uint32, positions of the first rows of runs, and of the primary row, ascending
    above : (h,) uint32, position of the row before each row of `heads`
    firsts : (257,) int64, first row of the suffixes that begin with each letter, and number of rows
    primary : row of the whole text; no run extends across it
    last : position of the last row
    """

    own: npt.NDArray[np.int64]
    begins: npt.NDArray[np.uint32]
    before: npt.NDArray[np.uint32]
    ends: npt.NDArray[np.uint32]
    heads: npt.NDArray[np.uint32]
    above: npt.NDArray[np.uint32]
    firsts: npt.NDArray[np.int64]
    primary: int
    last: int


@jit(inline=True, part=True, norefs=True)
def _last_below(numbers: Any, low: Any, high: Any, most: Any) -> Any:
    """Return the last index in low..high - 1 with a number below `most`, else low - 1.

    The numbers ascend.
    """
    while low < high:
        middle = (low + high) >> 1
        if np.int64(numbers[middle]) < most:
            low = middle + 1
        else:
            high = middle
    return low - 1


@jit(norefs=True)
def fill_runs(text: Any, suffixes: Any, symbols: Any, lengths: Any, firsts: Any, lasts: Any) -> Any:
    """Find the runs of equal letters in the transform; return their number, and the primary row.

    The primary row is that of the whole text.

    Parameters
    ----------
    text, suffixes : (n,) uint8 and int32, n >= 1
    symbols, lengths : (r,) uint8 and uint32; runs beyond r are only counted
    firsts, lasts : (r,) uint32, text positions of the first and of the last row of each run
    """
    used, primary, before = 0, 0, np.int64(-1)
    for row in range(text.size + 1):
        place = text.size if row == 0 else np.int64(suffixes[row - 1])
        if place == 0:
            primary, before = row, np.int64(-1)
            continue
        letter = np.int64(text[place - 1])
        if letter != before:
            if used < symbols.size:
                symbols[used], lengths[used], firsts[used] = letter, 0, place
            used, before = used + 1, letter
        if used <= symbols.size:
            lengths[used - 1] += np.uint32(1)
            lasts[used - 1] = place
    return used, primary


@jit(norefs=True)
def find_pattern_rows(of: Any, data: Any, begins: Any, rows: Any) -> None:
    """Write the range of rows of each pattern, and its last row's text position: (n, 3) int64."""
    for i in range(len(begins) - 1):
        find_one(of, data, begins[i], begins[i + 1], rows, i)


@jit(inline=True, part=True, norefs=True)
def find_one(of: Any, data: Any, begin: Any, end: Any, rows: Any, i: int) -> Any:
    """Search data[begin:end] from its end; write row range and position to rows[i].

    Returns the first index from which it occurs.
    """
    low, high, place = np.int64(0), of.firsts[ALPHABET_SIZE], np.int64(of.last)
    while end > begin and low < high:
        end -= 1
        letter = np.int64(data[end])
        first, stop = of.own[letter], of.own[letter + 1]
        own = np.int64(of.before[first])
        at = high - (high > of.primary)
        run = _last_below(of.begins, first, stop, at)
        if run < first:
            low = high = np.int64(0)
            break
        inside = min(at - np.int64(of.begins[run]), _length(of, run))
        ends_here = at - np.int64(of.begins[run]) == inside and high - 1 != of.primary
        place = (place if ends_here else np.int64(of.ends[run])) - 1
        high = of.firsts[letter] + np.int64(of.before[run]) - own + inside
        at = low - (low > of.primary)
        run = _last_below(of.begins, first, stop, at)
        count = np.int64(0)
        if run >= first:
            inside = min(at - np.int64(of.begins[run]), _length(of, run))
            count = np.int64(of.before[run]) - own + inside
        low = of.firsts[letter] + count
    rows[i, LOW], rows[i, HIGH], rows[i, PLACE] = low, high, place
    return end


@jit(inline=True, part=True, norefs=True)
def _length(of: Any, run: Any) -> Any:
    return np.int64(of.before[run + 1]) - np.int64(of.before[run])


@jit(norefs=True)
def find_repeat_windows(of: Any, data: Any, length: int, windows: Any, rows: Any) -> Any:
    """Find windows of `length` letters of a query that occur; return their number.

    `windows` gets their starts (k,) int64, `rows` their row ranges and last positions (k, 3).
    """
    used, begin = 0, np.int64(0)
    while begin + length <= data.size:
        at = find_one(of, data, begin, begin + length, rows, used)
        if rows[used, LOW] < rows[used, HIGH]:
            windows[used] = begin
            used += 1
        begin = at + 1
    return used


@jit(norefs=True)
def fill_row_positions(of: Any, rows: Any, positions: Any) -> bool:
    """Write the text positions of all rows of patterns; return True if all are in the text.

    In a pattern's range they are written from the last row to the first.
    """
    used, n = 0, of.firsts[ALPHABET_SIZE] - 1
    for i in range(len(rows)):
        place = rows[i, PLACE]
        for row in range(rows[i, HIGH] - 1, rows[i, LOW] - 1, -1):
            if not 0 <= place <= n:
                return False
            positions[used] = place
            used += 1
            if row > rows[i, LOW]:
                head = _last_below(of.heads, 0, of.heads.size, place + 1)
                place = np.int64(of.above[head]) + place - np.int64(of.heads[head])
    return True
