"""Row batches: the common schema of all repertoire formats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.tasks.tcr.repertoire import reasons

with extras_named():
    import pyarrow as pa
    import pyarrow.compute as pc

from gangsaw.tasks.tcr.repertoire.formats.format import Columns
from gangsaw.tasks.tcr.repertoire.tables.kernels import (
    CYS,
    NUCLEOTIDES,
    PHE_TRP,
    Bytes,
    junction_inside,
)
from gangsaw.tasks.tcr.repertoire.tables.numbers import copies_of
from gangsaw.tasks.tcr.repertoire.tables.strings import (
    MISSING,
    buffers,
    by_distinct,
    is_missing,
    slices,
)
from gangsaw.tasks.tcr.repertoire.tables.text import Fields

BATCH_ROWS = 65_536
BATCH_BYTES = 1 << 26  # upper bound of a batch: it has fewer rows if they are long
NO_SEQUENCE = pa.array(
    sorted({"NaN", *(case(word) for word in MISSING for case in (str, str.upper, str.title))})
)

ROWS = pa.schema(
    [
        ("line", pa.int64()),  # 1-based line of the file, or row of a Parquet file
        ("id", pa.string()),
        ("sample", pa.string()),
        ("cdr3", pa.string()),  # upper case, T for U, without the codons of Cys and Phe/Trp
        ("v_call", pa.string()),
        ("d_call", pa.string()),
        ("j_call", pa.string()),
        ("copies", pa.int64()),
        ("anchors", pa.uint8()),  # CYS | PHE_TRP of the junction; both if the file has a cdr3
        ("productive", pa.bool_()),  # null if the file has no such column
        ("reason", pa.string()),  # reason of the reader to drop the row, or ""
        ("detail", pa.string()),
    ]
)


@dataclass(frozen=True)
class RowDefaults:
    """Requested locus, and sample of the rows that name none."""

    locus: str
    sample: str


def build_repertoire_rows(
    fields: Fields, columns: Columns, defaults: RowDefaults
) -> pa.RecordBatch:
    """Return a batch of the schema ROWS.

    Parameters
    ----------
    fields : parsed lines
    columns : role -> string array (n,), converted by the format
    defaults : requested locus, and default sample
    """
    size = len(fields.lines)
    marks = reasons.RowReasons(size)
    marks.mark(_filled(fields.ragged), reasons.RAGGED, fields.ragged)
    marks.mark(_filled(fields.not_utf8), reasons.NOT_UTF8, fields.not_utf8)
    empty = pa.repeat("", size)
    if (locus := columns.get("locus")) is not None:
        other = by_distinct(locus, lambda text: is_other(text, defaults.locus), pa.bool_())
        marks.mark(other.to_numpy(zero_copy_only=False), reasons.OTHER_LOCUS, locus)
    copies = np.ones(size, np.int64)
    if (written := columns.get("copies")) is not None:
        copies, wrong = copies_of(written)
        marks.mark(wrong, reasons.BAD_COPIES, written)
    cdr3, anchors = _cdr3(columns, marks, empty)
    values = {
        "line": pa.array(fields.lines),
        "id": columns.get("id", empty),
        "sample": _sample(columns, defaults.sample, size),
        "cdr3": cdr3,
        **{f"{gene}_call": _call(columns.get(gene), empty) for gene in "vdj"},
        "copies": pa.array(copies),
        "anchors": pa.array(anchors),
        "productive": _productive(columns.get("productive"), size),
        "reason": marks.reasons(),
        "detail": marks.details,
    }
    return pa.RecordBatch.from_arrays([values[name] for name in ROWS.names], schema=ROWS)


def rebatched(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in their order, in batches of `rows` rows or at least BATCH_BYTES."""
    waiting: list[pa.RecordBatch] = []
    found = n_bytes = 0
    for batch in batches:
        waiting.append(batch)
        found, n_bytes = found + batch.num_rows, n_bytes + batch.nbytes
        if found >= rows or n_bytes >= BATCH_BYTES:
            joined = pa.concat_batches(waiting)
            while joined.num_rows >= rows or (joined.num_rows and n_bytes >= BATCH_BYTES):
                yield joined.slice(0, rows)
                joined, n_bytes = joined.slice(rows), 0
            waiting, found, n_bytes = [joined], joined.num_rows, joined.nbytes
    if found:
        yield pa.concat_batches(waiting)


def is_other(text: str, locus: str) -> bool:
    """Return True if a word or list such as "TRA", "TRA,TRD" or "TRAD" names only other loci."""
    words = {word.strip().upper() for word in text.split(",")}
    if is_missing(text) or locus in words:
        return False
    return not ("TRAD" in words and locus in ("TRA", "TRD"))


def _filled(column: pa.Array) -> npt.NDArray[np.bool_]:
    offsets, _ = buffers(column)
    return np.diff(offsets) > 0


def _cdr3(columns: Columns, marks: reasons.RowReasons, empty: pa.Array) -> tuple[pa.Array, Bytes]:
    """Return CDR3s without anchor codons, and flags (n,) of their anchors: CYS | PHE_TRP.

    The CDR3 is taken from the column junction or else cdr3. Too short junctions are marked.
    """
    size = len(empty)
    junction, cdr3 = (_sequence(columns.get(role), empty) for role in ("junction", "cdr3"))
    offsets, data = buffers(junction)
    starts, ends = np.empty((2, size), np.int32)
    anchors = np.empty(size, np.uint8)
    junction_inside(offsets, data, starts, ends, anchors)
    long = np.diff(offsets)
    has_cdr3 = _filled(cdr3) & (long == 0)
    marks.mark((long > 0) & (long <= 6), reasons.TOO_SHORT, junction)
    anchors[long == 0] = CYS | PHE_TRP
    inside = slices(junction, starts, ends, NUCLEOTIDES)
    if not has_cdr3.any():
        return inside, anchors
    begin, data = buffers(cdr3)
    given = slices(cdr3, begin[:-1], begin[1:], NUCLEOTIDES)
    return pc.if_else(pa.array(has_cdr3), given, inside), anchors


def _sequence(column: pa.Array | None, empty: pa.Array) -> pa.Array:
    if column is None:
        return empty
    if (buffers(column)[1] == ord(" ")).any():  # spaces as in "A, B, C" would shift codons by one
        column = pc.ascii_trim_whitespace(column)
    missing = pc.is_in(column, value_set=NO_SEQUENCE)
    return pc.if_else(missing, "", column) if pc.any(missing).as_py() else column


def _call(column: pa.Array | None, empty: pa.Array) -> pa.Array:
    if column is None:
        return empty
    return by_distinct(column, lambda text: "" if is_missing(text) else text.strip())


def _sample(columns: Columns, sample: str, size: int) -> pa.Array:
    if (named := columns.get("sample")) is None:
        return pa.repeat(sample, size)
    return pc.if_else(pa.array(_filled(named)), named, sample)


def _productive(column: pa.Array | None, size: int) -> pa.Array:
    if column is None:
        return pa.nulls(size, pa.bool_())
    words = {"t": True, "true": True, "1": True, "f": False, "false": False, "0": False}
    return by_distinct(column, lambda text: words.get(text.strip().lower()), pa.bool_())
