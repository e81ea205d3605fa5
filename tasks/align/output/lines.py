"""What formats of lines have in common: the source of the lines, and CIGARs as text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit, jit_part
from gangsaw.tasks.align.output.report import ReportedHits
from gangsaw.tasks.align.queries.queries import Queries
from gangsaw.tasks.align.search.extension.paths import LETTERS, OP_BITS, OP_MASK
from gangsaw.tasks.align.search.mates import Insert
from gangsaw.tasks.align.sets.pairs import Codes, Places

MOST_DIGITS = 12  # of a run, with its letter


class Heading(NamedTuple):
    """What stands before all lines.

    Attributes
    ----------
    names, lengths : of the genome's records
    command : that writes the same
    read_group : the line of it, "" for none
    """

    names: Sequence[str]
    lengths: Sequence[int]
    command: str
    read_group: str


class LineSource(NamedTuple):
    """What the lines of a batch are made of.

    Attributes
    ----------
    queries : of the batch
    report : their hits, sorted by query
    names : of the genome's records
    lengths : of these, (r,) int64
    codes : given records, first letters and ends, returns these letters back to back as codes
    eqx : CIGARs tell equal letters from others
    read_group : the ID of that of all queries, "" for none
    insert : how long fragments are, where queries 2i and 2i + 1 are mates
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
    """Texts by their numbers: letters data[offsets[i]:offsets[i + 1]] of the i-th."""

    data: Codes
    offsets: Places


class LineFormat(ABC):
    """A format of lines."""

    suffixes: tuple[str, ...]
    has_evalues = False  # which every line needs
    has_groups = False  # of reads
    is_text = True  # which may be packed as a whole
    footer = b""  # what stands behind all lines

    def check(self, queries: Queries) -> None:  # noqa: B027  # most formats take all
        """Raise BadParams for queries that no line can name."""

    def header(self, heading: Heading) -> bytes:
        """Return what stands before all lines."""
        return b""

    @abstractmethod
    def lines(self, source: LineSource) -> bytes:
        """Return the lines of the queries of a batch."""


def query_names(queries: Queries) -> list[str]:
    """Return the first word of each name, "*" where there is none."""
    text = queries.names.data.tobytes().decode("utf-8", "backslashreplace")
    if len(text) != queries.names.data.size:  # letters of several bytes
        found = [name.decode("utf-8", "backslashreplace") for name in queries.names]
    else:
        bounds = queries.names.offsets.tolist()
        found = [text[a:b] for a, b in pairwise(bounds)]
    return [(name.split(None, 1) or ("*",))[0] for name in found]


def cigars(source: LineSource) -> list[str]:
    """Return the CIGAR of each hit."""
    text, offsets = cigar_texts(source)
    whole, bounds = text.tobytes().decode(), offsets.tolist()
    return [whole[a:b] for a, b in pairwise(bounds)]


def cigar_texts(source: LineSource) -> TextPool:
    """Return the CIGAR of each hit: M for pairs of letters, or = and X."""
    report, letters = source.report, OPERATIONS[source.eqx]
    rows = report.rows
    begins, ends = np.ascontiguousarray(rows["runs"]), np.ascontiguousarray(rows["runs_end"])
    text = np.empty(MOST_DIGITS * int((ends - begins).sum()), np.uint8)
    offsets = np.zeros(rows.size + 1, np.int64)
    write_cigars(report.runs, begins, ends, letters, text, offsets)
    return TextPool(text[: offsets[-1]], offsets)


PAIRED = LETTERS.replace("=", "M").replace("X", "M")
OPERATIONS = tuple(np.frombuffer(own.encode(), np.uint8).copy() for own in (PAIRED, LETTERS))


@jit
def write_cigars(runs: Any, begins: Any, ends: Any, letters: Any, text: Any, offsets: Any) -> None:
    """Write the CIGARs of paths, runs begins[i]:ends[i] of each; fill where they are."""
    at = 0
    for row in range(begins.size):
        i = begins[row]
        while i < ends[row]:
            letter, length = letters[runs[i] & OP_MASK], 0
            while i < ends[row] and letters[runs[i] & OP_MASK] == letter:
                length += runs[i] >> OP_BITS
                i += 1
            at = write_number(text, at, length)
            text[at] = letter
            at += 1
        offsets[row + 1] = at


@jit_part
def write_number(text: Any, at: int, number: int) -> int:
    """Write a number that is not negative; return the place behind it."""
    digits, rest = 1, number // 10
    while rest:
        digits, rest = digits + 1, rest // 10
    for i in range(at + digits - 1, at - 1, -1):
        text[i] = 48 + number % 10
        number //= 10
    return at + digits
