"""`LineFormat`: base class of output formats, with the source of the lines and CIGARs as text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.output.report import ReportedHits
from gangsaw.tasks.genomics.align.queries.queries import Queries
from gangsaw.tasks.genomics.align.search.extension.paths import OP_BITS, OP_CHARACTERS, OP_MASK
from gangsaw.tasks.genomics.align.search.mates import Insert
from gangsaw.tasks.genomics.align.sets.pairs import Codes, Places

MOST_DIGITS = 12  # of a run length, with its operation


class Heading(NamedTuple):
    """Fields of the header of an output file.

    Attributes
    ----------
    names, lengths : names and lengths of the genome's records
    command : command line that reproduces the output
    read_group : read group line, or "" for none
    """

    names: Sequence[str]
    lengths: Sequence[int]
    command: str
    read_group: str


class LineSource(NamedTuple):
    """Input of the output lines of a batch of queries.

    Attributes
    ----------
    queries : queries of the batch
    report : their hits, sorted by query
    names : names of the genome's records
    lengths : (r,) int64, lengths of these records
    codes : function of records, starts and ends that returns the concatenated codes of these ranges
    eqx : True for CIGARs with = and X, False for M
    read_group : ID of the read group of all queries, or "" for none
    insert : fragment length if queries 2i and 2i + 1 are mates, else None
    """

    queries: Queries
    report: ReportedHits
    names: Sequence[str]
    lengths: npt.NDArray[np.int64]
    codes: Callable[[Places, Places, Places], Codes]
    eqx: bool = False
    read_group: str = ""
    insert: Insert | None = None


class TextPool(NamedTuple):
    """Numbered texts in one array: bytes data[offsets[i]:offsets[i + 1]] are the i-th text."""

    data: Codes
    offsets: Places


class LineFormat(ABC):
    """Output format of hits, one line each: header, lines and rules for names."""

    suffixes: tuple[str, ...]
    has_evalues = False  # True if every line needs an e-value
    has_groups = False  # True if the format has read groups
    is_text = True  # text can be packed as a whole
    footer = b""  # bytes after all lines

    def check(self, queries: Queries) -> None:  # noqa: B027  # most formats take all
        """Raise BadParams for queries whose names the format cannot represent."""

    def header(self, heading: Heading) -> bytes:
        """Return the header of the output file."""
        return b""

    @abstractmethod
    def lines(self, source: LineSource) -> bytes:
        """Return the output lines of the queries of a batch."""


def query_names(queries: Queries) -> list[str]:
    """Return the first word of each query's name, "*" for an empty one."""
    text = queries.names.data.tobytes().decode("utf-8", "backslashreplace")
    if len(text) != queries.names.data.size:  # multi-byte characters
        found = [name.decode("utf-8", "backslashreplace") for name in queries.names]
    else:
        bounds = queries.names.offsets.tolist()
        found = [text[a:b] for a, b in pairwise(bounds)]
    return [(name.split(None, 1) or ("*",))[0] for name in found]


def format_cigars(source: LineSource) -> list[str]:
    """Return the CIGAR of each hit as strings."""
    text, offsets = cigar_texts(source)
    whole, bounds = text.tobytes().decode(), offsets.tolist()
    return [whole[a:b] for a, b in pairwise(bounds)]


def cigar_texts(source: LineSource) -> TextPool:
    """Return the CIGAR of each hit as numbered texts, with = and X if `source.eqx`, else with M."""
    report, letters = source.report, OPERATIONS[source.eqx]
    rows = report.rows
    begins, ends = np.ascontiguousarray(rows["runs"]), np.ascontiguousarray(rows["runs_end"])
    text = np.empty(MOST_DIGITS * int((ends - begins).sum()), np.uint8)
    offsets = np.zeros(rows.size + 1, np.int64)
    write_cigars(report.runs, begins, ends, letters, text, offsets)
    return TextPool(text[: offsets[-1]], offsets)


PAIRED = OP_CHARACTERS.replace("=", "M").replace("X", "M")
EXTENDED = OP_CHARACTERS.replace("M", "X")  # a pair with an unknown base is not equal
OPERATIONS = tuple(np.frombuffer(own.encode(), np.uint8).copy() for own in (PAIRED, EXTENDED))


@jit
def write_cigars(
    runs: Int64s, begins: Int64s, ends: Int64s, operations: Bytes, text: Bytes, offsets: Int64s
) -> None:
    """Write the CIGARs of alignment paths, runs[begins[i]:ends[i]] each, and set their offsets."""
    at = 0
    for row in range(begins.size):
        i = begins[row]
        while i < ends[row]:
            letter, length = operations[runs[i] & OP_MASK], 0
            while i < ends[row] and operations[runs[i] & OP_MASK] == letter:
                length += runs[i] >> OP_BITS
                i += 1
            at = write_number(text, at, length)
            text[at] = letter
            at += 1
        offsets[row + 1] = at


@jit(part=True)
def write_number(text: Bytes, at: int, number: int) -> int:
    """Write a non-negative number in decimal; return the end position."""
    digits, rest = 1, number // 10
    while rest:
        digits, rest = digits + 1, rest // 10
    for i in range(at + digits - 1, at - 1, -1):
        text[i] = 48 + number % 10
        number //= 10
    return at + digits
