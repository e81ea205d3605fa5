"""Row filter: splits the rows of a repertoire into references and dropped rows with reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.codecs.core.plugins.options import none_of
from gangsaw.tasks.tcr.repertoire import reasons
from gangsaw.tasks.tcr.repertoire.cleaning import judge

with extras_named():
    import pyarrow as pa
    import pyarrow.compute as pc

from gangsaw.tasks.tcr.germline import AMBIGUOUS, MISSING, OTHER_LOCUS, UNKNOWN, Resolver
from gangsaw.tasks.tcr.model import MAX_LENGTH
from gangsaw.tasks.tcr.repertoire.tables.kernels import CYS, PHE_TRP, SAME
from gangsaw.tasks.tcr.repertoire.tables.strings import buffers, by_distinct, slices

Anchors = Literal["cys", "both", "any"]
ANCHORS: Final = {"any": 0, "cys": CYS, "both": CYS | PHE_TRP}

VALID_SCHEMA = pa.schema(
    [
        ("line", pa.int64()),
        ("id", pa.string()),
        ("sample", pa.string()),
        ("cdr3", pa.string()),
        ("v", pa.int32()),  # index of the germline part
        ("j", pa.int32()),
        ("copies", pa.int64()),
    ]
)
DROPPED_SCHEMA = pa.schema(
    [
        ("line", pa.int64()),
        ("id", pa.string()),
        ("sample", pa.string()),
        ("reason", pa.string()),
        ("detail", pa.string()),
    ]
)


@dataclass(frozen=True)
class Limits:
    """Conditions that a CDR3 must meet to be counted.

    Attributes
    ----------
    longest : nucleotides, 1..MAX_LENGTH
    keep_out_of_frame : keep rows whose length is no multiple of three, productive or not, and do
        not search them for stop codons: counting needs no frame
    keep_unproductive : keep rows with a stop codon, and rows marked as unproductive in their file
    anchors : required codons of a junction: "cys", the first; "both", also Phe or Trp as the last;
        or "any". A wrong first codon shows that the CDR3 was delimited differently. A wrong last
        codon does not: functional human TRAJ35 ends with Cys, and mouse TRAJ7 with Leu
    """

    longest: int = MAX_LENGTH
    keep_out_of_frame: bool = False
    keep_unproductive: bool = False
    anchors: Anchors = "cys"

    def __post_init__(self) -> None:
        """Raise `BadParams` if a value is out of range."""
        if not isinstance(self.longest, int) or not 1 <= self.longest <= MAX_LENGTH:
            raise BadParams(f"longest must be in 1..{MAX_LENGTH}, got {self.longest!r}")
        if self.anchors not in ANCHORS:
            raise none_of("anchors", ANCHORS, self.anchors)


def clean(
    rows: pa.RecordBatch, v: Resolver, j: Resolver, limits: Limits = Limits()
) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Return the countable rows and the dropped rows, each in the original order.

    Each row is in one of the two. A dropped row has the first applicable reason of `reasons.ORDER`.

    Parameters
    ----------
    rows : RecordBatch of the schema `repertoire.ROWS`
    v, j : resolve a call to a germline part; called once per batch and distinct call
    limits : conditions that a CDR3 must meet

    Returns
    -------
    RecordBatch of `VALID_SCHEMA`, RecordBatch of `DROPPED_SCHEMA`
    """
    column = rows.column
    marks = reasons.RowReasons.of(column("reason"), column("detail"))
    v_of, j_of = (_found(column(name), which) for name, which in (("v_call", v), ("j_call", j)))
    _mark_gene(marks, v_of == OTHER_LOCUS, reasons.OTHER_LOCUS, column("v_call"), v)
    _mark_gene(marks, j_of == OTHER_LOCUS, reasons.OTHER_LOCUS, column("j_call"), j)
    _mark_cdr3(marks, column("cdr3"), limits)
    _mark_by_file_columns(marks, rows, limits)
    for code, reason in _V_REASONS.items():
        _mark_gene(marks, v_of == code, reason, column("v_call"), v)
    for code, reason in _J_REASONS.items():
        _mark_gene(marks, j_of == code, reason, column("j_call"), j)
    genes = {"v": pa.array(v_of), "j": pa.array(j_of)}
    good = pa.array(marks.codes == 0)
    valid = [genes[name] if name in genes else column(name) for name in VALID_SCHEMA.names]
    why = {"reason": marks.reasons(), "detail": marks.details}
    dropped = [why[name] if name in why else column(name) for name in DROPPED_SCHEMA.names]
    return _filtered(valid, VALID_SCHEMA, good), _filtered(dropped, DROPPED_SCHEMA, pc.invert(good))


