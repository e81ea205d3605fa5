"""The table of dropped rows: which file, line and id, the reason, and what stood there."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

HEADER = b"file\tline\tid\treason\tdetail\n"
TSV = pa.csv.WriteOptions(include_header=False, delimiter="\t")


def dropped_lines(file: str, rows: pa.RecordBatch) -> bytes:
    """Return the lines of the table for dropped rows of a file.

    Parameters
    ----------
    rows : with the columns line (int64), id, reason, detail (strings)
    """
    table = pa.table(
        {
            "file": pa.array([file]).take(pa.array([0] * len(rows))),
            **{name: rows[name] for name in ("line", "id", "reason", "detail")},
        }
    )
    lines = io.BytesIO()
    pa.csv.write_csv(table, lines, TSV)
    return lines.getvalue()


def write_dropped(parts: Iterable[bytes], path: Path) -> None:
    """Write the table: its header, then these parts of it, one after the other."""
    with path.open("wb") as file:
        file.write(HEADER)
        file.writelines(parts)
