"""Numbers of rANS tables, and of the state kept between lines (SPEC.md, "Tables of sequences")."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit

# the first table of each syntax element, followed by those of its contexts
(
    CONSENSUS,  # previous base
    LITERAL,  # previous base
    TAIL,  # bases - 1
    REPEAT,  # that of the line before
    SAME_LENGTH,
    LENGTH,
    RUNS,
    RUN_GAP,
    RUN_LENGTH,
    RUN_BYTE,
    KIND,  # 2 * kind before + odd
    PIECES,
    MAPPED,  # 0, or 1 + that of the piece before
    PIECE_LENGTH,  # 1 if it is mapped
    AHEAD,
    FAR_AHEAD,
    BACK,
    STRAND_AHEAD,
    HOT,  # first, later
    NEAR,  # of its mate, first, later
    NEAR_HIGH,  # likewise
    PLACE_HIGH,  # first, later
    STRAND,  # 2 * (as NEAR) + strand of the reference
    MISMATCHES,  # 1 if it is one of several pieces
    GAP,  # min(left, 5) - 1
    LETTER,  # consensus base
    VARIANT,  # 9 * (class - 1) + the last two symbols
    OTHER,
    REST,
    LEAD,
    LINES,
    N_TABLES,
) = accumulate(
    (
        0,
        4,
        4,
        3,
        2,
        1,
        1,
        1,
        1,
        1,
        1,
        6,
        1,
        3,
        2,
        1,
        1,
        1,
        1,
        2,
        3,
        3,
        2,
        6,
        2,
        5,
        4,
        36,
        1,
        1,
        1,
        1,
    )
)

# flags of the header
SORTED = 1  # most lines are in the order of their positions
EXCHANGED = 2  # T and U are exchanged
# of sorted blocks: at the position of the line before, the strand depends on that line's
STEADY = 4
ONE_MAPPED, ONE_LITERAL, SEVERAL = 0, 1, 2  # kinds of lines
OF_MATE, OF_FIRST, OF_LATER = 0, 1, 2  # references of a position
NEAR_BY, NEAR_BITS = 1 << 11, 4  # distance that is near, and raw bits of it
AHEAD_BACK, AHEAD_FAR = 254, 255  # symbols that are no distance
MOST_GAP = 255  # symbol: so many columns, and a further symbol
GAPS = 5  # contexts of gaps
HIGH_BITS = 8  # of a position that is not near
MOST_ANCHORS = 255  # a symbol for each, and 0 for none
PLACE_BITS = 32  # of the position at the start of a window of a sorted block

# state that a line inherits from earlier lines of its window, as items of (MEMORY,) int64
AT_LENGTH, AT_KIND, AT_PRIMARY, AT_STRAND, AT_MATE, AT_REPEAT, MEMORY = range(7)


@jit(inline=True, part=True, norefs=True)
def strand_table(is_still: bool, before: int) -> int:
    """Return the number of the table of a first piece's strand in a sorted block.

    is_still : True if the piece is at the position of the one before, and the block is STEADY
    before : strand of the one before
    """
    return STRAND + 2 * OF_FIRST + before if is_still else STRAND_AHEAD


def legal_symbols(n_hot: int) -> npt.NDArray[np.bool_]:
    """Return (N_TABLES, 256): True for legal symbols of each table, with n_hot anchors."""
    legal = np.ones((N_TABLES, 256), np.bool_)
    for first, last, n in [
        (TAIL, TAIL + 1, 4),
        (TAIL + 1, TAIL + 2, 16),
        (TAIL + 2, TAIL + 3, 64),
        (REPEAT, LENGTH, 2),
        (KIND, PIECES, 3),
        (MAPPED, PIECE_LENGTH, 2),
        (STRAND_AHEAD, HOT, 2),
        (HOT, NEAR, n_hot + 1),
        (NEAR, NEAR_HIGH, 2),
        (STRAND, MISMATCHES, 2),
        (LETTER, VARIANT, 4),
        (VARIANT, OTHER, 3),
        (OTHER, REST, 2),
    ]:
        legal[first:last, n:] = False
    legal[LETTER + np.arange(4), np.arange(4)] = False
    legal[RUN_BYTE, list(b"ACGT\n")] = False
    return legal


def place_bits(size: int) -> int:
    """Return the bits of a position in a consensus."""
    return max(1, size.bit_length())
