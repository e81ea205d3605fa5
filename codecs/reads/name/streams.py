"""Operations on tokens that encode lines of names, and the streams of their bytes.

SPEC.md, Names, gives their meaning.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

MOST_TOKENS = 63  # in a line; the last one is the rest of it
COLUMNS = MOST_TOKENS + 1  # a line of MOST_TOKENS ends at the last column
MOST_DIGITS = 18  # of a token that is a number: it fits 63 bits

# operations, the symbols of a column's first stream
END, REST, TEXT = 0, 1, 2
UP, DOWN, NUMBER, LONG = 3, 5, 7, 10  # UP + n, DOWN + n, NUMBER + n: of n + 1 bytes
PADDED = 8  # added to these: leading zeros up to the length of the token before
MATCH, UUID, HEX = 19, 20, 22  # + 1: with upper-case digits
SAME = 63  # SAME + n: n tokens are those of the line before
WIDTHS = np.array([1, 2, 1, 2, 1, 2, 3, 0], np.int64)  # bytes of operands of UP to LONG

# streams of a column: operations, then the operand bytes of operation UP + i from PARTS[i] on
OPERATIONS = 0
PARTS = np.array([1, 2, 4, 5, 7, 8, 10, 13], np.int64)
LONG_BITS, TEXT_BYTES, MATCHES, HEX_DIGITS, HEX_REST, VERSION, VARIANT = 13, 14, 15, 16, 17, 18, 19
PER_COLUMN = 20
FIRST_LINES = COLUMNS * PER_COLUMN  # the two streams at the start of a lane
N_STREAMS = FIRST_LINES + 2

TEXT_END = 10  # no line contains it
UUID_LENGTH, HEX_LEAST = 36, 8
UUID_PARTS = np.array([8, 4, 4, 4, 12], np.int64)

# kinds of tokens
WORD, DIGITS, HEX_LOWER, HEX_UPPER, UUID_LOWER, UUID_UPPER = 0, 1, 2, 3, 4, 5

# modes of a stream: the context that selects a byte's table
ABSENT, RAW, ALONE = 0, 1, 2
BEFORE, LAST, FIRST = 3, 5, 7  # + 1: all bits of the context, else its bit length
N_MODES = 9
MOST_TABLES = 2048


class Cuts(NamedTuple):
    """Tokens of a name: their offsets, kinds and values.

    Attributes
    ----------
    places : (COLUMNS + 1,) int64, start of each token in the line, and end of the last one
    kinds : (COLUMNS,) uint8, kind of each token, see `Token`
    values : (COLUMNS,) int64, values of numbers of at most MOST_DIGITS digits
    """

    places: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.uint8]
    values: npt.NDArray[np.int64]


def no_cuts() -> Cuts:
    """Return zeroed arrays for the tokens of a name."""
    values = np.zeros(COLUMNS, np.int64)
    return Cuts(np.zeros(COLUMNS + 1, np.int64), np.zeros(COLUMNS, np.uint8), values)
