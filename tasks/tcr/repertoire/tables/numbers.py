"""Numbers of copies in the spellings of tables: 12, 12.0, 1.2E1."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gangsaw.tasks.tcr.repertoire.tables.kernels import EMPTY, ODD, whole_numbers
from gangsaw.tasks.tcr.repertoire.tables.strings import buffers, is_missing

if TYPE_CHECKING:
    import pyarrow as pa

MOST = 2**63 - 1
_NUMBER = re.compile(r"\+?[0-9]{1,19}(\.[0-9]{1,19})?([eE]\+?[0-9]{1,2})?", re.ASCII)


def written_numbers(column: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Parse whole numbers; return values (n,) and spellings (n,): PLAIN, EMPTY or ODD.

    Only values with the spelling PLAIN are valid.
    """
    values, written = np.zeros(len(column), np.int64), np.zeros(len(column), np.uint8)
    whole_numbers(*buffers(column), values, written)
    return values, written


def copies_of(column: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return the numbers of copies (n,), and a mask of the invalid ones.

    A missing value is one copy, as in a table without such a column.
    """
    values, written = written_numbers(column)
    values[written == EMPTY] = 1
    for row in np.flatnonzero(written == ODD).tolist():
        values[row] = _parsed(column[row].as_py())
    return values, values <= 0


def n_missing(column: pa.Array) -> int:
    """Return the number of rows without a number of copies."""
    import pyarrow as pa

    _, written = written_numbers(column)
    others = column.filter(pa.array(written == ODD)).value_counts().to_pylist()
    odd = sum(each["counts"] for each in others if is_missing(each["values"]))
    return int(np.count_nonzero(written == EMPTY)) + int(odd)


def _parsed(text: str) -> int:
    """Return the number of copies, or 0 if the text is no positive integer below 2**63."""
    if is_missing(text):
        return 1
    if not _NUMBER.fullmatch(text):
        return 0
    number = Decimal(text)
    return int(number) if number == number.to_integral_value() and number <= MOST else 0
