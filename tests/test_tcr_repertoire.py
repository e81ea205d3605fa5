"""Repertoires in: formats, lines, what is wrong with a file and with a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import tcr_tables
from tcr_tables import PACKED, WRITERS, Record

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.repertoire import ROWS, open_repertoire

RECORDS = [
    Record(id="a", sample="m1", copies=3),
    Record("TGCGCCAGCAGTGATTTTGAGACCCAGTACTTC", "TRBV13-1", "", "TRBJ2-5*01", 12, "b", "m1"),
    Record("TGTGCNAGCTGG", "TRBV1*01,TRBV2*01", "TRBD2*01", "TRBJ2-7", 2**62, "c", "m2"),
]


def written(folder: Path, data: str | bytes, name: str = "m.txt") -> Path:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def rows_in(path: Path, **options: Any) -> list[dict[str, Any]]:
    """All rows of a file; the batches must be of the schema."""
    batches = list(open_repertoire(path, **{"locus": "TRB"} | options))
    assert all(batch.schema == ROWS for batch in batches)
    for batch in batches:
        batch.validate(full=True)
    rows: list[dict[str, Any]] = pa.Table.from_batches(batches, ROWS).to_pylist()
    return rows


def expected(record: Record, line: int, writer: str) -> dict[str, Any]:
    without_id = writer in tcr_tables.WITHOUT_ID
    without_sample = writer in tcr_tables.WITHOUT_SAMPLE
    return {
        "line": line,
        "id": "" if without_id else record.id,
        "sample": "m" if without_sample else record.sample or "m",
        "cdr3": record.junction[3:-3],
        "v_call": record.v,
        "d_call": record.d,
        "j_call": record.j,
        "copies": record.copies,
        "reason": "",
    }


def fields_of(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in expected(RECORDS[0], 1, "")}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("writer", WRITERS)
def test_what_was_written_is_read(tmp_path: Path, writer: str, packed: str) -> None:
    path = written(tmp_path, PACKED[packed](WRITERS[writer](RECORDS).encode()))
    rows = rows_in(path, columns=tcr_tables.OWN if writer == "own" else None)
    want = [expected(record, line, writer) for line, record in enumerate(RECORDS, 2)]
    assert [fields_of(row) for row in rows] == want


def test_a_file_without_a_column_says_so(tmp_path: Path) -> None:
    path = written(tmp_path, WRITERS["airr"](RECORDS).replace("j_call", "jay"))
    with pytest.raises(BadParams, match=r"m\.txt \(AIRR\) needs a column j_call; it has .*jay"):
        open_repertoire(path, locus="TRB")