_V_REASONS = {
    MISSING: reasons.NO_V,
    UNKNOWN: reasons.UNKNOWN_V,
    AMBIGUOUS: reasons.AMBIGUOUS_V,
}
_J_REASONS = {
    MISSING: reasons.NO_J,
    UNKNOWN: reasons.UNKNOWN_J,
    AMBIGUOUS: reasons.AMBIGUOUS_J,
}


def _found(calls: pa.Array, resolver: Resolver) -> npt.NDArray[np.int32]:
    found: npt.NDArray[np.int32] = by_distinct(calls, resolver.find, pa.int32()).to_numpy()
    return found


def _filtered(columns: list[pa.Array], schema: pa.Schema, rows: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(columns, schema=schema).filter(rows)


def _mark_gene(
    marks: reasons.RowReasons,
    wrong: npt.NDArray[np.bool_],
    why: str,
    calls: pa.Array,
    resolver: Resolver,
) -> None:
    if wrong.any():
        marks.mark(wrong, why, by_distinct(calls, resolver.detail))


def _mark_cdr3(marks: reasons.RowReasons, cdr3: pa.Array, limits: Limits) -> None:
    offsets, data = buffers(cdr3)
    verdicts, positions = np.empty(len(cdr3), np.int8), np.empty(len(cdr3), np.int32)
    judge.judge(offsets, data, limits.longest, verdicts, positions)
    marks.mark(verdicts == judge.EMPTY, reasons.NO_CDR3)
    for verdict, reason, n_bases in (
        (judge.LETTER, reasons.NOT_NUCLEOTIDES, 1),
        (judge.LONG, reasons.TOO_LONG, 0),
        (judge.FRAME, reasons.OUT_OF_FRAME, 0),
        (judge.STOP, reasons.STOP_CODON, 3),
    ):
        allowed = (verdict == judge.FRAME and limits.keep_out_of_frame) or (
            verdict == judge.STOP and limits.keep_unproductive
        )
        wrong = verdicts == verdict
        if wrong.any() and not allowed:
            marks.mark(wrong, reason, _detail(cdr3, positions, wrong, n_bases))


def _detail(
    cdr3: pa.Array, positions: npt.NDArray[np.int32], wrong: npt.NDArray[np.bool_], n_bases: int
) -> pa.Array:
    """Return a text (n,) on the fault of each CDR3: "X at 13", bases and 1-based position.

    If `n_bases` is 0, it is the length, such as "37 nucleotides".
    """
    offsets, _ = buffers(cdr3)
    if not n_bases:
        return pc.binary_join_element_wise(_text(np.diff(offsets)), "nucleotides", " ")
    starts = offsets[:-1] + np.where(wrong, positions, 0)
    what = slices(cdr3, starts, starts + np.where(wrong, n_bases, 0), SAME)
    return pc.binary_join_element_wise(what, "at", _text(positions + 1), " ")


def _text(numbers: npt.NDArray[np.int32]) -> pa.Array:
    return pa.array(numbers).cast(pa.string())


def _mark_by_file_columns(marks: reasons.RowReasons, rows: pa.RecordBatch, limits: Limits) -> None:
    lacks = ANCHORS[limits.anchors] & ~rows.column("anchors").to_numpy()
    marks.mark(lacks & CYS != 0, reasons.NO_ANCHORS, "does not begin with Cys")
    marks.mark(lacks & PHE_TRP != 0, reasons.NO_ANCHORS, "does not end with Phe or Trp")
    if limits.keep_unproductive:
        return
    unproductive = pc.equal(rows.column("productive"), False).fill_null(False)
    wrong = unproductive.to_numpy(zero_copy_only=False)
    if limits.keep_out_of_frame:
        offsets, _ = buffers(rows.column("cdr3"))
        wrong = wrong & (np.diff(offsets) % 3 == 0)
    marks.mark(wrong, reasons.NOT_PRODUCTIVE)
