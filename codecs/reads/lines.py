"""A block as lines: where they begin and end, and which windows they belong to (SPEC.md, Lines)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit

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
    newlines = np.flatnonzero(text == NEWLINE)
    is_open = text.size > 0 and text[-1] != NEWLINE
    n = newlines.size + is_open
    starts, ends = np.zeros(n, np.int64), np.full(n, text.size, np.int64)
    ends[: newlines.size] = newlines
    starts[1:] = newlines[: n - 1] + 1
    firsts = np.arange(-(-block.size // lane) + 1) * lane
    return Lines(text, starts, ends, bool(is_open), np.searchsorted(starts, firsts), lane)


@jit
def count_used(block: Any) -> Any:
    """Return the bytes of a block without the zeros at its end."""
    n = block.size
    while n and block[n - 1] == 0:
        n -= 1
    return n
