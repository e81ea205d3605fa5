"""Table of dropped rows: file, line and id of the row, the reason, and the faulty value."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

HEADER = b"file\tline\tid\treason\tdetail\n"
# fields are never quoted: tabs, line breaks and quotes become spaces, so that any parser works
TSV = pa.csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
NEEDS_QUOTES = r'[\t\r\n"]'


def dropped_lines(file: str, rows: pa.RecordBatch) -> bytes:
    """Return the lines of the table of dropped rows, for rows of one file.

    Parameters
    ----------
    file : name of the file
    rows : table with the columns line (int64), id, reason, detail (strings)
    """
    texts = {"id": rows["id"], "reason": rows["reason"], "detail": rows["detail"]}
    plain = {n: pc.replace_substring_regex(text, NEEDS_QUOTES, " ") for n, text in texts.items()}
    names = pa.repeat(re.sub(NEEDS_QUOTES, " ", file), len(rows))
    lines = io.BytesIO()
    pa.csv.write_csv(pa.table({"file": names, "line": rows["line"], **plain}), lines, TSV)
    return lines.getvalue()


def write_dropped(parts: Iterable[bytes], path: Path) -> None:
    """Write the table of dropped rows to a file: its header, then its parts."""
    with path.open("wb") as file:
        file.write(HEADER)
        file.writelines(parts)
