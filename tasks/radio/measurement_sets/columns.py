"""Columns of a main table: regular ones become arrays, all others are copied as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.tasks.radio.radio import list_largest
from gangsaw.tasks.store.dataset.losses import Refused
from gangsaw.tasks.store.dataset.variables import MOST_WHOLE

if TYPE_CHECKING:
    from casacore import tables

TYPES = {
    "boolean": "?",
    "uchar": "u1",
    "short": "i2",
    "ushort": "u2",
    "int": "i4",
    "uint": "u4",
    "int64": "i8",
    "float": "f4",
    "double": "f8",
    "complex": "c8",
    "dcomplex": "c16",
}
TEXT_BYTES = 16  # approximate bytes of a string


@dataclass(frozen=True)
class CellColumn:
    """A column with a numeric cell in every row, all of the same shape.

    Attributes
    ----------
    name : name in the table
    shape : extents of a cell
    dtype : dtype of its numbers
    """

    name: str
    shape: tuple[int, ...]
    dtype: Dtype


def regular_columns(table: tables.table) -> Iterator[CellColumn]:
    """Yield the columns that are arrays: every row of the table has a cell of the same shape."""
    for name in table.colnames():
        if (shape := _shape(table, name)) is not None:
            yield CellColumn(name, shape, np.dtype(TYPES[table.coldatatype(name)]))


def measure_irregular_columns(parts: Iterable[tables.table]) -> Mapping[str, int]:
    """Return the bytes of each column that is not an array in some of these parts of a table.

    Such a column has missing cells, cells of several shapes, or strings. Columns without any cell
    are not included.
    """
    found: dict[str, int] = {}
    for table in parts:
        for name in table.colnames():
            if _shape(table, name) is None and (cells := list(_cells(table, name))):
                found[name] = found.get(name, 0) + _bytes(table, name, cells)
    return found


def find_large_columns(irregular: Mapping[str, int]) -> list[Refused]:
    """Return the largest irregular columns, which must be left out to copy the rest whole.

    `irregular` maps a column to its bytes.
    """
    reason = (
        "{} MiB in some rows only, of several extents or of texts; such columns are copied whole, "
        f"but no more than {MOST_WHOLE >> 20} MiB"
    )
    found = list_largest(irregular, MOST_WHOLE)
    return [Refused(name, f"has {reason.format(size >> 20)}") for name, size in found]


def _shape(table: tables.table, name: str) -> tuple[int, ...] | None:
    """Return the shape that all cells share; None if there is no such shape."""
    if table.coldatatype(name) not in TYPES:
        return None
    if table.isscalarcol(name):
        return ()
    try:
        found = set(table.getcolshapestring(name))
    except RuntimeError:  # a row without a cell
        return None
    return _extents(found.pop()) if len(found) == 1 else None


def _extents(text: str) -> tuple[int, ...]:
    inner = text.strip("[]")
    return tuple(int(n) for n in inner.split(",")) if inner else ()


def _cells(table: tables.table, name: str) -> Iterator[int]:
    """Yield the numbers of the rows that have a cell."""
    rows = range(table.nrows())
    return (row for row in rows if table.isscalarcol(name) or table.iscelldefined(name, row))


def _bytes(table: tables.table, name: str, cells: list[int]) -> int:
    kind = table.coldatatype(name)
    size = np.dtype(TYPES[kind]).itemsize if kind in TYPES else TEXT_BYTES
    if table.isscalarcol(name):
        return size * len(cells)
    shapes = (table.getcolshapestring(name, row, 1)[0] for row in cells)
    return sum(size * prod(_extents(shape)) for shape in shapes)
