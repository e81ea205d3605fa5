"""Conversion between Arrow strings and the arrays of kernels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.plugins.extras import extras_named

with extras_named():
    import pyarrow as pa

from gangsaw.tasks.tcr.repertoire.tables.kernels import Bytes, Indices, gather_fields

# spellings of a missing value, in lower case
MISSING = {"", ".", "-", "*", "na", "n/a", "nan", "none", "null", "no data", "unknown"}
MISSING |= {"unresolved", "undefined", "region_not_covered"}


def is_missing(text: str) -> bool:
    """Return True if a field is a spelling of a missing value."""
    return text.strip().lower() in MISSING


def buffers(column: pa.Array) -> tuple[npt.NDArray[np.int32], Bytes]:
    """Return offsets (n + 1,) and data of a string column or slice, without a copy.

    Nulls are strings of length 0.
    """
    _, offsets, data = column.buffers()
    if not len(column):
        return np.zeros(1, np.int32), np.zeros(0, np.uint8)
    where = np.frombuffer(offsets, np.int32, len(column) + 1, 4 * column.offset)
    return where, np.frombuffer(data, np.uint8) if data else np.zeros(0, np.uint8)


def strings(offsets: npt.NDArray[np.int32], data: Bytes) -> pa.Array:
    """Return a string column from offsets and data, which must be UTF-8."""
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


def slices(column: pa.Array, starts: Indices, ends: Indices, table: Bytes) -> pa.Array:
    """Return slices of a string column's data as a column, each byte mapped by `table`."""
    offsets, data, _ = gather_fields(buffers(column)[1], starts, ends, table, False)
    return strings(offsets, data)


def by_distinct(
    column: pa.Array, function: Callable[[str], object], kind: pa.DataType = None
) -> pa.Array:
    """Return function(text) for each row, with one call per distinct text."""
    coded = column.dictionary_encode()
    texts = coded.dictionary.to_pylist()
    values = [function(text) for text in texts]
    if kind is None and values == texts:
        return column
    return pa.array(values, kind or pa.string()).take(coded.indices)
