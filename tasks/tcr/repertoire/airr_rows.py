"""Writing of AIRR rearrangement rows: https://docs.airr-community.org, schema 1.6."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.csv

# columns that the schema requires in every table, blank without a value
REQUIRED = (
    *("sequence_id", "sequence", "rev_comp", "productive", "v_call", "d_call", "j_call"),
    *("sequence_alignment", "germline_alignment", "junction", "junction_aa"),
    *("v_cigar", "d_cigar", "j_cigar"),
)
_TSV = pa.csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")


def header(more: tuple[str, ...]) -> bytes:
    """Return the header line of an AIRR table; the columns `more` follow the required ones."""
    return ("\t".join((*REQUIRED, *more)) + "\n").encode()


def lines(columns: Mapping[str, pa.Array], more: tuple[str, ...]) -> bytes:
    """Return columns of n values as n lines of an AIRR table; required ones may be absent.

    Booleans become T and F. Texts must not contain tabs or line ends.
    """
    n = len(next(iter(columns.values())))
    blank = pa.repeat(pa.scalar("", pa.string()), n)
    text = {name: _text(columns.get(name, blank)) for name in (*REQUIRED, *more)}
    written = io.BytesIO()
    pa.csv.write_csv(pa.table(text), written, _TSV)
    return written.getvalue()


def _text(column: pa.Array) -> pa.Array:
    if not pa.types.is_boolean(column.type):
        return column
    return pa.array(["F", "T"]).take(column.cast(pa.int8()))
