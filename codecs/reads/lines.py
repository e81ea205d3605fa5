"""Lines of a block: their starts and ends, and the windows that they belong to (SPEC.md, Lines)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.numba.bits import count_ones, trailing_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import bits_of, load, static

NEWLINE = 10
LANES = static(64)  # bytes that are examined together
U = np.uint64
Text = npt.NDArray[np.uint8]
# span of a decoded window: start and end of its text, and its lines
SPAN_BEGIN, SPAN_END, SPAN_LINES = range(3)
SPAN = 3


class Lines(NamedTuple):
    """Lines of a block of text, and the windows (spans of `lane` bytes) in which they begin.

    Attributes
    ----------
    text : (used,) uint8, the block without the zeros at its end
    starts : (n,) int64, first byte of each line
    ends : (n,) int64, the byte after its text: that of its newline, or `used`
    is_open : True if the last line has no newline
    windows : (n_windows + 1,) int64, first line that begins in each window, then n
    lane : bytes of a window
    """

    text: Text
    starts: Int64s
    ends: Int64s
    is_open: bool
    windows: Int64s
    lane: int

    @property
    def n_windows(self) -> int:
        """Number of windows of the block."""
        return self.windows.size - 1


def find_lines(block: Text, lane: int) -> Lines:
    """Find the lines of a block of text, (n,) uint8 and contiguous, and its windows."""
    text = block[: int(count_used(block))]
    is_open = text.size > 0 and text[-1] != NEWLINE
    n_newlines = int(count_newlines(text))
    starts, ends = (np.empty(n_newlines + is_open, np.int64) for _ in range(2))
    find_newlines(text, ends[:n_newlines])
    ends[n_newlines:] = text.size
    starts[:1], starts[1:] = 0, ends[:-1] + 1
    firsts = np.arange(-(-block.size // lane) + 1) * lane
    return Lines(text, starts, ends, bool(is_open), np.searchsorted(starts, firsts), lane)


@jit(norefs=True)
def count_newlines(text: Bytes) -> np.int64:
    """Return the number of newlines in a text."""
    n, whole = np.int64(0), text.size // len(LANES) * len(LANES)
    for i in range(0, whole, len(LANES)):
        n += count_ones(bits_of(load(text, i, LANES) == NEWLINE))
    for i in range(U(whole), U(text.size)):
        n += text[i] == NEWLINE
    return n


@jit(norefs=True)
def find_newlines(text: Bytes, out: Int64s) -> None:
    """Write the positions of all newlines of a text to `out`, (n_newlines,) int64."""
    n, whole = U(0), text.size // len(LANES) * len(LANES)
    for i in range(0, whole, len(LANES)):
        bits = bits_of(load(text, i, LANES) == NEWLINE)
        while bits:
            out[n] = i + trailing_zeros(bits)
            n += U(1)
            bits &= bits - U(1)
    for i in range(U(whole), U(text.size)):
        if text[i] == NEWLINE:
            out[n] = i
            n += U(1)


@jit
def count_used(block: Bytes) -> int:
    """Return the number of bytes of a block before the zeros at its end."""
    n = block.size
    while n and block[n - 1] == 0:
        n -= 1
    return n
