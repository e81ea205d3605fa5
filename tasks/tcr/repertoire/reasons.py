"""Reasons for dropped rows of a repertoire: a fixed vocabulary, one reason per row.

A row has the first applicable reason of `ORDER`: faults of the line, then of the CDR3, then of the
genes.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.plugins.extras import extras_named

with extras_named():
    import pyarrow as pa
    import pyarrow.compute as pc

NO_REASON: Final = ""
RAGGED: Final = "ragged line"
NOT_UTF8: Final = "not UTF-8"
OTHER_LOCUS: Final = "other locus"
BAD_COPIES: Final = "not a number of copies"
NO_CDR3: Final = "no CDR3"
TOO_SHORT: Final = "too short"
NOT_NUCLEOTIDES: Final = "not nucleotides"
TOO_LONG: Final = "too long"
OUT_OF_FRAME: Final = "out of frame"
STOP_CODON: Final = "stop codon"
NO_ANCHORS: Final = "no anchors"
NOT_PRODUCTIVE: Final = "not productive"
NO_V: Final = "no V"
UNKNOWN_V: Final = "unknown V"
AMBIGUOUS_V: Final = "ambiguous V"
NO_J: Final = "no J"
UNKNOWN_J: Final = "unknown J"
AMBIGUOUS_J: Final = "ambiguous J"
UNCOUNTABLE: Final = "counts beyond 64 bits"

ORDER: Final = (
    RAGGED,
    NOT_UTF8,
    OTHER_LOCUS,
    BAD_COPIES,
    TOO_SHORT,
    NO_CDR3,
    NOT_NUCLEOTIDES,
    TOO_LONG,
    OUT_OF_FRAME,
    STOP_CODON,
    NO_ANCHORS,
    NOT_PRODUCTIVE,
    NO_V,
    UNKNOWN_V,
    AMBIGUOUS_V,
    NO_J,
    UNKNOWN_J,
    AMBIGUOUS_J,
    UNCOUNTABLE,
)
_CODES = {reason: code for code, reason in enumerate((NO_REASON, *ORDER))}


class RowReasons:
    """Reason why each of n rows is dropped, and the faulty value.

    Of several reasons, the first in ORDER wins.

    Attributes
    ----------
    codes : (n,) int8, 0 for a kept row, else 1 + index into ORDER
    details : (n,) string array, the faulty value; "" if the reason needs none
    """

    def __init__(self, rows: int) -> None:
        self.codes: npt.NDArray[np.int8] = np.zeros(rows, np.int8)
        self.details: pa.Array = pa.repeat("", rows)

    @classmethod
    def of(cls, reasons: pa.Array, details: pa.Array) -> RowReasons:
        """Return the reasons of a column of reasons, each in ORDER or "", and one of details."""
        marks = cls(len(reasons))
        coded = reasons.dictionary_encode()
        known = np.array([_CODES[text] for text in coded.dictionary.to_pylist()], np.int8)
        if len(known):
            marks.codes = known[coded.indices.to_numpy()]
        marks.details = details
        return marks

    def mark(self, wrong: npt.NDArray[np.bool_], reason: str, detail: str | pa.Array = "") -> None:
        """Assign `reason` to the rows of the mask; `detail` is one text or an array (n,)."""
        code = _CODES[reason]
        wrong = wrong & ((self.codes == 0) | (self.codes > code))
        if wrong.any():
            self.codes[wrong] = code
            self.details = pc.if_else(pa.array(wrong), detail, self.details)

    def reasons(self) -> pa.Array:
        """Return the reason of each row, or "" for kept rows."""
        return pa.array((NO_REASON, *ORDER)).take(pa.array(self.codes))
