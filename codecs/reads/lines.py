"""A block as lines: where they begin and end, and which windows they belong to (SPEC.md, Lines)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.floats import load_le64
from gangsaw.codecs.core.numba.jit import jit, jit_inline

NEWLINE = 10
Text = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]


class Lines(NamedTuple):
    """The lines of a block.

    Attributes
    ----------
    text : (used,) uint8, the block without the zeros at its end
    starts : (n,) int64, first byte of each line
    ends : (n,) int64, the byte behind its letters: that of its newline, or `used`
    is_open : whether the last line has no newline
    windows : (n_windows + 1,) int64, first line of each window, and n
    lane : bytes of a window
    """

    text: Text
    starts: Places
    ends: Places
    is_open: bool
    windows: Places
    lane: int

    @property
    def n_windows(self) -> int:
        """Windows of the block."""
        return self.windows.size - 1


def lines_of(block: Text, lane: int) -> Lines:
    """Return the lines of a block, (n,) uint8 and contiguous."""
    text = block[: int(count_used(block))]
    is_open = text.size > 0 and text[-1] != NEWLINE
    n = int(count_newlines(text)) + is_open
    starts, ends = np.empty(n, np.int64), np.empty(n, np.int64)
    find_lines(text, starts, ends)
    firsts = np.arange(-(-block.size // lane) + 1) * lane
    return Lines(text, starts, ends, bool(is_open), np.searchsorted(starts, firsts), lane)


@jit
def count_newlines(text: Any) -> Any:
    """Return how many bytes of a text are newlines."""
    n = 0
    for i in range(text.size):
        n += text[i] == NEWLINE
    return n


@jit
def find_lines(text: Any, starts: Any, ends: Any) -> None:
    """Fill (n,) with the first byte of each line, and with its newline or the end of the text."""
    k, at = 0, 0
    for word in range(text.size >> 3):
        marks = _newlines(load_le64(text, 8 * word))
        while marks:
            end = 8 * word + (trailing_zeros(marks) >> 3)
            starts[k], ends[k] = at, end
            k, at = k + 1, end + 1
            marks &= marks - np.uint64(1)
    for i in range(text.size & ~7, text.size):
        if text[i] == NEWLINE:
            starts[k], ends[k] = at, i
            k, at = k + 1, i + 1
    if at < text.size:
        starts[k], ends[k] = at, text.size


@jit_inline
def _newlines(word: Any) -> Any:
    """Return a word with the highest bit of those of its bytes set that are newlines."""
    zeros = word ^ np.uint64(0x0A0A0A0A0A0A0A0A)
    low = np.uint64(0x7F7F7F7F7F7F7F7F)
    return ~((zeros & low) + low | zeros | low)


@jit
def count_used(block: Any) -> Any:
    """Return the bytes of a block without the zeros at its end."""
    n = block.size
    while n and block[n - 1] == 0:
        n -= 1
    return n
